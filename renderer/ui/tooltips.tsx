import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import './tooltips.css';

/** Between a hint and what it is about, and between it and the edges of the window, in pixels. */
const gap = { target: 5, edge: 8 };

interface Shown {
  readonly target: HTMLElement;
  readonly text: string;
}

/** The tooltip of an element, from its attribute. */
function tooltipOf(target: HTMLElement | null): Shown | null {
  const text = target?.dataset['hint'];
  return target === null || text === undefined ? null : { target, text };
}

/**
 * One tooltip for everything in the window that has the attribute `data-hint`: rows of long lists have several each, and a
 * tooltip of their own for each would be most of what a row costs. It is shown for what is pointed at or tapped, and for what
 * has the keyboard or is inside of it; Escape and scrolling shut it, and the pointer may go onto it.
 */
export function Tooltips(): ReactNode {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const { target = null, text = '' } = shown ?? {};

  useEffect(() => {
    const listening = new AbortController();
    const on = <Kind extends keyof WindowEventMap>(
      kind: Kind,
      listener: (event: WindowEventMap[Kind]) => void,
    ) => {
      window.addEventListener(kind, listener, { signal: listening.signal, capture: true, passive: true });
    };
    const hide = () => {
      setShown(null);
    };
    on('pointerover', ({ target: over }) => {
      if (!(over instanceof Element) || box.current?.contains(over)) return;
      setShown(tooltipOf(over.closest<HTMLElement>('[data-hint]')));
    });
    on('focusin', ({ target: focused }) => {
      if (!(focused instanceof Element) || !focused.matches(':is(a, button):focus-visible')) return;
      setShown(
        tooltipOf(
          focused.closest<HTMLElement>('[data-hint]') ?? focused.querySelector<HTMLElement>('[data-hint]'),
        ),
      );
    });
    on('focusout', ({ target: left }) => {
      setShown((now) => (left instanceof Element && left.contains(now?.target ?? null) ? null : now));
    });
    on('scroll', hide);
    on('hashchange', hide);
    on('keydown', ({ key }) => {
      if (key === 'Escape') hide();
    });
    return () => {
      listening.abort();
    };
  }, []);

  // The text may change while it is shown.
  useEffect(() => {
    if (target === null) return;
    const observer = new MutationObserver(() => {
      setShown(tooltipOf(target));
    });
    observer.observe(target, { attributeFilter: ['data-hint'] });
    return () => {
      observer.disconnect();
    };
  }, [target]);

  useEffect(() => {
    if (target === null || target.getAttribute('aria-label') === text) return;
    const described = document.activeElement?.contains(target) ? document.activeElement : target;
    described.setAttribute('aria-describedby', id);
    return () => {
      described.removeAttribute('aria-describedby');
    };
  }, [target, text, id]);

  useLayoutEffect(() => {
    const hint = box.current;
    if (hint === null || target === null) return;
    const around = target.getBoundingClientRect();
    const { width, height } = hint.getBoundingClientRect();
    const above = around.top - gap.target - height;
    const left = around.left + around.width / 2 - width / 2;
    hint.style.top = `${String(above < gap.edge ? around.bottom + gap.target : above)}px`;
    hint.style.left = `${String(Math.max(gap.edge, Math.min(left, window.innerWidth - gap.edge - width)))}px`;
  }, [target, text]);

  return text === '' ? null : (
    <div ref={box} id={id} role="tooltip" className="kh-hint">
      {text}
    </div>
  );
}

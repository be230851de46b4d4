import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { CSSProperties, KeyboardEvent, ReactNode, Ref } from 'react';
import { useImperativeHandle } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { laidOut, ScrollScale } from './scroll-scale.ts';
import { t } from '../../app/i18n/text.ts';
import './long-rows.css';

/** Methods of a list for other components. */
export interface LongRowsHandle {
  readonly scrollTo: (index: number) => void;
}

interface Props {
  readonly count: number;
  /** The list's name for a screen reader. */
  readonly label: string;
  /** The height of a row in rem, in a wide window and in a narrow one. */
  readonly height: { readonly wide: number; readonly narrow: number };
  readonly row: (index: number) => ReactNode;
  /** Rows that came before the first since the list was begun: what is in sight stays where it is. */
  readonly prepended?: number;
  /** Says which rows are in sight. */
  readonly onShow: (first: number, last: number) => void;
  /** False if more rows may be found: screen readers do not get a number then. */
  readonly isComplete: boolean;
  readonly ref?: Ref<LongRowsHandle>;
}

/** Below this there is little room: as in rows.css. */
const narrow = '(max-width: 60em)';

/** Up to as many rows the whole list is shown, and what scrolls is the screen. */
const few = 10;

/** Rows that are laid out beyond those in sight. */
const overscan = 6;

function useRowHeight({ wide, narrow: little }: Props['height']): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const media = window.matchMedia(narrow);
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      setHeight(Math.round(rem * (media.matches ? little : wide)));
    };
    measure();
    media.addEventListener('change', measure);
    return () => {
      media.removeEventListener('change', measure);
    };
  }, [wide, little]);
  return height;
}

/** Rows of one height, of which those in sight are laid out. It scrolls by itself; arrow keys go from row to row. */
export function LongRows(props: Props): ReactNode {
  const height = useRowHeight(props.height);
  return height === 0 ? null : <Rows key={height} {...props} rowHeight={height} />;
}

function Rows({
  count,
  label,
  row,
  prepended = 0,
  onShow,
  isComplete,
  rowHeight,
  ref,
}: Props & { readonly rowHeight: number }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [scale] = useState(() => new ScrollScale());
  /** The position in the list, in pixels of all its rows. */
  const position = useRef(0);
  const [focused, setFocused] = useState<number | null>(null);
  const wanted = useRef<number | null>(null);
  const report = useRef<(position: number, isScrolling: boolean) => void>(() => undefined);
  const total = count * rowHeight;

  // oxlint-disable-next-line react/incompatible-library -- nothing here is compiled, and nothing keeps what it returns
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan,
    observeElementOffset: (_instance, tell) => {
      const element = box.current;
      if (element === null) return;
      report.current = tell;
      tell(position.current, false);
      const onScroll = () => {
        position.current = scale.scrolled(element.scrollTop);
        tell(position.current, true);
      };
      const onEnd = () => {
        // A list that is laid out in full is never off. Measuring it would force a layout.
        if (scale.isShortened && scale.isOff(element.scrollTop)) {
          element.scrollTop = scale.topFor(position.current);
        }
        tell(position.current, false);
      };
      element.addEventListener('scroll', onScroll, { passive: true });
      element.addEventListener('scrollend', onEnd);
      return () => {
        element.removeEventListener('scroll', onScroll);
        element.removeEventListener('scrollend', onEnd);
      };
    },
    scrollToFn: () => undefined,
    // A focused row stays rendered, also when it is out of sight.
    rangeExtractor: ({ startIndex, endIndex, overscan: around }) => {
      const first = Math.max(0, startIndex - around);
      const last = Math.min(count - 1, endIndex + around);
      const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
      if (focused !== null && focused < first && focused >= 0) indexes.unshift(focused);
      if (focused !== null && focused > last && focused < count) indexes.push(focused);
      return indexes;
    },
  });

  const moveTo = useCallback(
    (to: number) => {
      const element = box.current;
      if (element === null) return;
      scale.resize(total, element.clientHeight);
      element.scrollTop = scale.topFor(to);
      position.current = scale.scrolled(element.scrollTop);
      report.current(position.current, false);
    },
    [scale, total],
  );

  const known = useRef({ prepended, rowHeight, total });
  useLayoutEffect(() => {
    const before = known.current;
    known.current = { prepended, rowHeight, total };
    const element = box.current;
    if (element === null) return;
    scale.resize(total, element.clientHeight);
    if (before.total === total && before.rowHeight === rowHeight) return;
    const added = prepended - before.prepended;
    const atStart = position.current < rowHeight;
    const row = position.current / before.rowHeight + (atStart ? 0 : added);
    if (added > 0) setFocused((at) => (at === null ? null : at + added));
    moveTo(row * rowHeight);
  }, [prepended, rowHeight, total, scale, moveTo]);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      scale.resize(known.current.total, element.clientHeight);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [scale]);

  useImperativeHandle(ref, () => ({
    scrollTo(index) {
      moveTo(index * rowHeight);
    },
  }));

  const items = virtualizer.getVirtualItems();
  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {};
  useEffect(() => {
    onShow(startIndex, endIndex);
  }, [onShow, startIndex, endIndex, count]);

  // A row that the keyboard goes to is laid out first.
  useEffect(() => {
    if (wanted.current === null) return;
    const target = box.current?.querySelector<HTMLElement>(
      `[data-index="${String(wanted.current)}"] :is(a, button)`,
    );
    if (target == null) return;
    wanted.current = null;
    target.focus({ preventScroll: true });
  });

  const goTo = (index: number) => {
    const element = box.current;
    if (element === null) return;
    const to = Math.max(0, Math.min(count - 1, index));
    wanted.current = to;
    setFocused(to);
    const start = to * rowHeight;
    if (start < position.current) moveTo(start);
    else if (start + rowHeight > position.current + element.clientHeight) {
      moveTo(start + rowHeight - element.clientHeight);
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: (focused ?? -1) + 1,
      ArrowUp: (focused ?? 1) - 1,
      Home: 0,
      End: count - 1,
    };
    const to = steps[event.key];
    if (to === undefined || focused === null) return;
    event.preventDefault();
    goTo(to);
  };

  return (
    <div
      ref={box}
      className="kh-long"
      data-short={(isComplete && count <= few) || undefined}
      style={{ '--kh-long-rows': `${String(total)}px` } as CSSProperties}
      tabIndex={0}
      role="group"
      aria-label={t('{{what}}, a list that scrolls', { what: label })}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        const index = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset['index'];
        setFocused(index === undefined ? null : Number(index));
      }}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setFocused(null);
      }}
    >
      <ul className="kh-rows" aria-label={label} style={{ height: laidOut(total) }}>
        {items.map(({ index, start }) => (
          <li
            key={index}
            data-index={index}
            aria-posinset={index + 1}
            aria-setsize={isComplete ? count : -1}
            style={{ height: rowHeight, transform: `translateY(${String(start - scale.shift)}px)` }}
          >
            {row(index)}
          </li>
        ))}
      </ul>
    </div>
  );
}

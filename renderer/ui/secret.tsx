/**
 * Secrets on the screen: shown while a button is pressed, hidden again after a while and when the window loses the focus, and
 * kept out of screenshots where the desktop app can.
 */

import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Button, Text } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import type { WindowRpc } from '../../preload/contract.ts';
import { t } from '../app/i18n/text.ts';
import { useRpc } from '../app/rpc/vault.tsx';
import './secret.css';

/** Milliseconds for which a secret stays on the screen. */
const staysMs = 30_000;
/** Copying by hand takes longer. */
export const staysToBeWrittenMs = 120_000;
/** Milliseconds before its end at which the end is announced. */
const saidBeforeMs = 10_000;
/** Milliseconds for which the button must be pressed. */
const holdMs = 600;

export interface Reveal {
  readonly shown: boolean;
  readonly show: () => void;
  readonly hide: () => void;
  /** Says when it is about to be hidden, and offers to wait. */
  readonly ending: ReactNode;
}

/** @param subject What is shown: another one is hidden again. */
export function useReveal(subject: unknown, stays = staysMs): Reveal {
  const rpc = useRpc();
  const [showing, setShowing] = useState<{ readonly subject: unknown; readonly round: number } | null>(null);
  const shown = showing !== null && showing.subject === subject;
  const show = () => {
    setShowing((before) => ({ subject, round: (before?.round ?? 0) + 1 }));
  };
  const hide = () => {
    setShowing(null);
  };
  useEffect(() => (shown ? protect(rpc) : undefined), [rpc, shown]);
  useEffect(() => {
    if (!shown) return;
    const leave = () => {
      if (!printing && (document.hidden || !document.hasFocus())) setShowing(null);
    };
    const onBlur = () => {
      if (!printing) setShowing(null);
    };
    window.addEventListener('blur', onBlur);
    document.addEventListener('visibilitychange', leave);
    return () => {
      window.removeEventListener('blur', onBlur);
      document.removeEventListener('visibilitychange', leave);
    };
  }, [shown]);
  return {
    shown,
    show,
    hide,
    ending: shown && <Ending key={showing.round} stays={stays} onEnd={hide} onMore={show} />,
  };
}

interface EndingProps {
  readonly stays: number;
  readonly onEnd: () => void;
  readonly onMore: () => void;
}

function Ending({ stays, onEnd, onMore }: EndingProps): ReactNode {
  const [left, setLeft] = useState(stays);
  const [end] = useState(() => performance.now() + stays);
  const ended = useRef(onEnd);
  useEffect(() => {
    ended.current = onEnd;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      const rest = end - performance.now();
      // Paper may be on its way out: what is on it is on the screen meanwhile.
      if (rest <= 0 && !printing) ended.current();
      else setLeft(Math.max(rest, 0));
    }, 250);
    return () => {
      clearInterval(timer);
    };
  }, [end]);
  const isNear = left <= saidBeforeMs;
  return (
    <div className="kh-ending kh-noprint">
      {isNear && <Text size="sm">{t('Hides in {{count}} seconds.', { count: Math.ceil(left / 1000) })}</Text>}
      {isNear && (
        <Button variant="default" size="compact-sm" onClick={onMore}>
          {t('Show longer')}
        </Button>
      )}
    </div>
  );
}

interface HoldProps {
  /** The text of the button. */
  readonly children: string;
  readonly onHeld: () => void;
  readonly size?: 'xs' | 'md';
  readonly variant?: 'default' | 'filled';
  readonly ref?: React.Ref<HTMLButtonElement>;
}

/** A button that acts after a long press. Two short presses do the same. */
export function HoldButton({
  children,
  onHeld,
  size = 'xs',
  variant = 'default',
  ref,
}: HoldProps): ReactNode {
  const [state, setState] = useState<'idle' | 'holding' | 'pressed'>('idle');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pressedBefore = useRef(false);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );
  const start = () => {
    clearTimeout(timer.current);
    pressedBefore.current = state === 'pressed';
    setState('holding');
    timer.current = setTimeout(() => {
      setState('idle');
      onHeld();
    }, holdMs);
  };
  const stop = () => {
    clearTimeout(timer.current);
    setState(pressedBefore.current ? 'pressed' : 'idle');
  };
  /** A short press: the second of two shows it as well. */
  const press = (isSecond: boolean) => {
    clearTimeout(timer.current);
    if (isSecond) {
      setState('idle');
      onHeld();
    } else setState('pressed');
  };
  const isHoldKey = ({ key }: KeyboardEvent) => key === ' ' || key === 'Enter';
  return (
    <div className="kh-hold">
      <Button
        ref={ref}
        size={size}
        variant={variant}
        leftSection={<IconEye size={size === 'md' ? 18 : 16} aria-hidden />}
        data-holding={state === 'holding' || undefined}
        onPointerDown={(event) => {
          // The page may scroll a little under a finger that keeps still.
          event.currentTarget.setPointerCapture(event.pointerId);
          start();
        }}
        onPointerLeave={stop}
        onPointerCancel={stop}
        onContextMenu={(event) => {
          // A long touch would open it.
          event.preventDefault();
        }}
        onKeyDown={(event) => {
          if (!isHoldKey(event)) return;
          event.preventDefault();
          if (!event.repeat) start();
        }}
        onKeyUp={(event) => {
          if (!isHoldKey(event)) return;
          event.preventDefault();
          press(pressedBefore.current);
        }}
        onClick={(event) => {
          // A press by assistive technology comes without a pointer event before it.
          press(event.detail === 0 ? state === 'pressed' : pressedBefore.current);
        }}
      >
        {children}
      </Button>
      <Text size="sm" role="status">
        {state === 'pressed'
          ? t('Press again to show, or hold for a moment.')
          : t('Hold the button for a moment.')}
      </Text>
    </div>
  );
}

interface KeySwitchProps {
  readonly reveal: Reveal;
  /** The pressed button is gone then. */
  readonly onShown?: () => void;
}

/** Shows a private key for a while, and hides it again. */
export function PrivateKeySwitch({ reveal: { shown, show, hide }, onShown }: KeySwitchProps): ReactNode {
  if (!shown) {
    return (
      <HoldButton
        onHeld={() => {
          show();
          onShown?.();
        }}
      >
        {t('Show the private key')}
      </HoldButton>
    );
  }
  return (
    <Button variant="default" size="xs" leftSection={<IconEyeOff size={16} aria-hidden />} onClick={hide}>
      {t('Hide the private key')}
    </Button>
  );
}

/** Prints without what is on the screen being hidden meanwhile. */
export function printPage(): void {
  printing = true;
  try {
    window.print();
  } finally {
    // If printing is a dialog of its own, an event reports its end instead.
    setTimeout(() => {
      printing = false;
    }, 1_000);
  }
}

let printing = false;
window.addEventListener('beforeprint', () => {
  printing = true;
});
window.addEventListener('afterprint', () => {
  printing = false;
});

let protectors = 0;

/** Keeps the window out of pictures. @returns what ends it. */
function protect(rpc: WindowRpc): () => void {
  const setProtection = (on: boolean) => {
    // A window that could not be protected shows its secret all the same: its owner asked for that.
    rpc.protectContent(on).catch(() => undefined);
  };
  protectors += 1;
  if (protectors === 1) setProtection(true);
  return () => {
    protectors -= 1;
    if (protectors === 0) setProtection(false);
  };
}

import type { ReactNode } from 'react';
import { SchemeSwitch } from '../app/shell/scheme-switch.tsx';
import { Latch, Mark } from '../app/shell/mark.tsx';
import type { LatchPosition } from '../app/shell/mark.tsx';
import { t } from '../app/i18n/text.ts';
import './auth-layout.css';

interface Props {
  readonly latch: LatchPosition;
  /** The text beside the screen, under the mark. */
  readonly aside: ReactNode;
  readonly children: ReactNode;
}

/** A screen outside the open vault: mark and text on one side, what to do on the other. */
export function AuthLayout({ latch, aside, children }: Props): ReactNode {
  return (
    <div className="lk-auth">
      <header className="lk-auth-aside">
        <div className="lk-brand">
          <Mark size={30} />
          <span>Latchkey</span>
        </div>
        <div className="lk-auth-aside-text">{aside}</div>
        <div className="lk-auth-aside-latch">
          <Latch position={latch} />
        </div>
      </header>
      <main className="lk-auth-main">
        <div className="lk-auth-body">{children}</div>
        <div className="lk-auth-foot">
          <SchemeSwitch />
        </div>
      </main>
    </div>
  );
}

interface StepsProps {
  readonly steps: readonly string[];
  readonly current: number;
}

/** Where one is in the first run. */
export function Steps({ steps, current }: StepsProps): ReactNode {
  return (
    <nav aria-label={t('Steps')}>
      <p className="lk-steps-short">
        {t('Step {{current}} of {{steps}}: {{name}}', {
          current: current + 1,
          steps: steps.length,
          name: steps[current] ?? '',
        })}
      </p>
      <ol className="lk-steps">
        {steps.map((step, index) => (
          <li
            key={step}
            data-state={index < current ? 'past' : index === current ? 'current' : 'ahead'}
            aria-current={index === current ? 'step' : undefined}
          >
            {step}
          </li>
        ))}
      </ol>
    </nav>
  );
}

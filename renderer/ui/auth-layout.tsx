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
    <div className="kh-auth">
      <header className="kh-auth-aside">
        <div className="kh-brand">
          <Mark size={30} />
          <span>Keyhearth</span>
        </div>
        <div className="kh-auth-aside-text">{aside}</div>
        <div className="kh-auth-aside-latch">
          <Latch position={latch} />
        </div>
      </header>
      <main className="kh-auth-main">
        <div className="kh-auth-body">{children}</div>
        <div className="kh-auth-foot">
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

/** The current step of the first run. */
export function Steps({ steps, current }: StepsProps): ReactNode {
  return (
    <nav aria-label={t('Steps')}>
      <p className="kh-steps-short">
        {t('Step {{current}} of {{steps}}: {{name}}', {
          current: current + 1,
          steps: steps.length,
          name: steps[current] ?? '',
        })}
      </p>
      <ol className="kh-steps">
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

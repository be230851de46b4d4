import type { ReactNode } from 'react';
import { SchemeSwitch } from './scheme-switch.tsx';
import { Latch, Mark } from './mark.tsx';
import type { LatchPosition } from './mark.tsx';
import { t } from './text.ts';
import './threshold.css';

interface Props {
  readonly latch: LatchPosition;
  /** What stands on the door, under the mark. */
  readonly door: ReactNode;
  readonly children: ReactNode;
}

/** A screen outside the vault: the door on one side, what to do about it on the other. */
export function Threshold({ latch, door, children }: Props): ReactNode {
  return (
    <div className="lk-threshold">
      <header className="lk-door">
        <div className="lk-brand">
          <Mark size={30} />
          <span>Latchkey</span>
        </div>
        <div className="lk-door-text">{door}</div>
        <div className="lk-door-latch">
          <Latch position={latch} />
        </div>
      </header>
      <main className="lk-threshold-main">
        <div className="lk-threshold-body">{children}</div>
        <div className="lk-threshold-foot">
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

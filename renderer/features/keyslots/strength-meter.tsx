import type { ReactNode } from 'react';
import { passwordStrength } from './password.ts';
import './strength-meter.css';

/** The estimated strength of a password, in words and in four marks; nothing for an empty one. */
export function StrengthMeter({ password }: { readonly password: string }): ReactNode {
  const { level, label, hint } = passwordStrength(password);
  return (
    <div className="kh-strength" data-level={level} role="status">
      {password !== '' && (
        <>
          <span className="kh-strength-marks" aria-hidden="true">
            {[1, 2, 3, 4].map((mark) => (
              <span key={mark} data-on={mark <= level || undefined} />
            ))}
          </span>
          <span>
            <strong>{label}.</strong> {hint}
          </span>
        </>
      )}
    </div>
  );
}

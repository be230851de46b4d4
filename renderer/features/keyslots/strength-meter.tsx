import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { t } from '../../app/i18n/text.ts';
import { strengthOf, tooShort } from './password.ts';
import type { PasswordStrength } from './password.ts';
import type { Estimate, Question } from './password-worker.ts';
import './strength-meter.css';

/** Between what is typed and its estimate, in milliseconds. */
const pause = 150;

/** Undefined until the password as it stands has an estimate; null where no estimate can be had. */
function useStrength(password: string, known: readonly string[]): PasswordStrength | null | undefined {
  const worker = useRef<Worker>(null);
  const [estimate, setEstimate] = useState<Estimate>();
  const [failed, setFailed] = useState(false);
  const short = tooShort(password);
  const isWanted = short === undefined;
  const question = JSON.stringify({ password, known } satisfies Question);
  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(() => {
      if (worker.current === null) {
        worker.current = new Worker(new URL('./password-worker.ts', import.meta.url), { type: 'module' });
        worker.current.addEventListener('message', ({ data }: MessageEvent<Estimate>) => {
          setEstimate(data);
        });
        worker.current.addEventListener('error', () => {
          setFailed(true);
        });
      }
      worker.current.postMessage(JSON.parse(question));
    }, pause);
    return () => {
      clearTimeout(timer);
    };
  }, [question, isWanted]);
  // The thread ends with the field, and its memory of passwords with it.
  useEffect(
    () => () => {
      worker.current?.terminate();
      worker.current = null;
    },
    [],
  );
  if (short !== undefined) return short;
  if (failed) return null;
  return estimate?.password === password ? strengthOf(estimate) : undefined;
}

/**
 * The estimated strength of a password, in words and in four marks; nothing for an empty one.
 * @param known Words that an attacker tries first, such as the vault's name.
 */
export function StrengthMeter({
  password,
  known = none,
}: {
  readonly password: string;
  readonly known?: readonly string[];
}): ReactNode {
  const strength = useStrength(password, known);
  const level = strength?.level ?? 0;
  return (
    <div className="kh-strength" data-level={level} role="status" aria-busy={strength === undefined}>
      {password !== '' && (
        <>
          <span className="kh-strength-marks" aria-hidden="true">
            {[1, 2, 3, 4].map((mark) => (
              <span key={mark} data-on={mark <= level || undefined} />
            ))}
          </span>
          <span>
            {strength === null && t('The strength can’t be estimated. Use four unrelated words.')}
            {strength != null && (
              <>
                <strong>{strength.label}.</strong> {strength.hint}
              </>
            )}
          </span>
        </>
      )}
    </div>
  );
}

const none: readonly string[] = [];

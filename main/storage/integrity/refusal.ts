/** Errors about a file that was changed outside Keyhearth. */
import type { RowFinding } from '../schema.ts';
import { KeyhearthError } from '../../lib/errors.ts';

/** Findings that an error names. */
const named = 5;

/** True if SQLite cannot read a part of the file: such a file cannot be accepted as it is. */
export const isDamaged = (findings: readonly RowFinding[]): boolean =>
  findings.some(({ damaged }) => damaged === true);

/** The error for rows that fail verification. */
export const tampered = (findings: readonly RowFinding[]): KeyhearthError =>
  refused(
    findings,
    isDamaged(findings)
      ? '`keyhearth doctor` names what is damaged. Restore a backup.'
      : '`keyhearth doctor` lists all of it. Restore a backup; or, if you know what changed it and want it so, accept it with `keyhearth doctor --accept-changes`.',
  );

/** The error for a file that cannot be accepted as it is. */
export const misshapen = (findings: readonly RowFinding[]): KeyhearthError =>
  refused(findings, 'Undo it, or restore a backup.');

function refused(findings: readonly RowFinding[], wayOn: string): KeyhearthError {
  const list = findings.slice(0, named).map(describeFinding);
  const more = findings.length - list.length;
  return new KeyhearthError(
    'VAULT_TAMPERED',
    `The vault's file was changed outside Keyhearth, and is not used: ${list.join('; ')}${more > 0 ? `; and ${String(more)} more` : ''}. ${wayOn}`,
  );
}

export const describeFinding = ({ table, row, problem }: RowFinding): string =>
  `${table}${row === null ? '' : ` ${row}`}: ${problem}`;

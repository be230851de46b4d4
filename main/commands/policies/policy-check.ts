/** `keyhearth policies check`: reads policies before they are created. */
import {
  problemsOf,
  warningsOf,
  type PolicyProblem,
  type PolicyWarning,
} from '../../policy/language/check.ts';
import { exitCodes, print } from '../shared/output.ts';
import { calledIn, readPolicyFile, type PolicyInFile } from './policy-file.ts';

interface Checked {
  readonly policy: PolicyInFile;
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyWarning[];
}

/** Needs no vault. Fails where a policy would be refused. */
export function checkPolicies(file: string, json: boolean): void {
  const checked = readPolicyFile(file).map((policy): Checked => {
    const problems = problemsOf(policy);
    return { policy, problems, warnings: problems.length > 0 ? [] : warningsOf(policy) };
  });
  const wrong = checked.filter(({ problems }) => problems.length > 0).length;
  const policies = checked.map(({ policy: { policyName }, ...rest }) => ({ policyName, ...rest }));
  print(json, { ok: wrong === 0, policies }, toText(checked));
  if (wrong > 0) process.exitCode = exitCodes.failed;
}

function toText(checked: readonly Checked[]): string {
  return checked
    .flatMap(({ policy, problems, warnings }, index) => {
      const name = calledIn(policy, index);
      if (problems.length === 0 && warnings.length === 0) return [`${name}: OK`];
      return [
        ...problems.flatMap((problem) => [
          `${name}: ${problem.field}, ${problem.message}`,
          ...pointed(policy[problem.field] ?? '', problem),
        ]),
        ...warnings.map(
          ({ field, message }) =>
            `${name}: OK, with a warning${field === undefined ? '' : ` (${field})`}: ${message}`,
        ),
      ];
    })
    .join('\n');
}

const shownColumns = 100;

/** The line that is wrong, and under it what of it. */
function pointed(source: string, { from, to, line, column }: PolicyProblem): readonly string[] {
  const text = source.split('\n')[line - 1] ?? '';
  const start = Math.max(0, column - 1 - shownColumns / 2);
  const shown = text.slice(start, start + shownColumns);
  const at = column - 1 - start;
  const length = Math.max(1, Math.min(to - from, shown.length - at));
  return [`    ${shown.replaceAll('\t', ' ')}`, `    ${' '.repeat(at)}${'^'.repeat(length)}`];
}

/** Policies as files hold them: what `create_policy`, `create_policies` and `list_policies` have in their JSON. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { effects } from '../../policy/decide/policies.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { expectation } from '../../lib/parse.ts';

const expression = z.string().nullish();

const policy = z.object({
  policyId: z.string().nullish(),
  policyName: z.string().nullish(),
  effect: z.enum(effects),
  condition: expression,
  consensus: expression,
  time: expression,
  notes: expression,
});

export interface PolicyInFile {
  readonly policyId?: string;
  readonly policyName?: string;
  readonly effect: (typeof effects)[number];
  readonly condition?: string;
  readonly consensus?: string;
  readonly time?: string;
  readonly notes?: string;
}

const shapes = 'a policy { "effect", "condition", … }, a list of them, or { "policies": [ … ] }';

/** @throws CommandError usage that names the file, and the place in it. */
export function readPolicyFile(file: string): readonly PolicyInFile[] {
  const content = parseFile(file);
  const listed = isObject(content) && 'policies' in content ? content['policies'] : content;
  const list: readonly unknown[] = Array.isArray(listed) ? listed : [listed];
  if (list.length === 0)
    throw new CommandError(exitCodes.usage, `${named(file)} has no policy: expected ${shapes}`);
  return list.map((each, index) => {
    if (!isObject(each)) throw new CommandError(exitCodes.usage, `${named(file)}: expected ${shapes}`);
    const read = policy.safeParse(each);
    if (read.success) {
      return Object.fromEntries(
        Object.entries(read.data).filter(([, value]) => value != null),
      ) as unknown as PolicyInFile;
    }
    const [issue] = read.error.issues;
    const path = [...(Array.isArray(listed) ? [index] : []), ...(issue?.path ?? [])].join('.');
    throw new CommandError(
      exitCodes.usage,
      `${named(file)}: ${path}: ${issue === undefined ? 'not a policy' : expectation(issue)}`,
    );
  });
}

/** By its name where it has one, for messages. */
export const calledIn = ({ policyName, policyId }: PolicyInFile, index: number): string =>
  policyName === undefined ? (policyId ?? `policy ${String(index + 1)}`) : `“${policyName}”`;

const named = (file: string): string => (file === '-' ? 'standard input' : file);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseFile(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new CommandError(exitCodes.usage, `${named(file)} cannot be read: ${reasonOf(error)}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(exitCodes.usage, `${named(file)} is not JSON: expected ${shapes}`);
  }
}

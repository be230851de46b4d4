/** Policies as files hold them: what `create_policy`, `create_policies` and `list_policies` have in their JSON. */
import { z } from 'zod';
import { effects } from '../../policy/decide/policies.ts';
import { readTextFile } from '../shared/file-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { expectation } from '../../lib/parse.ts';
import { repeatsName } from '../../lib/plain-json.ts';

const expression = z.string().nullish();

/** A name that it does not know is refused: a policy without the condition that its author misspelled allows more. */
const policy = z.strictObject({
  policyId: z.string().nullish(),
  policyName: z.string().nullish(),
  effect: z.enum(effects),
  condition: expression,
  consensus: expression,
  time: expression,
  notes: expression,
  // Of lists of the vault.
  createdAt: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
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
  const listed = isObject(content) && 'policies' in content ? onlyMember(file, content) : content;
  const list: readonly unknown[] = Array.isArray(listed) ? listed : [listed];
  if (list.length === 0)
    throw new CommandError(exitCodes.usage, `${named(file)} has no policy: expected ${shapes}`);
  return list.map((each, index) => {
    if (!isObject(each)) throw new CommandError(exitCodes.usage, `${named(file)}: expected ${shapes}`);
    const read = policy.safeParse(each);
    if (read.success) {
      const { createdAt: _, updatedAt: __, ...draft } = read.data;
      return Object.fromEntries(
        Object.entries(draft).filter(([, value]) => value != null),
      ) as unknown as PolicyInFile;
    }
    const [issue] = read.error.issues;
    const path = [...(Array.isArray(listed) ? [index] : []), ...(issue?.path ?? [])].join('.');
    throw new CommandError(
      exitCodes.usage,
      `${named(file)}: ${path === '' ? '' : `${path}: `}${issue === undefined ? 'not a policy' : expectation(issue)}`,
    );
  });
}

function onlyMember(file: string, { policies, ...others }: Readonly<Record<string, unknown>>): unknown {
  const [other] = Object.keys(others);
  if (other === undefined) return policies;
  throw new CommandError(
    exitCodes.usage,
    `${named(file)}: unrecognized key: ${JSON.stringify(other)}; expected ${shapes}`,
  );
}

/** By its name where it has one, for messages. */
export const calledIn = ({ policyName, policyId }: PolicyInFile, index: number): string =>
  policyName === undefined ? (policyId ?? `policy ${String(index + 1)}`) : `“${policyName}”`;

const named = (file: string): string => (file === '-' ? 'standard input' : file);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseFile(file: string): unknown {
  const text = readTextFile(file === '-' ? 0 : file, named(file));
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new CommandError(exitCodes.usage, `${named(file)} is not JSON: expected ${shapes}`);
  }
  if (!repeatsName(text)) return content;
  throw new CommandError(
    exitCodes.usage,
    `${named(file)} has a name twice in one object: expected each name once`,
  );
}

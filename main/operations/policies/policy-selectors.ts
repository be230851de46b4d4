/**
 * Policies as clients wrote them before there was a language: selectors, all of which must hold. A subject is read as the
 * language's own name for a thing.
 */
import { z } from 'zod';
import { compile } from '../../policy/language/compile.ts';
import { effects } from '../../policy/decide/policies.ts';
import { ExpressionError } from '../../policy/language/syntax.ts';
import { limits } from '../shared/limits.ts';
import { policyName } from '../shared/parameters.ts';

/** Several targets for an operator of one value become a list, which the language then refuses by name. */
const only = (targets: readonly string[]): string =>
  targets.length === 1 ? (targets[0] ?? '') : listed(targets);

const listed = (targets: readonly string[]): string => `[${targets.join(', ')}]`;

/** The expression of each operator for a subject and the values that it is compared with. */
const operators = {
  OPERATOR_EQUAL: (subject, targets) => `${subject} == ${only(targets)}`,
  OPERATOR_NOT_EQUAL: (subject, targets) => `${subject} != ${only(targets)}`,
  OPERATOR_MORE_THAN: (subject, targets) => `${subject} > ${only(targets)}`,
  OPERATOR_MORE_THAN_OR_EQUAL: (subject, targets) => `${subject} >= ${only(targets)}`,
  OPERATOR_LESS_THAN: (subject, targets) => `${subject} < ${only(targets)}`,
  OPERATOR_LESS_THAN_OR_EQUAL: (subject, targets) => `${subject} <= ${only(targets)}`,
  OPERATOR_IN: (subject, targets) => `${subject} in ${listed(targets)}`,
  OPERATOR_NOT_IN: (subject, targets) => targets.map((target) => `${subject} != ${target}`).join(' && '),
  OPERATOR_CONTAINS: (subject, targets) => `${subject}.contains(${only(targets)})`,
  OPERATOR_CONTAINS_ONE: (subject, targets) =>
    `(${targets.map((target) => `${subject}.contains(${target})`).join(' || ')})`,
  OPERATOR_CONTAINS_ALL: (subject, targets) =>
    targets.map((target) => `${subject}.contains(${target})`).join(' && '),
} as const satisfies Record<string, (subject: string, targets: readonly string[]) => string>;

type Operator = keyof typeof operators;

const target = z
  .string()
  .max(200)
  .regex(/^[^'\p{C}]*$/u, 'Expected no quotation marks and no control characters');

const selector = z.object({
  subject: z
    .string()
    .max(100)
    .regex(
      /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/,
      'Expected a name of the policy language, like activity.type',
    ),
  operator: z.enum(Object.keys(operators) as [Operator, ...Operator[]]),
});

export const singleTarget = selector.extend({ target });
export const severalTargets = selector.extend({ targets: z.array(target).min(1).max(limits.batch) });

export const selectedPolicy = <Selector extends z.ZodType>(of: Selector) =>
  z.object({
    policyName,
    selectors: z.array(of).max(limits.batch),
    effect: z.enum(effects),
    notes: z.string().max(limits.policyNotesCharacters).default(''),
  });

interface Selected {
  readonly policyName: string;
  readonly selectors: readonly z.output<typeof severalTargets>[];
  readonly effect: (typeof effects)[number];
  readonly notes: string;
}

/** The same in the language. What that has no words for is left to it to refuse. */
export function fromSelectors({ selectors, ...policy }: Selected) {
  const parts = { condition: [] as string[], consensus: [] as string[] };
  for (const selector of selectors) {
    const field = /^(approvers|credentials)\b/.test(selector.subject) ? 'consensus' : 'condition';
    parts[field].push(written(selector, field));
  }
  return {
    ...policy,
    condition: parts.condition.join(' && '),
    consensus: parts.consensus.join(' && '),
    time: undefined,
  };
}

/** A target may be a text or a number: which of them, the subject says. */
function written(
  { subject, operator, targets }: z.output<typeof severalTargets>,
  field: 'condition' | 'consensus',
): string {
  const asTexts = operators[operator](
    subject,
    targets.map((text) => `'${text}'`),
  );
  const plain = targets.every((text) => /^([0-9]+|true|false)$/.test(text));
  if (compiles(asTexts, field) || !plain) return asTexts;
  return operators[operator](subject, targets);
}

function compiles(expression: string, field: 'condition' | 'consensus'): boolean {
  try {
    compile(expression, field);
    return true;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return false;
  }
}

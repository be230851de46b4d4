/**
 * Policies as clients wrote them before there was a language: selectors, all of which must hold. A subject is read as the
 * language's own name for a thing.
 */
import { z } from 'zod';
import { LatchkeyError, seen } from '../lib/errors.ts';
import { compile } from '../policy/compile.ts';
import { effects } from '../policy/policies.ts';
import { ExpressionError } from '../policy/syntax.ts';
import { limits } from './limits.ts';
import { policyName } from './parameters.ts';

/** What each operator says of a subject and the values it is compared with, each written out. */
const operators = {
  OPERATOR_EQUAL: (subject, [target = '']) => `${subject} == ${target}`,
  OPERATOR_NOT_EQUAL: (subject, [target = '']) => `${subject} != ${target}`,
  OPERATOR_MORE_THAN: (subject, [target = '']) => `${subject} > ${target}`,
  OPERATOR_MORE_THAN_OR_EQUAL: (subject, [target = '']) => `${subject} >= ${target}`,
  OPERATOR_LESS_THAN: (subject, [target = '']) => `${subject} < ${target}`,
  OPERATOR_LESS_THAN_OR_EQUAL: (subject, [target = '']) => `${subject} <= ${target}`,
  OPERATOR_IN: (subject, targets) => `${subject} in [${targets.join(', ')}]`,
  OPERATOR_NOT_IN: (subject, targets) => targets.map((target) => `${subject} != ${target}`).join(' && '),
  OPERATOR_CONTAINS: (subject, [target = '']) => `${subject}.contains(${target})`,
  OPERATOR_CONTAINS_ONE: (subject, targets) =>
    `(${targets.map((target) => `${subject}.contains(${target})`).join(' || ')})`,
  OPERATOR_CONTAINS_ALL: (subject, targets) =>
    targets.map((target) => `${subject}.contains(${target})`).join(' && '),
} as const satisfies Record<string, (subject: string, targets: readonly string[]) => string>;

type Operator = keyof typeof operators;

/** An operator that compares with one value is given one. */
const takesSeveral: ReadonlySet<Operator> = new Set([
  'OPERATOR_IN',
  'OPERATOR_NOT_IN',
  'OPERATOR_CONTAINS_ONE',
  'OPERATOR_CONTAINS_ALL',
]);

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

/** @throws LatchkeyError INVALID_ARGUMENT that names the selector which the language has no words for. */
export function fromSelectors({ selectors, ...policy }: Selected) {
  const parts = { condition: [] as string[], consensus: [] as string[] };
  for (const [index, selector] of selectors.entries()) {
    const at = `parameters.selectors[${String(index)}]`;
    if (selector.targets.length > 1 && !takesSeveral.has(selector.operator)) {
      throw new LatchkeyError(
        'INVALID_ARGUMENT',
        `invalid ${at}.targets: ${selector.operator} compares with one, got ${String(selector.targets.length)}`,
      );
    }
    const place = /^(approvers|credentials)\b/.test(selector.subject) ? 'consensus' : 'condition';
    parts[place].push(written(selector, place, at));
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
  place: 'condition' | 'consensus',
  at: string,
): string {
  const forms = [
    targets.map((text) => `'${text}'`),
    ...(targets.every((text) => /^([0-9]+|true|false)$/.test(text)) ? [targets] : []),
  ];
  let fault: unknown;
  for (const form of forms) {
    const expression = operators[operator](subject, form);
    try {
      compile(expression, place);
      return expression;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      fault = error;
    }
  }
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    `invalid ${at}: expected what the policy language can say, got ${seen(subject)} ${operator}: ${fault instanceof Error ? fault.message : ''}`,
  );
}

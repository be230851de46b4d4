/** A policy made ready to decide: its expressions compiled, once. */
import { KeyhearthError } from '../../lib/errors.ts';
import { compile, type Program } from '../language/compile.ts';
import type { PolicyField } from '../language/schema.ts';
import { ExpressionError } from '../language/syntax.ts';

export const effects = ['EFFECT_ALLOW', 'EFFECT_DENY'] as const;

export interface PolicyText {
  readonly policyId: string;
  readonly effect: (typeof effects)[number];
  /** An expression that is absent or empty always holds. */
  readonly condition?: string | undefined;
  readonly consensus?: string | undefined;
  readonly time?: string | undefined;
}

export interface Policy {
  readonly policyId: string;
  readonly effect: (typeof effects)[number];
  readonly condition: Program | undefined;
  readonly consensus: Program | undefined;
  readonly time: Program | undefined;
  /** Why its expressions cannot be evaluated, where they cannot: then they are all undefined, and mean nothing. */
  readonly broken?: string;
}

/**
 * A policy as it was stored, by this version of the language or another: one that does not compile now is an error in
 * every decision, and does not keep the others from being asked.
 */
export function storedPolicy(text: PolicyText): Policy {
  try {
    return compilePolicy(text);
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    const { policyId, effect } = text;
    const nothing = { condition: undefined, consensus: undefined, time: undefined };
    return { policyId, effect, ...nothing, broken: error.message };
  }
}

/**
 * Remembers what it compiled, by the text, so that a policy may be compiled whenever it is read.
 * @param at Which of several policies of a request it is, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT that names the field, the position in it, what is there and what is allowed.
 */
export function compilePolicy(
  { policyId, effect, condition, consensus, time }: PolicyText,
  at?: string,
): Policy {
  return {
    policyId,
    effect,
    condition: compileField('condition', condition, at),
    consensus: compileField('consensus', consensus, at),
    time: compileField('time', time, at),
  };
}

function compileField(field: PolicyField, source = '', policy?: string): Program | undefined {
  if (source.trim() === '') return undefined;
  const known = remembered[field].get(source);
  if (known !== undefined) return known;
  try {
    return remember(field, compile(source, field));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { at, line, column, expected } = error;
    const which = policy === undefined ? '' : `${policy}.${field}: `;
    throw new KeyhearthError('INVALID_ARGUMENT', `invalid policy ${field}: ${which}${error.message}`, {
      details: [
        {
          '@type': 'type.googleapis.com/keyhearth.v1.PolicyExpressionError',
          field,
          from: at.from,
          to: at.to,
          line,
          column,
          expected,
        },
      ],
    });
  }
}

const remembered: Readonly<Record<PolicyField, Map<string, Program>>> = {
  condition: new Map(),
  consensus: new Map(),
  time: new Map(),
};
/** Characters of their sources, in all. */
let rememberedLength = 0;
const maxRememberedLength = 4_000_000;

function remember(field: PolicyField, program: Program): Program {
  if (rememberedLength + program.source.length > maxRememberedLength) {
    for (const programs of Object.values(remembered)) programs.clear();
    rememberedLength = 0;
  }
  remembered[field].set(program.source, program);
  rememberedLength += program.source.length;
  return program;
}

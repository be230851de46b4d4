/** What policies may read of transactions and payloads, by keyword. */
import type { ConditionFacts } from '../policy/language/schema.ts';
import type { Unknown } from '../policy/language/types.ts';

/** The keywords under which policies read transactions and signed data of chains. */
export const chainKeywords = [
  'eth.tx',
  'eth.eip_712',
  'eth.eip_7702_authorization',
  'solana.tx',
  'tron.tx',
  'bitcoin.tx',
  'tempo.tx',
] as const satisfies readonly (keyof ConditionFacts)[];
export type ChainKeyword = (typeof chainKeywords)[number];

/**
 * A keyword that is absent does not apply: there is no such transaction. `Unknown` says that there is one, or may be, and
 * that it cannot be read.
 */
export type ChainFacts = Pick<ConditionFacts, ChainKeyword>;

/** The fact of a keyword, where it applies and is known. */
export type FactOf<Keyword extends ChainKeyword> = Exclude<
  ReturnType<NonNullable<ConditionFacts[Keyword]>>,
  Unknown | undefined
>;

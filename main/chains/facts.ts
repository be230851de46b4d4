/** Facts of transactions and payloads for policies, by keyword. */
import type { ChainKeyword } from '../policy/language/chain-keywords.ts';
import type { ConditionFacts } from '../policy/language/schema.ts';
import type { Unknown } from '../policy/language/types.ts';

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

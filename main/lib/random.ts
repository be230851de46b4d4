/** The source of ids, keys and mnemonics: the system's generator, or a seeded one in `keyhearth dev`. */

/**
 * Answers `length` fresh bytes for a purpose. A seeded source has an independent stream for each purpose, so
 * generating an activity id does not change the next mnemonic.
 */
export type Random = (purpose: string, length: number) => Uint8Array;

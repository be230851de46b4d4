/** Where ids, keys and mnemonics come from: the system's generator, or a seeded one in `keyhearth dev`. */

/**
 * Answers `length` fresh bytes for a purpose. A seeded source keeps one independent stream per purpose, so that
 * drawing an activity id does not move the next mnemonic.
 */
export type Random = (purpose: string, length: number) => Uint8Array;

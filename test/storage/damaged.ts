/** Valid bytes with a few of them changed, and up to three cut off the end. */
import * as fc from 'fast-check';

export const damaged = (originals: readonly Uint8Array[], mostChanges = 4): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      fc.constantFrom(...originals),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: mostChanges }),
      fc.nat(3),
    )
    .map(([original, changes, cut]) => {
      const bytes = Uint8Array.from(original.subarray(0, original.length - cut));
      for (const [at, value] of changes) bytes[at % bytes.length] = value;
      return bytes;
    });

/** Generates private keys by rejection sampling: bytes out of range are thrown away, so that no key is likelier. */

/** A right source fails this often with a chance below 2^-128. */
const mostAttempts = 128;

/** @throws Error when the source keeps answering bytes that are not a key, which only a broken one does. */
export function generatePrivateKey(
  random: (length: number) => Uint8Array,
  length: number,
  isPrivateKey: (bytes: Uint8Array) => boolean,
): Uint8Array {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const bytes = random(length);
    if (isPrivateKey(bytes)) return bytes;
  }
  throw new Error(
    `random: expected bytes that are a private key, got none in ${String(mostAttempts)} attempts`,
  );
}

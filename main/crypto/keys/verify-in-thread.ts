/** The platform's own threads verify here. What they are given is copied, so it may change meanwhile. */
import { verify, type KeyObject } from 'node:crypto';

/** @param hash Null where the key's scheme hashes for itself. */
export const verifyInThread = (
  hash: 'sha256' | null,
  message: Uint8Array,
  key: KeyObject,
  signature: Uint8Array,
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    verify(hash, message, key, signature, (error, holds) => {
      if (error === null) resolve(holds);
      else reject(error);
    });
  });

/** Ids of private keys, which follow from their public half: the same key has the same id. */
import type { Curve } from '../../crypto/keys/curves.ts';
import { uuidV5 } from '../../crypto/uuid.ts';

/** @param publicKey Hex: compressed SEC 1, or 32 bytes of Ed25519. */
export const privateKeyIdOf = (organizationId: string, curve: Curve, publicKey: string): string =>
  uuidV5(organizationId, `private key ${curve} ${publicKey}`);

/** The vault's own keys, for what operations sign. */
import type { Keys } from '../../crypto/sealing.ts';
import type { Reader } from '../../storage/connection.ts';
import { getServerKey, serverKeyContext, type ServerKeyName } from '../../storage/tables/server-keys.ts';
import { getVault } from '../../storage/tables/vault.ts';

/** The parts that read and open the vault's own keys. */
export interface Sealing {
  readonly tx: Reader;
  readonly keys: Keys;
  readonly organizationId: string;
}

/** @returns the public half in hex, uncompressed; the private one is lent. */
export function serverKey(
  { tx, keys, organizationId }: Sealing,
  name: ServerKeyName,
): { readonly publicKey: string; readonly privateKey: Uint8Array } {
  const row = getServerKey(tx, name);
  if (row === undefined) throw new Error(`the vault has no ${name} key`);
  // They are sealed for the top organization, whichever one asks.
  const home = getVault(tx)?.organizationId ?? organizationId;
  const privateKey = keys.cached(`server key ${name}`, () =>
    keys.open(serverKeyContext(name, home), row.sealed),
  );
  return { publicKey: row.publicKey, privateKey };
}

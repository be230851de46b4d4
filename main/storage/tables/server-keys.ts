/**
 * The vault's own keys: those that sign what it hands out, the one its window stamps requests with (all P-256), and the
 * Ed25519 key that signs webhooks.
 */
import type { Reader, Writer } from './connection.ts';

export const serverKeyNames = ['signer', 'notarizer', 'tlsFetcher', 'window'] as const;
export type ServerKeyName = (typeof serverKeyNames)[number] | 'webhooks';

export interface ServerKeyRow {
  readonly name: ServerKeyName;
  /** Hex: uncompressed SEC1, or the 32 bytes of Ed25519. */
  readonly publicKey: string;
  /** The private scalar, sealed. */
  readonly sealed: Uint8Array;
  readonly createdAt: number;
}

export const getServerKey = (tx: Reader, name: ServerKeyName): ServerKeyRow | undefined =>
  tx.get<ServerKeyRow>(
    'SELECT name, public_key AS publicKey, sealed, created_at AS createdAt FROM server_keys WHERE name = ?',
    name,
  );

interface ServerKeyPlace {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
}

/** What a server key is sealed for. */
export const serverKeyPlace = (name: ServerKeyName, organizationId: string): ServerKeyPlace => ({
  table: 'server_keys',
  rowId: `${name}/2`,
  organizationId,
});

/**
 * What it is sealed for in a vault whose rows were never authenticated. A key that opens there proves that: in a vault
 * that was adopted, or made later, nobody can make one without the master key.
 */
export const earlierServerKeyPlace = (name: ServerKeyName, organizationId: string): ServerKeyPlace => ({
  table: 'server_keys',
  rowId: name,
  organizationId,
});

export const replaceServerKey = (tx: Writer, name: ServerKeyName, sealed: Uint8Array): number =>
  tx.run('UPDATE server_keys SET sealed = ? WHERE name = ?', sealed, name);

export function insertServerKey(tx: Writer, row: ServerKeyRow): void {
  tx.run(
    'INSERT INTO server_keys (name, public_key, sealed, created_at) VALUES (?, ?, ?, ?)',
    row.name,
    row.publicKey,
    row.sealed,
    row.createdAt,
  );
}

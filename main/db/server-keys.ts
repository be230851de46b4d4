/** The vault's own P-256 keys: those that sign what it hands out, and the one its window stamps requests with. */
import type { Reader, Writer } from './connection.ts';

export const serverKeyNames = ['signer', 'notarizer', 'tlsFetcher', 'window'] as const;
export type ServerKeyName = (typeof serverKeyNames)[number];

export interface ServerKeyRow {
  readonly name: ServerKeyName;
  /** Hex, uncompressed SEC1. */
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

/** What a server key is sealed for. */
export const serverKeyPlace = (
  name: ServerKeyName,
  organizationId: string,
): { readonly table: string; readonly rowId: string; readonly organizationId: string } => ({
  table: 'server_keys',
  rowId: name,
  organizationId,
});

export function insertServerKey(tx: Writer, row: ServerKeyRow): void {
  tx.run(
    'INSERT INTO server_keys (name, public_key, sealed, created_at) VALUES (?, ?, ?, ?)',
    row.name,
    row.publicKey,
    row.sealed,
    row.createdAt,
  );
}

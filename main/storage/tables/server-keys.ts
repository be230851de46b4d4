/**
 * The vault's own keys: those that sign what it hands out, those that its window and its doors stamp requests with (all P-256),
 * and the Ed25519 key that signs webhooks.
 */
import type { Reader, Writer } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

export const serverKeyNames = ['signer', 'notarizer', 'tlsFetcher', 'window'] as const;
/** Of a program that was paired at a door: `door ssh laptop`. */
export type DoorKeyName = `door ${string} ${string}`;
export type ServerKeyName = (typeof serverKeyNames)[number] | 'webhooks' | DoorKeyName;

const serverKeys = table('server_keys', {
  name: text.of<ServerKeyName>(),
  /** Hex: uncompressed SEC1, or the 32 bytes of Ed25519. */
  publicKey: text,
  /** The private scalar, sealed. */
  sealed: blob,
  createdAt: number,
  /** Of a program that comes over HTTP: the SHA-256 of its token, in hex. */
  tokenHash: text.orNull,
});

export type ServerKeyRow = RowOf<typeof serverKeys>;

export const getServerKey = (tx: Reader, name: ServerKeyName): ServerKeyRow | undefined =>
  tx.get<ServerKeyRow>(`SELECT ${serverKeys.columns} FROM server_keys WHERE name = ?`, name);

export const findKeyByToken = (tx: Reader, tokenHash: string): ServerKeyRow | undefined =>
  tx.get<ServerKeyRow>(`SELECT ${serverKeys.columns} FROM server_keys WHERE token_hash = ?`, tokenHash);

/** In the order of their names. @param door Undefined for all doors. */
export function listDoorKeys(tx: Reader, door?: string): ServerKeyRow[] {
  const beginning = door === undefined ? 'door ' : `door ${door} `;
  return tx.all<ServerKeyRow>(
    `SELECT ${serverKeys.columns} FROM server_keys WHERE substr(name, 1, ?) = ? ORDER BY name`,
    beginning.length,
    beginning,
  );
}

export const deleteDoorKey = (tx: Writer, name: DoorKeyName): number =>
  tx.run('DELETE FROM server_keys WHERE name = ?', name);

interface ServerKeyContext {
  readonly table: string;
  readonly rowId: string;
  readonly organizationId: string;
}

/** The context that a server key is sealed in. */
export const serverKeyContext = (name: ServerKeyName, organizationId: string): ServerKeyContext => ({
  table: 'server_keys',
  rowId: `${name}/2`,
  organizationId,
});

/**
 * The context of its seal in a vault whose rows were never authenticated. A key that opens with it proves
 * that: in a vault that was adopted, or created later, forging one needs the master key.
 */
export const earlierServerKeyContext = (name: ServerKeyName, organizationId: string): ServerKeyContext => ({
  table: 'server_keys',
  rowId: name,
  organizationId,
});

export const replaceServerKey = (tx: Writer, name: ServerKeyName, sealed: Uint8Array): number =>
  tx.run('UPDATE server_keys SET sealed = ? WHERE name = ?', sealed, name);

/** @param row Only a program that comes over HTTP has a token. */
export function insertServerKey(
  tx: Writer,
  row: Omit<ServerKeyRow, 'tokenHash'> & { readonly tokenHash?: string | null },
): void {
  serverKeys.insert(tx, { tokenHash: null, ...row });
}

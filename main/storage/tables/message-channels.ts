/** How messages leave the vault: a row for each channel that is set up. */
import type { Reader, Writer } from './connection.ts';

export type MessageChannelName = 'mail' | 'sms' | 'desktop';

export interface MessageChannelRow {
  readonly name: MessageChannelName;
  /** JSON of what may be shown. */
  readonly settings: string;
  /** JSON of what is secret, sealed. */
  readonly sealed: Uint8Array;
  readonly updatedAt: number;
}

const messageChannelsTable = 'message_channels';

/** The settings are the vault's, and no organization's. */
export const messageChannelPlace = (name: string) => ({
  table: messageChannelsTable,
  rowId: name,
  organizationId: '',
});

const columns = 'name, settings, sealed, updated_at AS updatedAt';

export const getMessageChannel = (tx: Reader, name: MessageChannelName): MessageChannelRow | undefined =>
  tx.get<MessageChannelRow>(`SELECT ${columns} FROM message_channels WHERE name = ?`, name);

export function putMessageChannel(tx: Writer, row: MessageChannelRow): void {
  deleteMessageChannel(tx, row.name);
  tx.run(
    'INSERT INTO message_channels (name, settings, sealed, updated_at) VALUES (?, ?, ?, ?)',
    row.name,
    row.settings,
    row.sealed,
    row.updatedAt,
  );
}

export function deleteMessageChannel(tx: Writer, name: MessageChannelName): void {
  tx.run('DELETE FROM message_channels WHERE name = ?', name);
}

/** Channels for messages: a row for each one that is set up. */
import type { Reader, Writer } from '../connection.ts';
import { blob, number, table, text, type RowOf } from '../table.ts';

export type MessageChannelName = 'mail' | 'sms' | 'desktop';

const messageChannels = table('message_channels', {
  name: text.of<MessageChannelName>(),
  /** JSON of what may be shown. */
  settings: text,
  /** JSON of what is secret, sealed. */
  sealed: blob,
  updatedAt: number,
});

export type MessageChannelRow = RowOf<typeof messageChannels>;

const messageChannelsTable = 'message_channels';

/** The settings are the vault's, and no organization's. */
export const messageChannelContext = (name: string) => ({
  table: messageChannelsTable,
  rowId: name,
  organizationId: '',
});

export const getMessageChannel = (tx: Reader, name: MessageChannelName): MessageChannelRow | undefined =>
  tx.get<MessageChannelRow>(`SELECT ${messageChannels.columns} FROM message_channels WHERE name = ?`, name);

export function putMessageChannel(tx: Writer, row: MessageChannelRow): void {
  deleteMessageChannel(tx, row.name);
  messageChannels.insert(tx, row);
}

export function deleteMessageChannel(tx: Writer, name: MessageChannelName): void {
  tx.run('DELETE FROM message_channels WHERE name = ?', name);
}

/** Users by where messages reach them. */
import type { Reader } from '../connection.ts';
import { getUserRow, type UserRow } from './users.ts';

const columnOf = { email: 'email', sms: 'phone_number' } as const;

/** The users whom a channel reaches at a contact, in the order of creation; letters of either case are the same. */
export const listUsersByContact = (
  tx: Reader,
  organizationId: string,
  channel: keyof typeof columnOf,
  contact: string,
): UserRow[] =>
  tx
    .all<{ id: string }>(
      `SELECT id FROM users WHERE organization_id = ? AND ${columnOf[channel]} = ? COLLATE NOCASE ORDER BY rowid`,
      organizationId,
      contact,
    )
    .flatMap(({ id }) => getUserRow(tx, organizationId, id) ?? []);

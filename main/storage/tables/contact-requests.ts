/** Requests that had something sent to a contact, for as long as they count against a limit. */
import type { Reader, Writer } from '../connection.ts';
import { number, table, text, type RowOf } from '../table.ts';

const contactRequests = table('contact_requests', {
  organizationId: text,
  contact: text,
  /** A hash of whom the client says it asks for; null where it does not say. */
  identifier: text.orNull,
  /** Milliseconds. */
  requestedAt: number,
});

export type ContactRequestRow = RowOf<typeof contactRequests>;

/**
 * Counts the requests after one time and up to another: of the organization, to the contact, for the
 * identifier.
 */
export function countContactRequests(
  tx: Reader,
  { organizationId, contact, identifier }: Omit<ContactRequestRow, 'requestedAt'>,
  { after, until }: { readonly after: number; readonly until: number },
): { readonly all: number; readonly toContact: number; readonly forIdentifier: number } {
  const counts = tx.get<{ all: number; toContact: number; forIdentifier: number }>(
    `SELECT count(*) AS "all", count(*) FILTER (WHERE contact = ?) AS toContact,
       count(*) FILTER (WHERE identifier = ?) AS forIdentifier
     FROM contact_requests WHERE organization_id = ? AND requested_at > ? AND requested_at <= ?`,
    contact,
    identifier,
    organizationId,
    after,
    until,
  );
  return counts ?? { all: 0, toContact: 0, forIdentifier: 0 };
}

export const insertContactRequest = contactRequests.insert;

export const deleteContactRequests = (tx: Writer, until: number): number =>
  tx.run('DELETE FROM contact_requests WHERE requested_at <= ?', until);

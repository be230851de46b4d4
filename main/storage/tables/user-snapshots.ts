/**
 * Users as they were when they voted. A vote shows its voter in full, and the same voter signs many times, so a
 * snapshot is kept once under the hash of its text.
 */
import { hash } from 'node:crypto';
import { isStoredObject, storedJson } from '../../lib/text/stored-json.ts';
import type { Reader, Writer } from '../connection.ts';
import { getUserRow, toUser, type User } from './users.ts';

/**
 * Keeps the user as of now, unless that is kept already: the row knows its snapshot until something of it changes.
 * @returns the snapshot's name: the hex SHA-256 of its JSON.
 */
export function keepUserSnapshot(tx: Writer, organizationId: string, userId: string): string {
  const present = tx.kept<{ snapshot: string | null }>('SELECT snapshot FROM users WHERE id = ?', userId);
  if (present?.snapshot != null) return present.snapshot;
  const row = getUserRow(tx, organizationId, userId);
  if (row === undefined) throw new Error(`user ${userId} is missing`);
  const text = JSON.stringify(toUser(tx, row));
  const name = hash('sha256', text);
  tx.run('INSERT OR IGNORE INTO user_snapshots (hash, user) VALUES (?, ?)', name, text);
  tx.run('UPDATE users SET snapshot = ? WHERE id = ?', name, userId);
  return name;
}

/** @returns undefined for one that is not there, or cannot be read. */
export function findUserSnapshot(tx: Reader, name: string): User | undefined {
  const row = tx.kept<{ user: string }>('SELECT user FROM user_snapshots WHERE hash = ?', name);
  const user = row && storedJson(row.user);
  return isUser(user) ? user : undefined;
}

/** True where it has what is read of a voter. */
const isUser = (value: unknown): value is User =>
  isStoredObject(value) &&
  ['userId', 'userName'].every((name) => typeof value[name] === 'string') &&
  ['userTags', 'apiKeys', 'authenticators'].every((name) => Array.isArray(value[name]));

export function getUserSnapshot(tx: Reader, name: string): User {
  const user = findUserSnapshot(tx, name);
  if (user === undefined) throw new Error(`user snapshot ${name} is missing`);
  return user;
}

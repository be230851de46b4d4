/**
 * Users as they were when they voted. A vote shows its voter in full, and the same voter signs many times, so a
 * snapshot is kept once under the hash of its text.
 */
import { hash } from 'node:crypto';
import type { Reader, Writer } from './connection.ts';
import type { User } from './users.ts';

/** @returns the snapshot's name: the hex SHA-256 of its JSON. */
export function keepUserSnapshot(tx: Writer, user: User): string {
  const text = JSON.stringify(user);
  const name = hash('sha256', text);
  tx.run('INSERT OR IGNORE INTO user_snapshots (hash, user) VALUES (?, ?)', name, text);
  return name;
}

export function getUserSnapshot(tx: Reader, name: string): User {
  const row = tx.get<{ user: string }>('SELECT user FROM user_snapshots WHERE hash = ?', name);
  if (row === undefined) throw new Error(`user snapshot ${name} is missing`);
  return JSON.parse(row.user) as User;
}

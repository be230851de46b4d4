/** Looks whether a process can open files at all: SQLite does not say why it opened none. */
import { closeSync, openSync } from 'node:fs';
import { shortageOf } from '../lib/concurrency/shortages.ts';

/** More than SQLite opens for a database: some that it had open are closed by the time of the look. */
const asked = 16;

/** @returns what to throw in the place of an error: that of a process that can open no more files, where SQLite opened none. */
export function namingShortage(error: unknown): unknown {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || !code.startsWith('SQLITE_CANTOPEN')) return error;
  const opened: number[] = [];
  try {
    while (opened.length < asked) opened.push(openSync(process.execPath, 'r'));
    return error;
  } catch (refused) {
    return shortageOf(refused) ?? error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Texts of files that a person names. */
import { readFileSync } from 'node:fs';
import { reasonOf } from '../../lib/text/reasons.ts';
import { CommandError, exitCodes } from './output.ts';

/**
 * @param file A path, or the number of a file that is open.
 * @param name The file, for the error.
 * @throws CommandError for a file that cannot be read, or whose bytes are not UTF-8.
 */
export function readTextFile(file: string | number, name: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new CommandError(exitCodes.usage, `${name} cannot be read: ${reasonOf(error)}`);
  }
  return textOf(bytes, name);
}

/**
 * @param name The file, for the error.
 * @throws CommandError for bytes that are not UTF-8: read leniently, they would become other characters without a word.
 */
export function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandError(exitCodes.usage, notUtf8(name));
  }
}

export const notUtf8 = (name: string): string => `${name} is not text in UTF-8`;

/** Texts of files that a person names. */
import { CommandError, exitCodes } from './output.ts';

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

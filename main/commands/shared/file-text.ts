/** Contents of files that a person names. Each has a bound: the name may be that of a device or a pipe, which never ends. */
import { closeSync, openSync, readSync } from 'node:fs';
import { reasonOf } from '../../lib/text/reasons.ts';
import { CommandError, exitCodes, type ExitCode } from './output.ts';

/** Four times what the service takes as one request. */
export const mostBytesOfFile = 16 * 1024 * 1024;

/**
 * @param file A path, or the number of a file that is open.
 * @param name The file, for the error.
 * @throws CommandError for a file that cannot be read or is too long, or whose bytes are not UTF-8.
 */
export const readTextFile = (
  file: string | number,
  name: string,
  exitCode: ExitCode = exitCodes.usage,
): string => textOf(readFileBytes(file, name, mostBytesOfFile, exitCode), name, exitCode);

/**
 * Reads into one buffer, which the caller can erase: nothing is left behind in others.
 * @param file A path, or the number of a file that is open.
 * @param name The file, for the error.
 * @throws CommandError for a file that cannot be read or is too long.
 */
export function readFileBytes(
  file: string | number,
  name: string,
  mostBytes: number,
  exitCode: ExitCode = exitCodes.usage,
): Buffer<ArrayBuffer> {
  const buffer = Buffer.alloc(mostBytes + 1);
  let length = 0;
  try {
    const descriptor = typeof file === 'number' ? file : openSync(file, 'r');
    try {
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(descriptor, buffer, length, buffer.length - length, null);
      }
    } finally {
      if (typeof file !== 'number') closeSync(descriptor);
    }
  } catch (error) {
    // Windows tells the end of a pipe so.
    if (!(error instanceof Error && 'code' in error && error.code === 'EOF')) {
      buffer.fill(0);
      throw new CommandError(exitCode, `${name} cannot be read: ${reasonOf(error)}`);
    }
  }
  if (length <= mostBytes) return buffer.subarray(0, length);
  buffer.fill(0);
  throw new CommandError(exitCode, `${name} is too long: expected at most ${String(mostBytes)} bytes`);
}

/**
 * @param name The file, for the error.
 * @throws CommandError for bytes that are not UTF-8: read leniently, they would become other characters without a word.
 */
export function textOf(bytes: Uint8Array, name: string, exitCode: ExitCode = exitCodes.usage): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandError(exitCode, notUtf8(name));
  }
}

export const notUtf8 = (name: string): string => `${name} is not text in UTF-8`;

/** Where a command reads a secret from: a file, an open descriptor, or a person who is asked. */
import { isUtf8 } from 'node:buffer';
import { visibleName } from '../../lib/text/visible-text.ts';
import { readFileBytes } from '../shared/file-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { askForHidden } from '../shared/prompts.ts';
import { canAsk } from '../shared/secrets.ts';

/** The source of a secret. */
export interface Source {
  /** A file or an open descriptor; undefined where a person is asked. */
  readonly from: string | number | undefined;
  /** For errors. */
  readonly name: string;
}

/** @param option What the names of both options start with. */
export function namedSource(
  option: string,
  file: string | undefined,
  descriptor: string | undefined,
): Source | undefined {
  if (file !== undefined) return { from: file, name: `${option}-file ${file}` };
  if (descriptor === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(descriptor)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid ${option}-fd ${JSON.stringify(descriptor)}: expected a number`,
    );
  }
  const number = Number(descriptor);
  return number === 0 ? standardInput() : { from: number, name: `${option}-fd ${descriptor}` };
}

/** Nothing typed is echoed: a terminal is asked through a prompt. */
export const standardInput = (): Source =>
  process.stdin.isTTY ? { from: undefined, name: 'the terminal' } : { from: 0, name: 'standard input' };

/** More than any key or phrase takes. */
export const mostBytesOfKey = 16_384;

/** Reads a secret as text for as long as `use` runs; the bytes it was read into are wiped. */
export async function readText<T>(
  { from, name }: Source,
  what: string,
  use: (text: string) => T,
): Promise<T> {
  if (from === undefined) return use(await askFor(what));
  const bytes = readFileBytes(from, name, mostBytesOfKey);
  try {
    if (bytes.length === 0) throw new CommandError(exitCodes.usage, `${name} is empty: expected the ${what}`);
    if (!isUtf8(bytes))
      throw new CommandError(exitCodes.usage, `${name} is not UTF-8: expected the ${what} as text`);
    return use(bytes.toString('utf8'));
  } finally {
    bytes.fill(0);
  }
}

/** Reads a passphrase of one line, which is taken to the letter. */
export const readPassphrase = (source: Source): Promise<string> =>
  readText(source, 'passphrase', (text) => {
    const line = text.replace(/\r?\n$/, '');
    if (line !== '' && !/[\r\n]/.test(line)) return line;
    const lines = line === '' ? 'nothing' : `${String(line.split(/\r\n|\r|\n/).length)} lines`;
    throw new CommandError(
      exitCodes.usage,
      `invalid passphrase from ${source.name}: expected one line, which is taken to the letter; got ${lines}`,
    );
  });

export async function askFor(what: string): Promise<string> {
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      `there is no ${what}: give it as a file, by a file descriptor or on standard input`,
    );
  }
  return askForHidden(
    {
      message: visibleName(`The ${what} (not shown)`),
      mask: '',
      validate: (text) => (text === undefined || text === '' ? `Expected the ${what}` : undefined),
    },
    'nothing was imported',
  );
}

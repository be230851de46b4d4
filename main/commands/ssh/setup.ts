/** `keyhearth ssh setup`: points the SSH client at the agent. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../../files/directories.ts';
import { changeFile } from '../../files/new-files.ts';
import type { Config } from '../../app/config.ts';
import { homeDirectory } from '../../app/home-directory.ts';
import { agree, onTerminal } from '../requests/agree.ts';
import { quoted } from '../../lib/errors.ts';
import { mostBytesOfFile, readFileBytes } from '../shared/file-text.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { oneAfterAnother } from '../vault/one-after-another.ts';
import { socketOf } from './keys.ts';

export interface SetupOptions {
  readonly program?: string;
  /** A pattern of ssh_config. */
  readonly host: string;
  readonly yes?: boolean;
  readonly json: boolean;
}

const newline = 0x0a;

/** Asks the person at the terminal before files are written. A script is asked nothing. */
export async function agreeToWrite(shown: string, yes: boolean | undefined): Promise<void> {
  note(shown);
  if (yes === true || !onTerminal()) return;
  await agree('Write this?', {
    what: 'whether to write it',
    otherwise: '--yes',
    undone: 'nothing was written',
  });
}

/** As ssh_config reads it back: the path of a pipe of Windows has backslashes, and a directory may have any character. */
export const configEntry = (host: string, socket: string): string =>
  `Host ${host}\n  IdentityAgent "${socket.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll('%', '%%')}"\n`;

export async function setUpSsh(config: Config, { program, host, yes, json }: SetupOptions): Promise<void> {
  const socket = await socketOf(config, program);
  const file = join(homeDirectory(), '.ssh', 'config');
  if (!/^[!-~]+( [!-~]+)*$/.test(host)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --host ${quoted(host)}: expected patterns as ssh_config has them`,
    );
  }
  const entry = configEntry(host, socket);
  // Its bytes need not be UTF-8.
  const read = () => (existsSync(file) ? readFileBytes(file, file, mostBytesOfFile) : Buffer.alloc(0));
  const isThere = read().includes(entry);
  if (!isThere) {
    await agreeToWrite(`To add to ${file}:\n${entry}`, yes);
    oneAfterAnother(config, () => {
      makeDirectory(dirname(file));
      // Something else may have written it while the person read.
      const before = read();
      if (before.includes(entry)) return;
      const between = before.length === 0 || before.at(-1) === newline ? '' : '\n';
      changeFile(file, Buffer.concat([before, Buffer.from(`${between}\n${entry}`)]));
    });
  }
  print(json, { file, entry, changed: !isThere }, isThere ? `${file} has it already.` : `Wrote ${file}.`);
}

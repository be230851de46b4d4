/** `keyhearth git setup`: git signs commits and tags through the vault. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../files/directories.ts';
import type { Config } from '../../app/config.ts';
import { programPath } from '../../app/program-path.ts';
import { replaceFile, replaceProgram } from '../../files/new-files.ts';
import { readTextFile } from '../shared/file-text.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { thisProgram } from '../../app/this-program.ts';
import { dataDirectory } from '../vault/control.ts';
import { oneAfterAnother } from '../vault/one-after-another.ts';
import { listAgentKeys, publicLine } from './agent-client.ts';
import { socketOf } from './keys.ts';
import { agreeToWrite } from './setup.ts';

export interface GitSetupOptions {
  readonly program?: string;
  readonly global?: boolean;
  readonly key?: string;
  readonly email?: string;
  readonly yes?: boolean;
  readonly json: boolean;
}

export async function setUpGit(config: Config, options: GitSetupOptions): Promise<void> {
  const socket = await socketOf(config, options.program);
  const keys = (await listAgentKeys(socket)).filter(
    ({ comment }) => options.key === undefined || comment === options.key,
  );
  const [key, ...others] = keys;
  if (key === undefined || others.length > 0) {
    throw new CommandError(
      exitCodes.usage,
      key === undefined
        ? 'the agent does not offer such a key: `keyhearth ssh keys` lists them'
        : `the agent offers several keys: expected --key with one of ${keys.map(({ comment }) => comment).join(', ')}`,
    );
  }
  const scope = options.global === true ? '--global' : '--local';
  const email = options.email ?? git('config', '--get', 'user.email').trim();
  if (email === '' || /[\s,*?!"]/.test(email)) {
    throw new CommandError(exitCodes.usage, 'expected --email: git has no user.email that a signer can have');
  }
  const directory = join(dataDirectory(config), 'git');
  const launcher = join(
    directory,
    process.platform === 'win32' ? 'keyhearth-ssh-sign.cmd' : 'keyhearth-ssh-sign',
  );
  const signers = join(directory, 'allowed_signers');
  const line = publicLine(key).split(' ').slice(0, 2).join(' ');
  const settings = [
    ['gpg.format', 'ssh'],
    ['gpg.ssh.program', launcher],
    ['gpg.ssh.allowedSignersFile', signers],
    ['user.signingKey', `key::${line}`],
    ['commit.gpgSign', 'true'],
    ['tag.gpgSign', 'true'],
  ] as const;
  const signer = `${email} namespaces="git" ${line}`;
  await agreeToWrite(
    [
      `Program: ${launcher}`,
      `Signer in ${signers}: ${signer}`,
      ...settings.map(([name, value]) => `git config ${scope} ${name} ${JSON.stringify(value)}`),
    ].join('\n'),
    options.yes,
  );
  oneAfterAnother(config, () => {
    const before = settings.map(([name]) => valueOf(scope, name));
    makeDirectory(directory);
    replaceProgram(launcher, launcherText(socket));
    const known = existsSync(signers) ? readTextFile(signers, signers).split('\n') : [];
    if (!known.includes(signer)) {
      replaceFile(signers, `${[...known.filter((each) => each !== ''), signer].join('\n')}\n`);
    }
    setAll(scope, settings, before);
  });
  print(
    options.json,
    { launcher, signers, signer, settings: Object.fromEntries(settings) },
    'Git signs commits and tags through the vault.',
  );
}

type Scope = '--global' | '--local';

/** @throws CommandError where git has several values: it would not replace them by one. */
function valueOf(scope: Scope, name: string): string | undefined {
  const values = git('config', scope, '--null', '--get-all', name).split('\0').slice(0, -1);
  if (values.length < 2) return values[0];
  throw new CommandError(
    exitCodes.failed,
    `nothing was changed: git has ${String(values.length)} values of ${name}. Keep one: \`git config ${scope} --edit\``,
  );
}

/** All settings, or none: half of them would have git sign with a key of another kind. */
function setAll(
  scope: Scope,
  settings: readonly (readonly [name: string, value: string])[],
  before: readonly (string | undefined)[],
): void {
  let done = 0;
  try {
    for (const [name, value] of settings) {
      git('config', scope, name, value);
      done += 1;
    }
  } catch (error) {
    for (const [index, [name]] of settings.slice(0, done).entries()) {
      const value = before[index];
      git('config', scope, ...(value === undefined ? ['--unset', name] : [name, value]));
    }
    throw error;
  }
}

function git(...argv: readonly string[]): string {
  try {
    return execFileSync(programPath('git'), argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (argv.some((word) => word.startsWith('--get'))) return '';
    throw new CommandError(exitCodes.failed, `git ${argv.join(' ')} failed: ${String(error)}`);
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Git calls one program for signing and for verifying, and gives it no other arguments. */
export function launcherText(socket: string, platform: NodeJS.Platform = process.platform): string {
  const words = [...thisProgram(), 'ssh', 'sign', '--socket', socket, '--'];
  if (platform === 'win32') {
    const command = words.map((word) => `"${word}"`).join(' ');
    return [
      '@echo off',
      'setlocal',
      // Git calls this in the root of a repository, where Windows would look for programs first.
      'set "NoDefaultCurrentDirectoryInExePath=1"',
      `if "%~2"=="sign" (${command} %*) else (ssh-keygen %*)`,
      '',
    ].join('\r\n');
  }
  return `#!/bin/sh
# Written by \`keyhearth git setup\`.
if [ "$1 $2" = "-Y sign" ]; then exec ${words.map(quote).join(' ')} "$@"; fi
exec ssh-keygen "$@"
`;
}

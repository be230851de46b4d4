/** `keyhearth git setup`: git signs commits and tags through the vault. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../files/directories.ts';
import type { Config } from '../../app/config.ts';
import { programPath } from '../../app/program-path.ts';
import { replaceFile } from '../../files/new-files.ts';
import { readTextFile } from '../shared/file-text.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { thisProgram } from '../../app/this-program.ts';
import { dataDirectory } from '../vault/control.ts';
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
  makeDirectory(directory);
  replaceFile(launcher, launcherText(socket));
  chmodSync(launcher, 0o700);
  const known = existsSync(signers) ? readTextFile(signers, signers).split('\n') : [];
  if (!known.includes(signer)) {
    replaceFile(signers, `${[...known.filter((each) => each !== ''), signer].join('\n')}\n`);
  }
  for (const [name, value] of settings) git('config', scope, name, value);
  print(
    options.json,
    { launcher, signers, signer, settings: Object.fromEntries(settings) },
    'Git signs commits and tags through the vault.',
  );
}

function git(...argv: readonly string[]): string {
  try {
    return execFileSync(programPath('git'), argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (argv.includes('--get')) return '';
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

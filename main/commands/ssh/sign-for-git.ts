/**
 * `keyhearth-ssh-sign`: git's `gpg.ssh.program`. It sends the commit or tag itself, so that the vault shows and hashes what it
 * signs. Verifying needs no key: the launcher leaves that to `ssh-keygen`.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { sshString, sshUint32 } from '../../chains/ssh/wire.ts';
import { programPath } from '../../app/program-path.ts';
import { writeNewFile } from '../../files/new-files.ts';
import { mostBytesOfFile, readFileBytes } from '../shared/file-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { askAgent } from './agent-client.ts';
import { readSignedMessage, signMessageRequest } from './agent-messages.ts';

/** @param given As git calls `ssh-keygen`: `-Y sign -n git -f KEY [-U] FILE`. */
export async function signForGit(socket: string, given: readonly string[]): Promise<void> {
  const { namespace, keyFile, file } = readArguments(given);
  const key = readPublicKey(keyFile);
  const request = {
    key,
    namespace,
    message: readFileBytes(file, file, mostBytesOfFile),
    repository:
      withoutLogin(git('config', '--get', 'remote.origin.url')) || git('rev-parse', '--show-toplevel'),
    branch: git('branch', '--show-current'),
  };
  const answer = readSignedMessage(await askAgent(socket, signMessageRequest(request)));
  if (!answer.ok) throw new CommandError(exitCodes.failed, `not signed: ${answer.problem}`);
  // Git's own file may lie in a directory for all users: a link that waits there is not followed.
  writeNewFile(`${file}.sig`, armor(namespace, key, answer.value));
}

/** @throws CommandError for other arguments than git's: what they leave open would be guessed, and signed. */
function readArguments(given: readonly string[]) {
  const wrong = new CommandError(
    exitCodes.usage,
    'expected the arguments of `ssh-keygen -Y sign -n NAMESPACE -f KEY FILE`, with one file',
  );
  const text = { type: 'string' } as const;
  const options = {
    action: { ...text, short: 'Y' },
    namespace: { ...text, short: 'n' },
    key: { ...text, short: 'f' },
    agent: { type: 'boolean', short: 'U' },
  } as const;
  let read;
  try {
    read = parseArgs({ args: [...given], options, allowPositionals: true });
  } catch {
    throw wrong;
  }
  const { action, namespace, key: keyFile } = read.values;
  const [file, ...others] = read.positionals;
  if (action !== 'sign' || namespace === undefined || keyFile === undefined) throw wrong;
  if (file === undefined || others.length > 0) throw wrong;
  return { namespace, keyFile, file };
}

/** An address with a token in it is common, and the log keeps what is sent. */
export const withoutLogin = (address: string): string =>
  address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');

/** @returns the key of a line of `authorized_keys`, in the file or beside it. */
function readPublicKey(file: string): Uint8Array {
  const [, base64 = ''] =
    /^(?:key::)?(?:ssh-ed25519|ecdsa-sha2-nistp256) (\S+)/m.exec(
      readFileBytes(file, file, mostBytesOfFile).toString('utf8'),
    ) ?? [];
  if (base64 !== '') return Buffer.from(base64, 'base64');
  throw new CommandError(exitCodes.usage, `${file} has no public key of Ed25519 or P-256`);
}

/** @returns the first line of git's answer; empty where git says nothing. */
function git(...argv: readonly string[]): string {
  try {
    const said = execFileSync(programPath('git'), argv, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
    });
    return (said.split('\n', 1)[0] ?? '').slice(0, 500);
  } catch {
    return '';
  }
}

/** An SSH signature as a file (OpenSSH's PROTOCOL.sshsig). */
function armor(namespace: string, key: Uint8Array, signature: Uint8Array): string {
  const blob = Buffer.concat([
    Buffer.from('SSHSIG', 'latin1'),
    sshUint32(1),
    ...[key, namespace, '', 'sha512', signature].map(sshString),
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? [];
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

/** OpenSSH's own server on a free port of this machine, for one test file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runProgram } from './programs.ts';

export interface Sshd extends AsyncDisposable {
  readonly port: number;
  /** The server's line of `known_hosts`. */
  readonly knownHost: string;
}

/** @param home A directory with `authorized_keys`. The server's files are written there. */
export async function startSshd(home: string): Promise<Sshd> {
  // The system's service makes it where there is one.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const hostKey = join(home, 'sshd_host_key');
  await runProgram('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey]);
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const settings = {
    ListenAddress: `127.0.0.1:${String(port)}`,
    HostKey: hostKey,
    AuthorizedKeysFile: join(home, 'authorized_keys'),
    ...{ StrictModes: 'no', UsePAM: 'no', PidFile: 'none', PasswordAuthentication: 'no' },
    ...{ PermitRootLogin: 'yes', LogLevel: 'ERROR', SetEnv: `HOME=${home}` },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(join(home, 'sshd_config'), lines.join(''));
  const sshd = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(home, 'sshd_config')], { stdio: 'ignore' });
  for (;;) {
    const { out } = await runProgram('ssh-keyscan', ['-p', String(port), '127.0.0.1']);
    if (out.includes('ssh-ed25519')) break;
    if (sshd.exitCode !== null) throw new Error(`sshd ended with ${String(sshd.exitCode)}`);
  }
  const [, type = '', key = ''] = /^(\S+) (\S+)/.exec(readFileSync(`${hostKey}.pub`, 'utf8')) ?? [];
  return {
    port,
    knownHost: `[127.0.0.1]:${String(port)} ${type} ${key}\n`,
    [Symbol.asyncDispose]: async () => {
      const ended = once(sshd, 'exit');
      sshd.kill();
      await ended;
    },
  };
}

// Looks for the system tools that tests need and installs what is missing where it may. It never fails: a test that
// needs a missing tool does, and says what to install.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import {
  findLitestream,
  litestreamPackage,
  litestreamVersion,
  toolsDirectory,
} from '../storage/litestream.ts';
import { areToolsThere, ethereumPackages } from '../support/ethereum-tools.ts';

/** True if a program of one of these names is on the PATH. */
function hasProgram(...names: readonly string[]): boolean {
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  return directories.some((directory) =>
    names.some((name) => {
      try {
        accessSync(join(directory, name), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  );
}

/** True if the dynamic linker finds the library. */
function hasLibrary(name: string): boolean {
  for (const ldconfig of ['/sbin/ldconfig', '/usr/sbin/ldconfig', 'ldconfig']) {
    const { status, stdout } = spawnSync(ldconfig, ['-p'], { encoding: 'utf8' });
    if (status === 0) return stdout.includes(name);
  }
  return ['/usr/lib', '/usr/lib64', '/lib'].some((directory) => existsSync(join(directory, name)));
}

function hasChromium(): boolean {
  const path = process.env['CHROMIUM_PATH'];
  if (path !== undefined && path !== '') return existsSync(path);
  return hasProgram(
    'chromium-headless-shell',
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
  );
}

interface Need {
  readonly what: string;
  /** The package of Debian and Ubuntu that has it. */
  readonly from: string;
  readonly isThere: () => boolean;
}

const needs: readonly Need[] = [
  // Debian has the first, and others only the second.
  { what: 'Chromium', from: 'chromium-headless-shell', isThere: hasChromium },
  { what: 'Chromium', from: 'chromium', isThere: hasChromium },
  { what: 'gnome-keyring-daemon', from: 'gnome-keyring', isThere: () => hasProgram('gnome-keyring-daemon') },
  { what: 'dbus-run-session', from: 'dbus', isThere: () => hasProgram('dbus-run-session') },
  { what: 'zsh', from: 'zsh', isThere: () => hasProgram('zsh') },
  { what: 'fish', from: 'fish', isThere: () => hasProgram('fish') },
  { what: 'ssh', from: 'openssh-client', isThere: () => hasProgram('ssh') && hasProgram('ssh-keygen') },
  { what: 'sshd', from: 'openssh-server', isThere: () => existsSync('/usr/sbin/sshd') },
  { what: 'git', from: 'git', isThere: () => hasProgram('git') },
  { what: 'cc', from: 'gcc', isThere: () => hasProgram('cc') },
  {
    what: 'cryptography for python3',
    from: 'python3-cryptography',
    isThere: () => spawnSync('python3', ['-c', 'import cryptography']).status === 0,
  },
  { what: 'stdio.h', from: 'libc6-dev', isThere: () => existsSync('/usr/include/stdio.h') },
  { what: 'libsecret-1.so.0', from: 'libsecret-1-0', isThere: () => hasLibrary('libsecret-1.so.0') },
];

/** The words that run apt-get as root here without a prompt; undefined if there is no way. */
function aptGet(): readonly string[] | undefined {
  if (!hasProgram('apt-get')) return undefined;
  const words = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
  if (process.getuid?.() === 0) return words;
  const mayBecomeRoot =
    hasProgram('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  return mayBecomeRoot ? ['sudo', '-n', ...words] : undefined;
}

// An unreachable mirror, or another apt-get, is waited for once and not for long.
const bounds = [
  'Acquire::Retries=1',
  'Acquire::http::Timeout=20',
  'Acquire::https::Timeout=20',
  'DPkg::Lock::Timeout=120',
];

/** Runs apt-get, quietly unless it fails. */
function run(words: readonly string[], ...argv: readonly string[]): boolean {
  const [program = '', ...rest] = [...words, '-qq', ...bounds.flatMap((bound) => ['-o', bound]), ...argv];
  const timeout = 10 * 60_000;
  const { status, stdout, stderr, error } = spawnSync(program, rest, { encoding: 'utf8', timeout });
  if (status === 0) return true;
  process.stderr.write(`"apt-get ${argv.join(' ')}" failed: ${error?.message ?? ''}\n${stdout}${stderr}\n`);
  return false;
}

function missing(): readonly Need[] {
  return process.platform === 'linux' ? needs.filter((need) => !need.isThere()) : [];
}

const words = missing().length > 0 ? aptGet() : undefined;
if (words !== undefined && run(words, 'update')) {
  // One by one: a distribution that lacks one package still gets the others.
  for (const need of missing()) {
    if (!need.isThere()) run(words, 'install', '--yes', '--no-install-recommends', need.from);
  }
}
const left = missing();
if (left.length > 0) {
  const names = [...new Set(left.map(({ what }) => what))].join(', ');
  const packages = [...new Map(left.map(({ what, from }) => [what, from])).values()].join(' ');
  process.stderr.write(
    `Some tests will fail for want of ${names}. To install: sudo apt-get update && sudo apt-get install ${packages}\n`,
  );
}

/** Installs packages beside the project's own. */
function install(what: string, packages: readonly string[]): void {
  const options = ['--no-audit', '--no-fund', '--loglevel', 'error', '--ignore-scripts'];
  const { status, stderr, error } = spawnSync(
    'npm',
    ['install', '--prefix', toolsDirectory, ...options, ...packages],
    { encoding: 'utf8', shell: process.platform === 'win32', timeout: 5 * 60_000 },
  );
  if (status === 0) return;
  process.stderr.write(
    `Some tests will fail for want of ${what}, which npm did not install (${packages.join(' ')}): ${error?.message ?? stderr}\n`,
  );
}

if (findLitestream() === undefined) install('Litestream', [`${litestreamPackage}@${litestreamVersion}`]);
if (!areToolsThere()) install('tools of Ethereum', ethereumPackages);

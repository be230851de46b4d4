/** Installs packages from the registry for one test. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs into a directory of its own, as their users do, but runs no script of theirs.
 * @throws Error that names them, with what npm said.
 */
export function npmInstall(directory: string, packages: readonly string[]): void {
  writeFileSync(join(directory, 'package.json'), '{ "private": true }');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];
  const { status, stderr, error } = spawnSync('npm', ['install', ...options, ...packages], {
    cwd: directory,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    timeout: 5 * 60_000,
  });
  if (status !== 0) throw new Error(`npm did not install ${packages.join(' ')}: ${error?.message ?? stderr}`);
}

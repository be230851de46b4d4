// Builds the application's test flavour once, or says in one line why there is nothing to test.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildIfNeeded } from '../../main/start.ts';
import { findApplication } from './application.ts';

const projectRoot = join(import.meta.dirname, '../..');

export async function setup(): Promise<void> {
  const built = await buildIfNeeded();
  if (!built && findApplication() !== undefined) return;
  const dist = process.env['ELECTRON_OVERRIDE_DIST_PATH'];
  const argv = [
    join(projectRoot, 'node_modules/electron-builder/cli.js'),
    ...['--config', 'electron-builder.test.yml', '--publish', 'never'],
    ...(dist === undefined || dist === '' ? [] : [`-c.electronDist=${dist}`]),
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: projectRoot,
    encoding: 'utf8',
    timeout: 15 * 60_000,
  });
  if (status === 0 && findApplication() !== undefined) return;
  const [said = 'it does not say why'] = /\w*Error: [^\n'\\]+/.exec(stdout + stderr) ?? [];
  throw new Error(
    `There is no application to test: electron-builder made none (${said}). It needs Electron’s runtime, which it fetches unless ELECTRON_OVERRIDE_DIST_PATH says where it is.`,
  );
}

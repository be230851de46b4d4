/** The path at which electron-builder puts the tested application, and how to run it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { _electron } from 'playwright-core';
import type { ElectronApplication } from 'playwright-core';

const output = join(import.meta.dirname, '../../release/test');

const programs: Partial<Record<NodeJS.Platform, RegExp>> = {
  linux: /^linux.*-unpacked[/]keyhearth-desktop$/,
  darwin: /^mac[^/]*[/]Keyhearth Test[.]app[/]Contents[/]MacOS[/]Keyhearth Test$/,
  win32: /^win.*-unpacked[/]Keyhearth Test[.]exe$/,
};

/** @returns the program's path, or undefined where it was not built. */
export function findApplication(): string | undefined {
  const program = programs[process.platform];
  if (program === undefined) return undefined;
  try {
    const paths = readdirSync(output, { recursive: true, encoding: 'utf8' });
    const found = paths.find((path) => program.test(path.replaceAll('\\', '/')));
    return found === undefined ? undefined : join(output, found);
  } catch {
    return undefined;
  }
}

/** Starts the application on a vault of its own. */
export function launch(vault: string, argv: readonly string[] = []): Promise<ElectronApplication> {
  const executablePath = findApplication();
  if (executablePath === undefined) throw new Error(`there is no application below ${output}`);
  // Without a session bus there is no keychain to reach; a developer's own stays untouched. Without the variable, the bus of
  // the login would be found.
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus',
  };
  return _electron.launch({
    executablePath,
    // On Linux Playwright would start it without, which is another program than the one that is shipped.
    chromiumSandbox: true,
    args: ['--data-dir', vault, '--config-dir', join(vault, '..', 'config'), '--port', '0', ...argv],
    env: Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  });
}

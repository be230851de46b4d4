/** The `keyhearth` command that belongs to this app, for programs that start it without a shell and its PATH. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';

/** @param appImage The path of the AppImage that this process runs from, if any. */
export function commandOfApp(appImage: string | undefined): readonly [string] {
  const isWindows = process.platform === 'win32';
  const file = app.isPackaged
    ? join(process.resourcesPath, 'bin', isWindows ? 'keyhearth.exe' : 'keyhearth')
    : join(app.getAppPath(), isWindows ? 'keyhearth.cmd' : 'keyhearth');
  // The directory of an AppImage is gone after it, and a package may be built without the command.
  return appImage === undefined && existsSync(file) ? [file] : ['keyhearth'];
}

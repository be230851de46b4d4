/** The `keyhearth` command that belongs to this app, for programs that start it without a shell and its PATH. */
import { join } from 'node:path';
import { app } from 'electron';

/** @param appImage The path of the AppImage that this process runs from, if any. */
export function commandOfApp(appImage: string | undefined): readonly [string] {
  // The directory of an AppImage is gone after it.
  if (appImage !== undefined) return ['keyhearth'];
  const isWindows = process.platform === 'win32';
  return app.isPackaged
    ? [join(process.resourcesPath, 'bin', isWindows ? 'keyhearth.exe' : 'keyhearth')]
    : [join(app.getAppPath(), isWindows ? 'keyhearth.cmd' : 'keyhearth')];
}

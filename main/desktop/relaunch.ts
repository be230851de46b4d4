import { app } from 'electron';
import type { Config } from '../app/config.ts';
import { hiddenSwitch } from './login.ts';

/** Starts the application again once this process has ended, with its arguments and with a window. */
export function startAgain({ appImage }: Pick<Config, 'appImage'>): void {
  const args = process.argv.slice(1).filter((word) => word !== `--${hiddenSwitch}`);
  // An AppImage's program is in a directory that is gone when this process is: its file starts it again.
  app.relaunch(appImage === undefined ? { args } : { execPath: appImage, args });
}

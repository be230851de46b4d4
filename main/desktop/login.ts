/** Starting with the session, into the tray. Not for what runs from its sources: the entry would outlive them. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import type { ShellChoice } from '../lib/shell.ts';

/** Tells a start that nobody asked for just now: it shows no window. */
const hiddenSwitch = 'hidden';

/**
 * @param executable What starts the application on Linux: an AppImage runs from a place that is gone after it.
 * @returns undefined where it cannot start with the session.
 */
export function loginItem(executable: string): ShellChoice<boolean> | undefined {
  if (!app.isPackaged) return undefined;
  return process.platform === 'linux' ? autostartFile(executable) : systemItem;
}

/** Whether the session started it. */
export const isHiddenStart = (): boolean =>
  app.commandLine.hasSwitch(hiddenSwitch) ||
  (process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin);

const systemArgs = [`--${hiddenSwitch}`];

const systemItem: ShellChoice<boolean> = {
  read: () => app.getLoginItemSettings({ args: systemArgs }).openAtLogin,
  write(isOn) {
    app.setLoginItemSettings({ openAtLogin: isOn, args: systemArgs });
  },
};

/** The desktop environments' own way; Electron has none for it. */
function autostartFile(executable: string): ShellChoice<boolean> {
  const directory = join(app.getPath('appData'), 'autostart');
  const file = join(directory, 'latchkey.desktop');
  return {
    read: () => existsSync(file),
    write(isOn) {
      if (!isOn) {
        rmSync(file, { force: true });
        return;
      }
      mkdirSync(directory, { recursive: true });
      writeFileSync(
        file,
        [
          '[Desktop Entry]',
          'Type=Application',
          'Name=Latchkey',
          'Comment=A key vault for one person and their scripts',
          `Exec=${quoted(executable)} --${hiddenSwitch}`,
          'Icon=latchkey',
          'Terminal=false',
          'X-GNOME-Autostart-enabled=true',
          '',
        ].join('\n'),
      );
    },
  };
}

/** As the Desktop Entry Specification has arguments of Exec: quoted, its own characters escaped twice, `%` doubled. */
const quoted = (path: string): string =>
  `"${path
    .replace(/["`$\\]/g, String.raw`\$&`)
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')}"`;

/** The application's menu and about panel: roles of the system's own, Keyhearth's two brakes, and no links. */
import { join } from 'node:path';
import { app, Menu } from 'electron';
import type { MenuItemConstructorOptions } from 'electron';

export interface MenuActions {
  readonly lock: () => void;
  readonly freeze: () => void;
  /** The shortcut that freezes from anywhere, where the system gave it. */
  readonly freezeAccelerator: string | undefined;
  readonly lookForUpdates: () => void;
}

const separator: MenuItemConstructorOptions = { type: 'separator' };

/** @param version Keyhearth's own. */
export function setMenu(version: string, actions: MenuActions): void {
  app.setAboutPanelOptions({
    applicationName: 'Keyhearth',
    applicationVersion: version,
    version: `Electron ${process.versions.electron}, Node ${process.versions.node}`,
    copyright: 'Copyright © Keyhearth contributors. Apache-2.0.',
    // GTK reads the file itself, and so not from the archive: an installed application has it beside that.
    iconPath: app.isPackaged
      ? join(process.resourcesPath, 'icon.png')
      : join(app.getAppPath(), 'main/desktop/icons/window.png'),
  });
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    separator,
    { role: 'togglefullscreen' },
  ];
  if (!app.isPackaged) view.push(separator, { role: 'toggleDevTools' });
  const brakes: MenuItemConstructorOptions[] = [
    { label: 'Lock Now', accelerator: 'CommandOrControl+L', click: actions.lock },
    {
      label: 'Freeze All Signing',
      // Shown beside it; it is heard of whatever is in front, and not a second time here.
      ...(actions.freezeAccelerator === undefined
        ? {}
        : { accelerator: actions.freezeAccelerator, registerAccelerator: false }),
      click: actions.freeze,
    },
  ];
  const updates: MenuItemConstructorOptions = {
    label: 'Check for Updates…',
    click: actions.lookForUpdates,
  };
  const isMac = process.platform === 'darwin';
  const first: MenuItemConstructorOptions[] = isMac
    ? [
        {
          label: 'Keyhearth',
          submenu: [
            { role: 'about' },
            updates,
            separator,
            ...brakes,
            separator,
            { role: 'services' },
            separator,
            { role: 'hide' },
            { role: 'hideOthers' },
            { role: 'unhide' },
            separator,
            { role: 'quit' },
          ],
        },
      ]
    : [
        {
          label: '&File',
          submenu: [...brakes, separator, { role: 'close' }, { role: 'quit', label: 'Quit Keyhearth' }],
        },
      ];
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      ...first,
      // Without it, macOS has no shortcuts for copy and paste.
      { role: 'editMenu' },
      { label: 'View', submenu: view },
      { role: 'windowMenu' },
      ...(isMac
        ? []
        : [{ label: 'Help', submenu: [updates, { role: 'about' as const, label: 'About Keyhearth' }] }]),
    ]),
  );
}

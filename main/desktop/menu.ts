/** The application's menu: roles of the system's own, and none of the links that Electron's default menu has. */
import { app, Menu } from 'electron';
import type { MenuItemConstructorOptions } from 'electron';

export function setMenu(): void {
  const separator: MenuItemConstructorOptions = { type: 'separator' };
  const view: MenuItemConstructorOptions[] = [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    separator,
    { role: 'togglefullscreen' },
  ];
  if (!app.isPackaged) view.push(separator, { role: 'toggleDevTools' });
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      { role: process.platform === 'darwin' ? 'appMenu' : 'fileMenu' },
      // Without it, macOS has no shortcuts for copy and paste.
      { role: 'editMenu' },
      { label: 'View', submenu: view },
      { role: 'windowMenu' },
    ]),
  );
}

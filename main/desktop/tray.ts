/** The mark in the system's tray: what the vault's state is, and lock, open and quit without the window. */
import { join } from 'node:path';
import { app, Menu, nativeImage, Tray } from 'electron';
import type { MenuItemConstructorOptions } from 'electron';
import type { Bridge, VaultState } from '../../preload/contract.ts';
import { report } from './report.ts';
import { showWindow } from './window.ts';

const said: Readonly<Record<VaultState, string>> = {
  none: 'no vault yet',
  locked: 'locked',
  unlocked: 'unlocked',
};

/** Shows the tray until it is disposed of. It follows the vault's state. */
export function createTray(bridge: Pick<Bridge, 'status' | 'lock' | 'onEvent'>): Disposable {
  // macOS colours a template image itself.
  const name = process.platform === 'darwin' ? 'trayTemplate.png' : 'tray.png';
  const tray = new Tray(nativeImage.createFromPath(join(app.getAppPath(), 'main/desktop/icons', name)));
  tray.on('click', showWindow);

  async function lockNow(): Promise<void> {
    try {
      await bridge.lock();
    } catch (error) {
      report('the vault did not lock', error);
    }
  }

  function show(state: VaultState | undefined): void {
    tray.setToolTip(state === undefined ? 'Latchkey' : `Latchkey: ${said[state]}`);
    tray.setContextMenu(Menu.buildFromTemplate(trayMenu(state, () => void lockNow())));
  }

  let asked = 0;
  async function follow(): Promise<void> {
    const question = ++asked;
    try {
      const { state } = await bridge.status();
      // An answer that was overtaken says nothing about now.
      if (question === asked && !tray.isDestroyed()) show(state);
    } catch (error) {
      report('the tray does not know the state of the vault', error);
    }
  }

  show(undefined);
  void follow();
  const stopEvents = bridge.onEvent((event) => {
    if (event.kind === 'status') void follow();
  });
  return {
    [Symbol.dispose]() {
      stopEvents();
      tray.destroy();
    },
  };
}

function trayMenu(state: VaultState | undefined, lockNow: () => void): MenuItemConstructorOptions[] {
  const items: MenuItemConstructorOptions[] = [{ label: 'Open Latchkey', click: showWindow }];
  if (state === 'none') items.push({ label: 'Set up…', click: showWindow });
  if (state === 'locked') items.push({ label: 'Unlock…', click: showWindow });
  if (state === 'unlocked') items.push({ label: 'Lock now', click: lockNow });
  return [...items, { type: 'separator' }, { label: 'Quit Latchkey', role: 'quit' }];
}

/** The mark in the system's tray: what the vault's state is, what waits, and lock, freeze, open and quit without the window. */
import { join } from 'node:path';
import { app, Menu, nativeImage, Tray } from 'electron';
import type { MenuItemConstructorOptions } from 'electron';
import type { WindowRpc, VaultStatus } from '../../preload/contract.ts';
import type { Approvals } from './approvals.ts';
import { waitingText } from './badge.ts';
import { countedAs } from '../lib/web/needed-approvals.ts';
import { freezeNow, type FreezeListening } from './freeze.ts';
import { report } from './report.ts';
import { showWindow } from './window.ts';

type Shown = VaultStatus['state'] | 'frozen';

const said: Readonly<Record<Shown, string>> = {
  none: 'no vault yet',
  locked: 'locked',
  frozen: 'frozen',
  unlocked: 'unlocked',
};

/** Shows the tray until it is disposed of. It follows the vault's state, and what waits for votes. */
export function createTray(
  rpc: Pick<WindowRpc, 'status' | 'lock' | 'freeze' | 'onEvent'>,
  approvals: Pick<Approvals, 'waiting' | 'onChange'>,
  freezing: Pick<FreezeListening, 'state' | 'accelerator'>,
): Disposable {
  const images = { calm: image(false), waiting: image(true) };
  const tray = new Tray(images.calm);
  const open = (): void => {
    showWindow();
  };
  tray.on('click', open);

  let state: Shown | undefined;
  let delayed: VaultStatus['delayed'] = null;
  function show(): void {
    const waits = waitingText(approvals.waiting);
    tray.setImage(waits === '' ? images.calm : images.waiting);
    // Beside the mark; macOS alone shows it.
    tray.setTitle(waits === '' ? '' : countedAs(approvals.waiting));
    tray.setToolTip(
      ['Keyhearth', ...(state === undefined ? [] : [said[state]])].join(': ') + (waits && `, ${waits}`),
    );
    tray.setContextMenu(Menu.buildFromTemplate(menu(waits)));
  }

  function menu(waits: string): MenuItemConstructorOptions[] {
    const items: MenuItemConstructorOptions[] = [{ label: 'Open Keyhearth', click: open }];
    if (waits !== '') {
      items.push({
        label: `${waits}…`,
        click: () => {
          showWindow('/approvals');
        },
      });
    }
    if (state === 'none') items.push({ label: 'Set up…', click: open });
    if (state === 'locked' || state === 'frozen') items.push({ label: 'Unlock…', click: open });
    items.push({ type: 'separator' });
    if (state === 'unlocked') items.push({ label: 'Lock now', click: () => void lockNow(rpc) });
    // Also where the state is not known: it is then that it may be wanted.
    if (state !== 'none' && state !== 'frozen') {
      items.push({
        label: 'Freeze all signing',
        ...(freezing.accelerator === undefined
          ? {}
          : { accelerator: freezing.accelerator, registerAccelerator: false }),
        click: () => void freezeNow(rpc),
      });
      if (freezing.state === 'taken') {
        items.push({ label: 'Another app uses the shortcut', enabled: false });
      }
    }
    if (state === 'frozen') items.push({ label: 'All signing is frozen', enabled: false });
    if (delayed?.why === 'offline') items.push({ label: 'No network: deliveries wait', enabled: false });
    if (items.at(-1)?.type !== 'separator') items.push({ type: 'separator' });
    return [...items, { label: 'Quit Keyhearth', role: 'quit' }];
  }

  let asked = 0;
  async function follow(): Promise<void> {
    const question = ++asked;
    try {
      const status = await rpc.status();
      // An answer that was overtaken says nothing about now.
      if (question !== asked || tray.isDestroyed()) return;
      state = status.frozen === null ? status.state : 'frozen';
      ({ delayed } = status);
      show();
    } catch (error) {
      report('the tray does not know the state of the vault', error);
    }
  }

  show();
  void follow();
  const stopEvents = rpc.onEvent((event) => {
    if (event.kind === 'status') void follow();
  });
  const stopWaiting = approvals.onChange(show);
  return {
    [Symbol.dispose]() {
      stopEvents();
      stopWaiting();
      tray.destroy();
    },
  };
}

export async function lockNow(rpc: Pick<WindowRpc, 'lock'>): Promise<void> {
  try {
    await rpc.lock();
  } catch (error) {
    report('the vault did not lock', error);
  }
}

/** macOS colours a template image itself. */
function image(isWaiting: boolean): ReturnType<typeof nativeImage.createFromPath> {
  const name = `tray${isWaiting ? 'Waiting' : ''}${process.platform === 'darwin' ? 'Template' : ''}.png`;
  return nativeImage.createFromPath(join(app.getAppPath(), 'main/desktop/icons', name));
}

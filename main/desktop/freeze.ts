/** Freezing from outside the window: the tray, the menu, and a shortcut that works whatever is in front. */
import { app, dialog, globalShortcut } from 'electron';
import type { WindowRpc } from '../../preload/contract.ts';
import { KeyhearthError } from '../lib/errors.ts';
import type { DesktopFacts } from '../lib/desktop-capabilities.ts';
import { publicMessage, report } from './report.ts';

/** Four keys, which no person presses by mistake. */
export const freezeShortcut = 'CommandOrControl+Alt+Shift+F';

/** Freezes without a prompt: a freeze costs an unlock, and a question may cost everything. */
export async function freezeNow(rpc: Pick<WindowRpc, 'freeze'>): Promise<void> {
  try {
    await rpc.freeze();
  } catch (error) {
    // Without a vault there is nothing to freeze.
    if (error instanceof KeyhearthError && error.code === 'VAULT_MISSING') return;
    report('the vault did not freeze', error);
    dialog.showErrorBox('Couldn’t save the freeze', publicMessage(error));
  }
}

export interface FreezeListening extends Disposable {
  readonly state: DesktopFacts['freezeShortcut'];
  /** The shortcut, where the system gave it for certain: for menus to show. */
  readonly accelerator: string | undefined;
}

/**
 * Listens until it is disposed of.
 * @param sessionType Of the session, as `Config` has it.
 */
export function listenForFreeze(
  rpc: Pick<WindowRpc, 'freeze'>,
  sessionType: string | undefined,
): FreezeListening {
  const isGiven = globalShortcut.register(freezeShortcut, () => void freezeNow(rpc));
  if (!isGiven) {
    report('the shortcut for freezing', new Error(`the system did not give ${freezeShortcut}`));
  }
  const state = !isGiven ? 'taken' : isPortals(sessionType) ? 'unknown' : 'bound';
  return {
    state,
    accelerator: state === 'bound' ? freezeShortcut : undefined,
    [Symbol.dispose]() {
      if (isGiven) globalShortcut.unregister(freezeShortcut);
    },
  };
}

/**
 * Tells whether the desktop's portal gives out shortcuts, as on Wayland. Electron says yes before it has asked the portal, and reports
 * no refusal, neither the portal's nor the user's.
 */
function isPortals(sessionType: string | undefined): boolean {
  if (process.platform !== 'linux') return false;
  const chosen = app.commandLine.getSwitchValue('ozone-platform');
  return (chosen === '' || chosen === 'auto' ? sessionType : chosen) === 'wayland';
}

/** Freezing from outside the window: the tray, the menu, and a shortcut that works whatever is in front. */
import { dialog, globalShortcut } from 'electron';
import type { Bridge } from '../../preload/contract.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { publicMessage, report } from './report.ts';

/** Four keys: nobody presses them by mistake. */
export const freezeShortcut = 'CommandOrControl+Alt+Shift+F';

/** Freezes without asking: a freeze costs an unlock, and a question may cost everything. */
export async function freezeNow(bridge: Pick<Bridge, 'freeze'>): Promise<void> {
  try {
    await bridge.freeze();
  } catch (error) {
    // Where there is no vault, there is nothing to freeze.
    if (error instanceof LatchkeyError && error.code === 'VAULT_MISSING') return;
    report('the vault did not freeze', error);
    dialog.showErrorBox('Latchkey could not note the freeze', publicMessage(error));
  }
}

/** Listens until it is disposed of. @returns the shortcut where the system gave it, for menus to show. */
export function listenForFreeze(
  bridge: Pick<Bridge, 'freeze'>,
): { readonly accelerator: string | undefined } & Disposable {
  const isOurs = globalShortcut.register(freezeShortcut, () => void freezeNow(bridge));
  if (!isOurs) {
    report('the shortcut for freezing', new Error(`the system did not give ${freezeShortcut}`));
  }
  return {
    accelerator: isOurs ? freezeShortcut : undefined,
    [Symbol.dispose]() {
      if (isOurs) globalShortcut.unregister(freezeShortcut);
    },
  };
}

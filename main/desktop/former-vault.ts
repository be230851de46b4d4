/** Asks once whether a vault of the product's former name is moved to where it is looked for now. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { app, dialog } from 'electron';
import type { Config } from '../app/config.ts';
import { leaveFormerVault, moveFormerVault, type FormerVault } from '../app/former-vault.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { formerTitle } from '../lib/text/former-name.ts';
import { startAgain } from './relaunch.ts';
import { report } from './report.ts';

/** The application starts again after the answer: what Chromium keeps must not lie in a directory that moves. */
export function offerFormerVault(found: FormerVault, config: Pick<Config, 'appImage'>): void {
  const passing = mkdtempSync(join(tmpdir(), 'keyhearth-moving-'));
  app.setPath('userData', passing);
  app
    .whenReady()
    .then(async () => {
      if (await ask(found)) startAgain(config);
    })
    .catch((error: unknown) => {
      report('the former vault could not be moved', error);
      dialog.showErrorBox('Couldn’t move the vault', reasonOf(error));
    })
    .finally(() => {
      rmSync(passing, { recursive: true, force: true });
      app.quit();
    });
}

/** @returns whether to go on. */
async function ask(found: FormerVault): Promise<boolean> {
  const { from, to } = found.vault;
  const { response } = await dialog.showMessageBox({
    type: 'question',
    title: 'Keyhearth',
    message: `Move your ${formerTitle} vault?`,
    detail: `Keyhearth was named ${formerTitle} before. Your vault moves from ${from} to ${to}. Otherwise Keyhearth starts without a vault.`,
    buttons: ['Move', 'Don’t move', 'Quit'],
    defaultId: 0,
    cancelId: 2,
  });
  if (response === 0) moveFormerVault(found);
  else if (response === 1) leaveFormerVault(found);
  return response !== 2;
}

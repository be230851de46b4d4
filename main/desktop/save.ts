/** A copy of a backup, where the person says: asked by the system's dialog, and there whole or not at all. */
import { basename, join, resolve } from 'node:path';
import { app, dialog } from 'electron';
import type { VaultRpc } from '../../preload/contract.ts';
import { replaceWithCopy } from '../files/new-files.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { reasonOf } from '../lib/text/reasons.ts';

/** @returns its path; null where they thought better of it. @throws KeyhearthError as `copyOfBackup`, or for the disk. */
export async function saveBackup(rpc: Pick<VaultRpc, 'copyOfBackup'>, id: string): Promise<string | null> {
  const { file, name } = await rpc.copyOfBackup(id);
  const { canceled, filePath } = await dialog.showSaveDialog({
    title: 'Save a copy of the backup',
    defaultPath: join(app.getPath('downloads'), name),
    filters: [{ name: 'Keyhearth backup', extensions: ['backup'] }],
    properties: ['createDirectory', 'showOverwriteConfirmation'],
  });
  if (canceled || filePath === '') return null;
  if (resolve(filePath) === resolve(file)) return filePath;
  try {
    await replaceWithCopy(file, filePath);
  } catch (error) {
    const why = reasonOf(error);
    throw new KeyhearthError('INVALID_ARGUMENT', `${basename(filePath)} could not be written: ${why}`);
  }
  return filePath;
}

/** Verifies a backup as a restore would, and reports what it finds. */
import type { VerifiedBackup } from '../../preload/contract.ts';
import { BackupFile } from './file.ts';
import type { BackupHeader } from './format.ts';
import { Jobs } from './jobs.ts';
import { openMasterKey, type OpenBackupWith } from './open.ts';
import type { VerifiedFile } from './backup-worker.ts';

type OnProgress = (done: number, total: number) => void;

/**
 * Verifies a backup with a key that it erases.
 * @param database The live vault's file, undefined where there is none.
 */
export async function verifyBackupFile(
  jobs: Jobs,
  wish: { readonly file: string; readonly masterKey: Uint8Array; readonly database: string | undefined },
  onProgress: OnProgress,
): Promise<VerifiedFile> {
  try {
    return await jobs.verify(wish, onProgress);
  } finally {
    wish.masterKey.fill(0);
  }
}

/** Verifies a backup where there is no vault. */
export async function verifyAlone(
  file: string,
  how: OpenBackupWith,
  onProgress: OnProgress,
): Promise<VerifiedBackup> {
  const header = await readHeader(file);
  const jobs = new Jobs();
  const masterKey = await openMasterKey(header, how);
  const verified = await verifyBackupFile(jobs, { file, masterKey, database: undefined }, onProgress);
  return toVerified(file, header, how.with, verified, null);
}

/** @param provenAt When it was recorded as verified, null where it was not. */
export const toVerified = (
  file: string,
  header: BackupHeader,
  openedWith: VerifiedBackup['openedWith'],
  { check, uncovered, size }: VerifiedFile,
  provenAt: number | null,
): VerifiedBackup => ({
  file,
  vaultId: header.vaultId,
  madeAt: header.createdAt,
  size,
  openedWith,
  ...check,
  uncovered: uncovered ?? null,
  recordedAt: provenAt,
});

/** @throws KeyhearthError BACKUP_UNREADABLE, NOT_FOUND */
export async function readHeader(file: string): Promise<BackupHeader> {
  await using backup = await BackupFile.open(file);
  return backup.head.header;
}

/** Wires the parts around the open file: row authentication, writes and the state of the disk. */
import { LogMark } from '../audit/mark.ts';
import { Verifications } from '../auth/verifications.ts';
import type { Keyring } from '../keys/keyring.ts';
import { Turns } from '../lib/concurrency/turns.ts';
import { owned } from '../lib/faults.ts';
import { logWarning } from '../lib/log.ts';
import { Checkpoints } from '../storage/checkpoints.ts';
import { Storage, touchFile } from '../storage/file/disk-state.ts';
import { describeKeptLogs, describeLogDamage } from '../storage/file/write-ahead-log.ts';
import { RowGuard } from '../storage/integrity/guard.ts';
import { UnitOfWork } from '../storage/unit-of-work.ts';
import type { VaultFile } from './open-file.ts';
import type { Surroundings } from './surroundings.ts';

/** The disk, the mark and the checkpoints are those of a file: a vault in memory has none. */
export function storageParts(
  { connection, directory, damagedLog, keptLogs }: VaultFile,
  keyring: Keyring,
  { clock, onFault, emit }: Surroundings,
) {
  const mark = directory && new LogMark(directory.database, onFault);
  const guard = new RowGuard(connection, keyring, {
    onTampering: () => {
      // Listeners exist once all is wired, and the wiring itself may meet damage.
      queueMicrotask(
        owned(() => {
          emit({ kind: 'status' });
        }, onFault),
      );
    },
    onCommitted: (sequence) => {
      if (sequence !== undefined) mark?.note(connection, sequence);
      checkpoints?.committed();
    },
  });
  const storage =
    directory &&
    new Storage({
      directory: directory.path,
      file: directory.database,
      touch: () => {
        touchFile(connection);
      },
      now: () => clock.wall(),
      onChange: (trouble) => {
        logWarning(trouble?.problem ?? `${directory.database} can be written again.`);
        emit({ kind: 'status' });
      },
      onFault,
    });
  const units = new UnitOfWork(connection, guard, storage, {
    onGroup: (ms) => {
      turns.note('a transaction', ms);
    },
    isMoreComing: () => turns.isMoreComing || verifications.areUnderWay,
  });
  const turns: Turns = new Turns({ isBusy: () => units.isBusy });
  const verifications = new Verifications(() => turns.isMoreComing);
  if (keptLogs.length > 0 && directory !== undefined) {
    logWarning(describeKeptLogs(directory.database, keptLogs));
  }
  if (damagedLog !== undefined && directory !== undefined) {
    logWarning(describeLogDamage(directory.database, damagedLog));
  }
  const checkpoints = directory && new Checkpoints(connection, directory.database, onFault);
  return { guard, units, turns, verifications, storage, mark, checkpoints };
}

export type StorageParts = ReturnType<typeof storageParts>;

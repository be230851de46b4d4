/**
 * The disk fails while a vault signs: it reports errors, is full, or is read-only. The service stays up,
 * refuses by name, goes on once the disk recovers, and has all that it answered. The same request finds out
 * if an unanswered one was executed.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { activityOf, newWallet } from '../support/support.ts';
import { FaultyDisk, type DiskCall, type DiskFault } from './faulty-disk.ts';
import { atLength, report } from './length.ts';
import { ServedVault, Signing } from './served-vault.ts';

const rounds = atLength(4, 40);
const faults: readonly DiskFault[] = ['EIO', 'ENOSPC', 'EROFS', 'EDQUOT'];
const calls: readonly (readonly DiskCall[])[] = [
  ['write'],
  ['sync'],
  ['write', 'truncate', 'create'],
  ['write', 'sync'],
];

test.skipIf(process.platform !== 'linux')(
  `a disk that fails ${String(rounds)} times: the service says so, goes on after it, and has all that it answered`,
  { timeout: atLength(4, 30) * 60_000 },
  async () => {
    await using vault = await ServedVault.make();
    const disk = new FaultyDisk(vault.home, vault.directory);
    const { process: service, client } = await vault.serve(disk.environment);
    const wallet = await newWallet(client);
    const signing = new Signing(client, wallet, 4);
    let failed = 0;
    for (let round = 0; round < rounds; round++) {
      const fault = faults[round % faults.length] ?? 'EIO';
      const kinds = calls[Math.floor(round / faults.length + round) % calls.length] ?? ['write'];
      const before = signing.refused.length;
      disk.fail(kinds, fault, randomInt(30));
      await vi.waitFor(() => {
        expect(signing.refused.length, `${fault} of ${kinds.join(', ')}`).toBeGreaterThan(before);
      });
      await sleep(randomInt(300));
      failed += disk.heal();
      const answered = signing.answered.length;
      await vi.waitFor(() => {
        expect(signing.answered.length, 'it goes on once the disk does').toBeGreaterThan(answered + 4);
      });
    }
    await signing.stop();
    expect(signing.unanswered).toEqual([]);
    for (const { status, body } of signing.refused) {
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { turnkeyErrorCode: 'STORAGE_UNAVAILABLE' },
      });
    }
    expect(await service.stop('SIGKILL')).toBe('SIGKILL');

    const { client: again } = await vault.serve();
    for (const { id, fingerprint, result } of signing.answered) {
      const kept = activityOf(await again.query('get_activity', { activityId: id }));
      expect(kept).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED', fingerprint, result });
    }
    // A refused request was executed or was not, and none was executed twice.
    for (const { sent } of signing.refused.slice(-atLength(20, 500))) {
      const first = activityOf(await again.post('submit/sign_raw_payload', sent));
      expect(activityOf(await again.post('submit/sign_raw_payload', sent)).id).toBe(first.id);
    }
    report('I/O errors', {
      rounds,
      'calls that failed': failed,
      answers: signing.answered.length,
      refusals: signing.refused.length,
    });
  },
);

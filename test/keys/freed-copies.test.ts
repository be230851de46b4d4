/**
 * Searches the memory of a process that has opened many sealed records and erased each. The class is every copy that the platform
 * frees without erasing it: nothing overwrites such a copy once another object has its place and does not fill it.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seal } from '../../main/crypto/sealing.ts';
import { memoryObstacle, Needles, scanMemory } from './process-memory.ts';

const obstacle = memoryObstacle(process.pid);
const manyRecords = 2000;

test.skipIf(obstacle !== undefined)('an opened record leaves no copy in freed memory', async () => {
  const needles = new Needles();
  const masterKey = new Uint8Array(randomBytes(32));
  const random = (purpose: string, length: number): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array(randomBytes(length));
    if (purpose === 'sealing.data-key') needles.addBytes('data keys', bytes);
    return bytes;
  };
  const records = Array.from({ length: manyRecords }, (_, index) => {
    const secret = new Uint8Array(randomBytes(32 + (index % 100)));
    needles.addBytes('secrets', secret);
    const context = { table: 'private_keys', rowId: String(index), organizationId: '' };
    return Buffer.from(seal(masterKey, context, secret, random)).toString('hex');
  });
  const child = fork(join(import.meta.dirname, 'open-records.ts'));
  try {
    await once(child, 'message');
    const opened = once(child, 'message');
    child.send({ masterKey: Buffer.from(masterKey).toString('hex'), records });
    expect(await opened).toContain('opened');
    expect(scanMemory(child.pid ?? 0, needles).where).toEqual([]);
  } finally {
    child.kill('SIGKILL');
  }
});

/** When the head is signed, what the keychain keeps of it, and how a rolled-back file is refused. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { appendActivity } from '../storage/tables/activities.ts';
import { Connection } from '../storage/connection.ts';
import { RowGuard } from '../storage/integrity/guard.ts';
import { listLogHeads } from '../storage/tables/log-heads.ts';
import { migrate } from '../storage/migrations.ts';
import { UnitOfWork } from '../storage/unit-of-work.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import { Keyring } from '../keys/keyring.ts';
import { defaultPasswordCost } from '../keys/keyslots/password.ts';
import { openAnySlot } from '../keys/keyslots/slots.ts';
import { unlockVault } from '../keys/unlock.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import { requireVault } from '../storage/tables/vault.ts';
import { systemClock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { mnemonicFromEntropy } from '../crypto/keys/mnemonics.ts';
import { setUp } from '../app/create-vault.ts';
import { AuditLog } from './audit-log.ts';

const random = (_purpose: string, length: number): Uint8Array => new Uint8Array(randomBytes(length));
const recoveryPhrase = mnemonicFromEntropy(new Uint8Array(32).fill(7));

/** A keychain in memory that can refuse to answer; test/keys/keychain.test.ts uses a real one. */
class MemoryKeychain implements Keychain {
  readonly entries = new Map<string, Uint8Array>();
  failure: string | undefined;
  sets = 0;
  /** As on Linux: it answers as if it held nothing, and its owner opens it when asked to write. */
  isLocked = false;

  get(account: string): Promise<Uint8Array | undefined> {
    if (this.isLocked) return Promise.resolve(undefined);
    return this.#answer(this.entries.get(account)?.slice());
  }

  set(account: string, secret: Uint8Array): Promise<void> {
    this.isLocked = false;
    if (this.failure === undefined) this.entries.set(account, secret.slice());
    this.sets += 1;
    return this.#answer(undefined);
  }

  delete(account: string): Promise<void> {
    this.entries.delete(account);
    return this.#answer(undefined);
  }

  probe(): Promise<{ readonly available: true }> {
    this.isLocked = false;
    return Promise.resolve({ available: true });
  }

  #answer<T>(value: T): Promise<T> {
    return this.failure === undefined
      ? Promise.resolve(value)
      : Promise.reject(new KeyhearthError('INVALID_ARGUMENT', this.failure));
  }
}

let keychain: MemoryKeychain;
let faults: unknown[];

beforeEach(() => {
  keychain = new MemoryKeychain();
  faults = [];
});

/** A vault's parts over a database, which another run may have left. */
async function openParts(bytes?: Buffer) {
  const connection = Connection.open(':memory:');
  if (bytes === undefined) migrate(connection);
  else connection.restore(bytes);
  const keyring = new Keyring({ random, clock: systemClock });
  const guard = new RowGuard(connection, keyring);
  const units = new UnitOfWork(connection, guard);
  const log = new AuditLog({
    units,
    keyring,
    keychain,
    clock: systemClock,
    onFault: (fault) => faults.push(fault),
    mostUnsigned: 3,
    longestUnsigned: 60_000,
  });
  if (bytes === undefined) {
    await setUp(
      { units, guard, keyring, keychain, random, clock: systemClock, passwordCost: defaultPasswordCost },
      { organizationName: 'o', userName: 'u', useKeychain: true, recoveryPhrase, recoveryConfirmed: true },
    );
  }
  const vault = requireVault(connection);
  return {
    connection,
    keyring,
    log,
    anchor: (): { readonly sequence: number } | undefined => {
      const kept = keychain.entries.get(`${vault.id}/witness`);
      return kept === undefined
        ? undefined
        : (JSON.parse(Buffer.from(kept).toString()) as { readonly sequence: number });
    },
    setAnchor: (text: string) => keychain.entries.set(`${vault.id}/witness`, Buffer.from(text)),
    heads: () => listLogHeads(connection, -1, Number.MAX_SAFE_INTEGER).map(({ sequence }) => sequence),
    add: async (count: number, intent = '{}') => {
      for (let added = 0; added < count; added++) {
        const id = randomBytes(8).toString('hex');
        await units.write((tx) =>
          appendActivity(tx, {
            ...{ id, revision: 1, organizationId: vault.organizationId, type: 't', timestampMs: 1, intent },
            ...{ status: 'ACTIVITY_STATUS_COMPLETED', fingerprint: id, result: null, failure: null },
            ...{ votes: '[]', createdAt: 1, updatedAt: 1 },
          }),
        );
        log.noticed();
      }
    },
    unlock: async () => {
      const masterKey = await openAnySlot(vault.id, listKeyslots(connection), {
        with: 'recovery',
        phrase: recoveryPhrase,
      });
      await log.checkAnchor(masterKey);
      const aside = { signal: keyring.untilClosed, onProgress: () => undefined };
      await unlockVault({ units, guard, keyring, random }, masterKey, aside);
      await log.unlocked();
      await log.settled();
    },
    lock: async () => {
      log.signBeforeLock();
      keyring.lock();
      await log.settled();
    },
  };
}

/** A vault's parts over its database of three rows, where the keychain has the note of row 6. */
async function openOlder() {
  const vault = await openParts();
  await vault.add(3);
  const older = vault.connection.serialize();
  await vault.add(3);
  await vault.lock();
  return openParts(older);
}

const rolledBack = (message: RegExp): unknown =>
  expect.objectContaining({
    code: 'VAULT_ROLLED_BACK',
    message: expect.stringMatching(message) as string,
  });

describe('the head is signed', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('after so many rows, and the keychain hears of it', async () => {
    const { add, heads, log, anchor } = await openParts();
    await add(2);
    await log.settled();
    expect(heads()).toEqual([]);
    await add(1);
    await log.settled();
    expect(heads()).toEqual([3]);
    expect(anchor()).toMatchObject({ sequence: 3 });
    await add(6);
    await log.settled();
    expect(heads()).toEqual([3, 6, 9]);
    expect(anchor()).toMatchObject({ sequence: 9 });
    expect(await log.check()).toMatchObject({ rows: 9, signed: 9, findings: [] });
  });

  test('so long after the first row that is not, and not again without one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { add, heads, log } = await openParts();
    await add(1);
    await vi.advanceTimersByTimeAsync(30_000);
    await add(1);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(heads()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await log.settled();
    expect(heads()).toEqual([2]);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(heads()).toEqual([2]);
  });

  test('before the keys are erased, with what still waits for its commit', async () => {
    const { add, heads, keyring, log, anchor } = await openParts();
    const adding = add(1);
    log.signBeforeLock();
    keyring.lock();
    expect(heads()).toEqual([1]);
    await adding;
    await log.settled();
    expect(anchor()).toMatchObject({ sequence: 1 });
  });

  test('at the unlock, for rows that a crash left unsigned; and never without the key', async () => {
    const first = await openParts();
    await first.add(2);
    const bytes = first.connection.serialize();
    const { heads, log, unlock, anchor } = await openParts(bytes);
    await log.sign();
    log.noticed();
    expect(heads()).toEqual([]);
    expect(await log.check()).toMatchObject({ rows: 2, signed: 0, findings: [] });
    await unlock();
    expect(heads()).toEqual([2]);
    expect(anchor()).toMatchObject({ sequence: 2 });
    expect(faults).toEqual([]);
  });

  test('not over a log that is not the one that was signed', async () => {
    const { add, connection, heads, log } = await openParts();
    await add(3);
    await log.settled();
    connection.exec('DROP TRIGGER activities_no_delete; DELETE FROM activities WHERE sequence = 3');
    await add(2);
    await log.sign();
    expect(heads()).toEqual([3]);
    expect(faults).toEqual([
      expect.objectContaining({
        message:
          'entry 3 of the activity log is not the one that was signed: nothing more is signed; run `keyhearth audit verify`',
      }),
    ]);
  });
});

describe('the keychain’s note', () => {
  test('stands against an older file, until that is accepted', async () => {
    const { log, keyring, unlock, anchor } = await openOlder();
    await expect(unlock()).rejects.toEqual(
      rolledBack(
        /^the vault's file is older than one that was used here: its log ends at entry 3, and the keychain holds a note, signed on .*Z, of entry 6\. Put the newer file .*`keyhearth audit accept-rollback`/,
      ),
    );
    expect(keyring.unlocked).toBe(false);

    const wrong = log.findRollback({ with: 'recovery', phrase: `${'abandon '.repeat(23)}art` });
    await expect(wrong).rejects.toMatchObject({ code: 'WRONG_SECRET' });
    const rollback = await log.findRollback({ with: 'recovery', phrase: recoveryPhrase });
    expect(rollback?.problem).toMatch(/^the vault's file is older/);
    expect(anchor()).toMatchObject({ sequence: 6 });
    await rollback?.accept();
    await unlock();
    // The keychain knows the older file from now on.
    expect(anchor()).toMatchObject({ sequence: 3 });
    expect(await log.findRollback({ with: 'recovery', phrase: recoveryPhrase })).toBeUndefined();
  });

  test('stands against a file that went on from an older one', async () => {
    const other = await openOlder();
    const kept = new Map(keychain.entries);
    for (const name of keychain.entries.keys()) if (name.endsWith('witness')) keychain.entries.delete(name);
    await other.unlock();
    await other.add(9, '{"other":true}');
    await other.lock();
    for (const [name, entry] of kept) keychain.entries.set(name, entry);
    await expect(other.unlock()).rejects.toEqual(
      rolledBack(/^the vault's file is not the one that was used here last: its log has another entry 6, /),
    );
  });

  test.each([
    ['no JSON', /cannot be read/],
    ['{}', /cannot be read/],
  ])('that is damaged is refused, and not passed over: %s', async (text, message) => {
    const { add, lock, setAnchor, unlock } = await openParts();
    await add(3);
    await lock();
    setAnchor(text);
    await expect(unlock()).rejects.toEqual(rolledBack(message));
  });

  test('that another signed is refused', async () => {
    const { add, lock, setAnchor, unlock, anchor } = await openParts();
    await add(3);
    await lock();
    setAnchor(JSON.stringify({ ...anchor(), sequence: 2 }));
    await expect(unlock()).rejects.toEqual(rolledBack(/is not signed by this vault/));
  });

  test('a row that a crash kept from the disk is not a reason to refuse', async () => {
    const vault = await openParts();
    await vault.add(3);
    await vault.log.settled();
    keychain.failure = 'The keychain is out.';
    await vault.add(3);
    await vault.lock();
    expect(vault.anchor()).toMatchObject({ sequence: 3 });
    const { log, anchor, unlock } = await openParts(vault.connection.serialize());
    keychain.failure = undefined;
    await unlock();
    expect(anchor()).toMatchObject({ sequence: 6 });
    await log.settled();
  });

  test('that the keychain did not take is offered again before the vault is locked', async () => {
    const vault = await openParts();
    keychain.failure = 'The keychain is out.';
    await vault.add(3);
    await vault.log.settled();
    expect(vault.log.state().witness).toEqual({ obstacle: 'The keychain is out.' });
    keychain.failure = undefined;
    await vault.add(3);
    await vault.log.settled();
    expect(vault.anchor()).toMatchObject({ sequence: 6 });
    keychain.failure = 'The keychain is out.';
    await vault.add(3);
    await vault.log.settled();
    keychain.failure = undefined;
    await vault.lock();
    expect(vault.anchor()).toMatchObject({ sequence: 9 });
  });

  test('is made up for at the unlock', async () => {
    const vault = await openParts();
    await vault.add(6);
    await vault.lock();
    for (const name of keychain.entries.keys()) if (name.endsWith('witness')) keychain.entries.delete(name);
    await vault.unlock();
    expect(vault.anchor()).toMatchObject({ sequence: 6 });
  });

  test('is asked again before it is written over, where the keychain did not answer at the unlock', async () => {
    const other = await openOlder();
    keychain.failure = 'The keychain is locked.';
    await other.unlock();
    expect(other.keyring.unlocked).toBe(true);
    expect(other.log.state().witness).toEqual({ obstacle: 'The keychain is locked.' });
    keychain.failure = undefined;
    await other.add(3);
    await other.log.settled();
    expect(other.anchor()).toMatchObject({ sequence: 6 });
    expect(other.keyring.unlocked).toBe(false);
    expect(faults).toEqual([rolledBack(/its log has another entry 6/)]);
  });

  test('is not written over where the keychain was locked, and answered as if it held none', async () => {
    const other = await openOlder();
    keychain.isLocked = true;
    await other.unlock();
    expect(other.anchor()).toMatchObject({ sequence: 6 });
    expect(other.keyring.unlocked).toBe(false);
    expect(faults).toContainEqual(rolledBack(/its log ends at entry 3, .* of entry 6/));
  });

  test('is written once for heads that come faster than the keychain answers', async () => {
    const { add, log, anchor } = await openParts();
    const before = keychain.sets;
    await add(30);
    await log.settled();
    expect(anchor()).toMatchObject({ sequence: 30 });
    expect(keychain.sets - before).toBeLessThanOrEqual(10);
    expect(log.state()).toMatchObject({ rows: 30, head: { sequence: 30 }, witness: { sequence: 30 } });
  });
});

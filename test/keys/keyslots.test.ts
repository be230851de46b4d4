/**
 * Changes of the ways to open a vault while it runs: every change, every refusal, and the remains in the
 * file.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { mnemonicFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { Connection } from '../../main/storage/connection.ts';
import { listKeychainLeftovers } from '../../main/storage/tables/keychain-leftovers.ts';
import { listKeyslots } from '../../main/storage/tables/keyslots.ts';
import { migrate } from '../../main/storage/migrations.ts';
import { ethereumNodeContext, putNode } from '../../main/storage/tables/ethereum-nodes.ts';
import { forEachSealedRecord, sealedColumns } from '../../main/storage/sealed-records.ts';
import { defaultPasswordCost } from '../../main/keys/keyslots/password.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { openVault } from '../../main/app/compose.ts';
import type { Substitutes } from '../../main/app/compose.ts';
import { issueOneTimeCode } from '../../main/operations/sign-in/one-time-codes.ts';
import type { Keyslot, KeyslotChange, Keyslots, ProveWith, UnlockWith } from '../../preload/contract.ts';
import {
  memoryKeychain,
  newWallet,
  resultOf,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import { newSecret } from '../support/new-secret.ts';
import type { TestVault } from '../support/support.ts';

const password = 'the first password';
const proof: ProveWith = { with: 'password', password };

/** Also what cannot be a secret of its kind: it opens nothing. */
const isWrongSecret =
  /does not open this vault|This vault has no .* to unlock it with|invalid (?:recovery phrase|share at \d+): /;

const refused = (
  message: string | RegExp,
  code = isWrongSecret.test(String(message)) ? 'WRONG_SECRET' : 'INVALID_ARGUMENT',
): unknown =>
  expect.objectContaining({
    code,
    message: typeof message === 'string' ? message : (expect.stringMatching(message) as unknown),
  });

const kinds = ({ keyslots }: Keyslots): string[] => keyslots.map(({ kind }) => kind);

function slotOf({ keyslots }: Keyslots, kind: Keyslot['kind'], position = 0): Keyslot {
  const slot = keyslots.filter((each) => each.kind === kind)[position];
  if (slot === undefined) throw new Error(`there is no ${kind} slot at ${String(position)}`);
  return slot;
}

let chain: ReturnType<typeof memoryKeychain>;

beforeEach(() => {
  chain = memoryKeychain();
});

/** A vault with a password, a phrase and, unless said otherwise, the keychain's slot. */
async function start(withKeychain = true, more: Substitutes = {}): Promise<TestVault> {
  const service = await startTestVault({ password, substitutes: { keychain: chain.keychain, ...more } });
  if (withKeychain) await service.vault.rpc.changeKeyslots({ do: 'addKeychain', proof });
  return service;
}

const change = (service: TestVault, asked: KeyslotChange): Promise<Keyslots> =>
  service.vault.rpc.changeKeyslots(asked);

const phraseProof = (service: TestVault): ProveWith => ({ with: 'recovery', phrase: service.recoveryPhrase });

const wordsOf = (phrase: string) => phrase.split(' ').map((word, index) => ({ position: index + 1, word }));

/** Of no phrase that was generated. */
const someWords = [1, 2, 3].map((position) => ({ position, word: 'abandon' }));

async function opensWith(service: TestVault, how: UnlockWith): Promise<boolean> {
  const { rpc } = service.vault;
  await rpc.lock();
  const opened = await rpc.unlock(how).then(
    () => true,
    () => false,
  );
  if (!opened) await rpc.unlock({ with: 'recovery', phrase: service.recoveryPhrase });
  return opened;
}

/** Signs with a wallet of the vault: its sealed records open. */
async function signs(service: TestVault, signWith: string): Promise<boolean> {
  const answer = await service.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith,
    payload: randomBytes(8).toString('hex'),
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_SHA256',
  });
  return answer.status === 200;
}

describe('keyslots', () => {
  test('are listed with their age, also while the vault is locked', async () => {
    await using service = await start();
    const { rpc } = service.vault;
    const listed = await rpc.keyslots();
    expect(kinds(listed)).toEqual(['recovery', 'password', 'keychain']);
    expect(listed.vaultId).toMatch(/^[0-9a-f-]{36}$/);
    expect(slotOf(listed, 'recovery').confirmedAt).toEqual(expect.any(Number));
    expect(slotOf(listed, 'password')).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      kind: 'password',
      createdAt: expect.any(Number) as unknown,
      confirmedAt: null,
    });
    await rpc.lock();
    expect(await rpc.keyslots()).toEqual(listed);
    expect(JSON.stringify(listed)).not.toContain('wrapped');
  });

  test('no password comes twice, so that none stays behind where it is removed', async () => {
    await using service = await start(false);
    const second = 'another password';
    const add = () => change(service, { do: 'addPassword', proof, password: second });
    const known = refused('This password opens this vault already.', 'ALREADY_EXISTS');
    const added = await add();
    await expect(add()).rejects.toEqual(known);
    const keyslotId = slotOf(added, 'password').id;
    await expect(
      change(service, { do: 'changePassword', proof, keyslotId, password: second }),
    ).rejects.toEqual(known);
    expect(await service.vault.rpc.keyslots()).toEqual(added);
    // A change to what the slot has already is one.
    const same = { do: 'changePassword', proof, keyslotId, password } as const;
    expect(kinds(await change(service, same))).toEqual(['recovery', 'password', 'password']);
  });

  test('a second password opens beside the first, and either goes', async () => {
    await using service = await start(false);
    const second = 'another password';
    const added = await change(service, { do: 'addPassword', proof, password: second });
    expect(kinds(added)).toEqual(['recovery', 'password', 'password']);
    expect(await opensWith(service, { with: 'password', password: second })).toBe(true);
    expect(await opensWith(service, proof)).toBe(true);
    const keyslotId = slotOf(added, 'password').id;
    const left = await change(service, {
      do: 'remove',
      proof: { with: 'password', password: second },
      keyslotId,
    });
    expect(kinds(left)).toEqual(['recovery', 'password']);
    expect(await opensWith(service, proof)).toBe(false);
    expect(await opensWith(service, { with: 'password', password: second })).toBe(true);
  });

  test('a password that is changed no longer opens the vault, and the new one does', async () => {
    await using service = await start();
    const before = await service.vault.rpc.keyslots();
    const keyslotId = slotOf(before, 'password').id;
    const after = await change(service, {
      do: 'changePassword',
      proof,
      keyslotId,
      password: 'the second password',
    });
    expect(kinds(after).sort()).toEqual(['keychain', 'password', 'recovery']);
    expect(slotOf(after, 'password').id).not.toBe(keyslotId);
    expect(await opensWith(service, proof)).toBe(false);
    expect(await opensWith(service, { with: 'password', password: 'the second password' })).toBe(true);
    expect(await opensWith(service, { with: 'keychain' })).toBe(true);
  });

  test('what is changed or removed is gone from the file, not merely from the list', async () => {
    await using service = await start();
    const wrapped = (): Buffer[] =>
      service.vault.units.read(listKeyslots).map((slot) => Buffer.from(slot.wrapped));
    const before = wrapped();
    const { rpc } = service.vault;
    const listed = await rpc.keyslots();
    const changed = 'the second password';
    await change(service, {
      do: 'changePassword',
      proof,
      keyslotId: slotOf(listed, 'password').id,
      password: changed,
    });
    const then = { with: 'password', password: changed } as const;
    for (const kind of ['recovery', 'keychain'] as const) {
      await change(service, { do: 'remove', proof: then, keyslotId: slotOf(listed, kind).id });
    }
    const [left] = wrapped();
    for (const name of ['vault.db', 'vault.db-wal']) {
      const bytes = readFileSync(join(service.directory, name));
      for (const old of before) expect(bytes.includes(old), name).toBe(false);
    }
    expect(readFileSync(join(service.directory, 'vault.db')).includes(left ?? 'missing')).toBe(true);
  });

  test('the keychain is added once, and its entry goes with its slot', async () => {
    await using service = await start();
    expect(chain.entries.size).toBe(1);
    expect(await opensWith(service, { with: 'keychain' })).toBe(true);
    await expect(change(service, { do: 'addKeychain', proof })).rejects.toEqual(
      refused('The keychain of this computer opens this vault already.', 'ALREADY_EXISTS'),
    );
    expect(chain.entries.size).toBe(1);
    const keyslotId = slotOf(await service.vault.rpc.keyslots(), 'keychain').id;
    await change(service, { do: 'remove', proof, keyslotId });
    expect(chain.entries.size).toBe(0);
    expect(await opensWith(service, { with: 'keychain' })).toBe(false);
    expect(service.vault.units.read(listKeychainLeftovers)).toEqual([]);
  });

  test('a keychain that takes nothing leaves nothing', async () => {
    chain.keychain.set = () => Promise.reject(new Error('no'));
    await using service = await start(false);
    const before = await service.vault.rpc.keyslots();
    await expect(change(service, { do: 'addKeychain', proof })).rejects.toThrow('no');
    expect(await service.vault.rpc.keyslots()).toEqual(before);
    expect(service.vault.units.read(listKeychainLeftovers)).toEqual([]);
  });

  test('a new recovery phrase is generated, checked and replaces the old one, whose shares then open nothing', async () => {
    await using service = await start();
    const { rpc } = service.vault;
    const [sheet] = await rpc.recoverySheet({
      phrase: service.recoveryPhrase,
      shares: { threshold: 2, count: 3 },
    });
    expect(sheet?.secret.kind).toBe('share');
    const sheets = await rpc.recoverySheet({
      phrase: service.recoveryPhrase,
      shares: { threshold: 2, count: 3 },
    });
    const shares = sheets.map(({ code }) => code).slice(1);
    expect(await opensWith(service, { with: 'shares', shares })).toBe(true);

    const keyslotId = slotOf(await rpc.keyslots(), 'recovery').id;
    await expect(
      change(service, { do: 'changeRecovery', proof, keyslotId, keptWords: someWords }),
    ).rejects.toEqual(refused('no recovery phrase was generated: request one, write it down, then add it'));
    const { phrase } = await rpc.newRecoveryPhrase();
    const words = phrase.split(' ');
    const confirm = (positions: readonly number[]) =>
      positions.map((position) => ({ position, word: words[position - 1] ?? '' }));
    await expect(
      change(service, {
        do: 'changeRecovery',
        proof,
        keyslotId,
        confirmedWords: [...confirm([1, 2]), { position: 3, word: 'zebra' }],
      }),
    ).rejects.toEqual(refused('word 3 is not the one of the recovery phrase'));
    const after = await change(service, {
      do: 'changeRecovery',
      proof,
      keyslotId,
      confirmedWords: confirm([1, 7, 24]),
    });
    expect(kinds(after).sort()).toEqual(['keychain', 'password', 'recovery']);
    expect(slotOf(after, 'recovery').confirmedAt).not.toBeNull();
    for (const how of [phraseProof(service), { with: 'shares', shares }] as const) {
      await rpc.lock();
      await expect(rpc.unlock(how)).rejects.toEqual(refused('The recovery phrase does not open this vault.'));
    }
    await rpc.unlock({ with: 'recovery', phrase });
    // A generated phrase is used once.
    await expect(change(service, { do: 'addRecovery', proof, keptWords: someWords })).rejects.toEqual(
      refused(/^no recovery phrase was generated/),
    );
  });

  test('a generated phrase is forgotten when the vault is locked', async () => {
    await using service = await start(false);
    await service.vault.rpc.newRecoveryPhrase();
    await opensWith(service, proof);
    await expect(change(service, { do: 'addRecovery', proof, keptWords: someWords })).rejects.toEqual(
      refused(/^no recovery phrase was generated/),
    );
  });

  test('a phrase that was not checked is not called kept, until it is checked', async () => {
    await using service = await start(false);
    const { rpc } = service.vault;
    const { phrase } = await rpc.newRecoveryPhrase();
    const added = await change(service, { do: 'addRecovery', proof, keptWords: wordsOf(phrase) });
    expect(kinds(added)).toEqual(['recovery', 'password', 'recovery']);
    expect(slotOf(added, 'recovery', 1).confirmedAt).toBeNull();
    const checked = await rpc.checkRecovery({ with: 'recovery', phrase: phrase.toUpperCase() });
    expect(slotOf(checked, 'recovery', 1).confirmedAt).toEqual(expect.any(Number));
  });
});

describe('a change is refused', () => {
  test('for a phrase that another window has generated since, also where no person is asked', async () => {
    await using service = await start(false);
    const { rpc } = service.vault;
    const first = wordsOf((await rpc.newRecoveryPhrase()).phrase);
    const { phrase } = await rpc.newRecoveryPhrase();
    const before = service.vault.units.read(listKeyslots);
    const keyslotId = slotOf(await rpc.keyslots(), 'recovery').id;
    for (const words of [{ keptWords: first }, { confirmedWords: first }]) {
      await expect(change(service, { do: 'changeRecovery', proof, keyslotId, ...words })).rejects.toEqual(
        refused(/^word \d+ is not the one of the recovery phrase$/),
      );
    }
    const none = { do: 'changeRecovery', proof, keyslotId } as never;
    await expect(change(service, none)).rejects.toEqual(refused(/^missing field change\.confirmedWords/));
    expect(service.vault.units.read(listKeyslots)).toEqual(before);
    await change(service, { do: 'changeRecovery', proof, keyslotId, keptWords: wordsOf(phrase) });
    expect(await opensWith(service, { with: 'recovery', phrase })).toBe(true);
  });

  test('without a secret but the keychain, for every kind of change', async () => {
    await using service = await start();
    const { id } = slotOf(await service.vault.rpc.keyslots(), 'password');
    const keptWords = wordsOf((await service.vault.rpc.newRecoveryPhrase()).phrase);
    const changes = [
      { do: 'addPassword', password: 'new password' },
      { do: 'addKeychain' },
      { do: 'addRecovery', keptWords },
      { do: 'changePassword', keyslotId: id, password: 'new password' },
      { do: 'changeRecovery', keyslotId: id, keptWords },
      { do: 'remove', keyslotId: id },
      { do: 'rotate', secrets: [], dropOthers: true },
    ];
    const before = service.vault.units.read(listKeyslots);
    const wrong: [unknown, RegExp][] = [
      [undefined, /^missing field change\.proof/],
      [{ with: 'keychain' }, /^invalid change\.proof\.with: expected one of password, recovery, shares/],
      [{ with: 'password', password: 'wrong' }, /^The password does not open this vault\.$/],
      [
        { with: 'recovery', phrase: `${'abandon '.repeat(23)}art` },
        /^The recovery phrase does not open this vault\.$/,
      ],
      [{ with: 'recovery', phrase: 'abandon' }, /^invalid recovery phrase: expected 24 words, got 1$/],
      [{ with: 'shares', shares: ['lkshare1qqqq'] }, /^invalid share at 1: its checksum does not match/],
    ];
    for (const asked of changes) {
      for (const [given, message] of wrong) {
        await expect(change(service, { ...asked, proof: given } as never), asked.do).rejects.toEqual(
          refused(message),
        );
      }
    }
    expect(service.vault.units.read(listKeyslots)).toEqual(before);
  });

  test('in a locked vault, whatever is shown', async () => {
    await using service = await start();
    const { rpc } = service.vault;
    const { id } = slotOf(await rpc.keyslots(), 'password');
    await rpc.newRecoveryPhrase();
    await rpc.lock();
    const before = service.vault.units.read(listKeyslots);
    for (const asked of [
      { do: 'addPassword', proof, password: 'new password' },
      { do: 'addKeychain', proof },
      { do: 'addRecovery', proof, keptWords: someWords },
      { do: 'remove', proof, keyslotId: id },
      { do: 'rotate', proof, secrets: [phraseProof(service)], dropOthers: true },
    ] satisfies KeyslotChange[]) {
      await expect(change(service, asked)).rejects.toEqual(refused(/^The vault is locked/, 'VAULT_LOCKED'));
    }
    // The check says what it found, and notes nothing.
    await rpc.checkRecovery({ with: 'recovery', phrase: service.recoveryPhrase });
    expect(service.vault.units.read(listKeyslots)).toEqual(before);
  });

  test('if the vault is locked while a slot is created', async () => {
    await using service = await start(false);
    const before = service.vault.units.read(listKeyslots);
    const adding = change(service, { do: 'addPassword', proof, password: 'new password' });
    const rotating = change(service, {
      do: 'rotate',
      proof,
      secrets: [phraseProof(service)],
      dropOthers: false,
    });
    await service.vault.rpc.lock();
    for (const outcome of await Promise.allSettled([adding, rotating])) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'VAULT_LOCKED' } });
    }
    expect(service.vault.units.read(listKeyslots)).toEqual(before);
  });

  test('that would leave the keychain alone, or nothing', async () => {
    await using service = await start();
    const listed = await service.vault.rpc.keyslots();
    await change(service, { do: 'remove', proof, keyslotId: slotOf(listed, 'recovery').id });
    const last = { do: 'remove', proof, keyslotId: slotOf(listed, 'password').id } as const;
    const message =
      /^The password cannot be removed: without it only the keychain could open this vault, or nothing\./;
    await expect(change(service, last)).rejects.toEqual(refused(message));
    await change(service, { do: 'remove', proof, keyslotId: slotOf(listed, 'keychain').id });
    await expect(change(service, last)).rejects.toEqual(refused(message));
    expect(await service.vault.rpc.unlock(proof)).toMatchObject({ state: 'unlocked' });
  });

  test('of two that each would be the last but one, both at once: one is done', async () => {
    await using service = await start();
    const listed = await service.vault.rpc.keyslots();
    const both = await Promise.allSettled(
      (['recovery', 'password'] as const).map((kind) =>
        change(service, { do: 'remove', proof, keyslotId: slotOf(listed, kind).id }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(kinds(await service.vault.rpc.keyslots())).toHaveLength(2);
  });

  test('of a slot that is not there, or is of another kind', async () => {
    await using service = await start();
    const listed = await service.vault.rpc.keyslots();
    const nowhere = refused('There is no keyslot "nowhere" in this vault.', 'NOT_FOUND');
    await expect(change(service, { do: 'remove', proof, keyslotId: 'nowhere' })).rejects.toEqual(nowhere);
    await expect(
      change(service, { do: 'changePassword', proof, keyslotId: 'nowhere', password: 'new password' }),
    ).rejects.toEqual(nowhere);
    for (const kind of ['recovery', 'keychain'] as const) {
      const keyslotId = slotOf(listed, kind).id;
      await expect(
        change(service, { do: 'changePassword', proof, keyslotId, password: 'new password' }),
      ).rejects.toEqual(refused(/it cannot be changed in this way\.$/));
    }
    await expect(
      change(service, {
        do: 'changePassword',
        proof,
        keyslotId: slotOf(listed, 'password').id,
        password: 'seven77',
      }),
    ).rejects.toEqual(refused(/expected 8 to 1024 characters, got 7$/));
    expect(await service.vault.rpc.keyslots()).toEqual(listed);
  });
});

describe('a new master key', () => {
  /** A vault with something in each table that holds sealed records. */
  async function fill(service: TestVault): Promise<string> {
    const { ethereum } = await newWallet(service.root);
    const keys = [{ privateKeyName: 'k', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }];
    resultOf(
      await service.root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys: keys }),
    );
    const { rootUserId: userId, organizationId } = service;
    resultOf(await service.root.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId }));
    await newSecret(service.root, 'Token');
    const { units, keyring } = service.vault;
    const random = (_purpose: string, length: number): Uint8Array => Uint8Array.from(randomBytes(length));
    await units.write((tx) =>
      issueOneTimeCode(
        { tx, keys: keyring, organizationId, random, now: Date.now() },
        { purpose: 'sign in', userId, contact: { channel: 'email', address: 'root@example.org' } },
      ),
    );
    const { rpc, outbox } = service.vault;
    await rpc.changeMessages({ channel: 'desktop', on: true });
    await units.write((tx) =>
      outbox.enqueue(tx, { organizationId, kind: 'kept', reference: '{}', payload: randomBytes(8) }),
    );
    await units.write((tx) => {
      const [chainId, origin] = ['1', 'https://node.example.org'];
      const sealed = keyring.seal(ethereumNodeContext(chainId), Buffer.from(`${origin}/key`));
      putNode(tx, { chainId, origin, sealed, updatedAt: Date.now(), previews: null });
    });
    return ethereum;
  }

  const sealedOf = (service: TestVault): Map<string, Buffer> => {
    const records = new Map<string, Buffer>();
    service.vault.units.read((tx) => {
      forEachSealedRecord(tx, ({ table, rowId }, sealed) =>
        records.set(`${table} ${rowId}`, Buffer.from(sealed)),
      );
    });
    return records;
  };

  test('is under every sealed record and every kept slot, and leaves the old ones nowhere in the file', async () => {
    await using service = await start();
    const address = await fill(service);
    const { rpc, units, keyring } = service.vault;
    const [before, oldSlots] = [sealedOf(service), units.read(listKeyslots)];
    const [oldEntry] = chain.entries.keys();
    expect(new Set([...before.keys()].map((name) => name.split(' ')[0]))).toEqual(
      new Set(sealedColumns.map(({ table }) => table)),
    );
    const after = await change(service, {
      do: 'rotate',
      proof,
      secrets: [phraseProof(service)],
      dropOthers: false,
    });

    const records = sealedOf(service);
    expect([...records.keys()]).toEqual([...before.keys()]);
    for (const [name, sealed] of records) {
      const old = before.get(name);
      // The wrapped data key is another; the secret under the data key is the same.
      expect(sealed.subarray(0, 61), name).not.toEqual(old?.subarray(0, 61));
      expect(sealed.subarray(61), name).toEqual(old?.subarray(61));
    }
    units.read((tx) => {
      forEachSealedRecord(tx, (place, sealed) => keyring.open(place, sealed).fill(0));
    });
    expect(await signs(service, address)).toBe(true);

    // The password's slot and the phrase's are the same to their owner; the keychain's is new, and so is its entry.
    const ofKind = (slots: Keyslots, kind: Keyslot['kind']): Keyslot => slotOf(slots, kind);
    const listed = { vaultId: '', keyslots: oldSlots };
    for (const kind of ['password', 'recovery'] as const) {
      expect(ofKind(after, kind)).toMatchObject({
        id: ofKind(listed, kind).id,
        createdAt: ofKind(listed, kind).createdAt,
      });
    }
    expect(ofKind(after, 'keychain').id).not.toBe(ofKind(listed, 'keychain').id);
    expect([...chain.entries.keys()]).toEqual([`${after.vaultId}/${ofKind(after, 'keychain').id}`]);
    expect(chain.entries.has(oldEntry ?? '')).toBe(false);
    for (const how of [proof, phraseProof(service), { with: 'keychain' }] as const) {
      expect(await opensWith(service, how), how.with).toBe(true);
      expect(await signs(service, address), how.with).toBe(true);
    }

    // An attacker with the old master key and the new file finds nothing that it wrapped.
    await rpc.lock();
    const files = ['vault.db', 'vault.db-wal']
      .map((name) => join(service.directory, name))
      .filter(existsSync);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const bytes = readFileSync(file);
      for (const [name, sealed] of before) {
        expect(bytes.includes(sealed.subarray(1, 61)), `${name} in ${file}`).toBe(false);
      }
      for (const { kind, wrapped } of oldSlots) {
        expect(bytes.includes(Buffer.from(wrapped)), `${kind} in ${file}`).toBe(false);
      }
    }
  });

  test('goes with what is sealed meanwhile: nothing is under the old key after it', async () => {
    // Sealing goes on while the slots are created, which is slow at the full cost alone.
    await using service = await start(false, { passwordCost: defaultPasswordCost });
    const { units, keyring } = service.vault;
    const stop = { asked: false };
    const wallets: string[] = [];
    const making = (async () => {
      // An organization has 100 wallets at most.
      for (let count = 0; !stop.asked && count < 90; count += 1) {
        const { ethereum } = await newWallet(service.root, `Wallet ${String(count)}`);
        wallets.push(ethereum);
      }
    })();
    const secrets = [phraseProof(service)];
    for (let round = 0; round < 4; round += 1) {
      await change(service, { do: 'rotate', proof, secrets, dropOthers: false });
    }
    stop.asked = true;
    await making;
    expect(wallets.length).toBeGreaterThan(4);
    let count = 0;
    units.read((tx) => {
      forEachSealedRecord(tx, (place, sealed) => {
        keyring.open(place, sealed).fill(0);
        count += 1;
      });
    });
    // Five server keys and the row key.
    expect(count).toBe(6 + wallets.length);
  });

  test('names the slots that would go, and lets them go when told so', async () => {
    await using service = await start();
    const listed = await service.vault.rpc.keyslots();
    await change(service, { do: 'addPassword', proof, password: 'another password' });
    const rotate = { do: 'rotate', proof, secrets: [], dropOthers: false } as const;
    await expect(change(service, rotate)).rejects.toEqual(
      refused(
        new RegExp(
          `^These keyslots would stop working, because their secrets were not given: a recovery phrase \\(${slotOf(listed, 'recovery').id}\\), a password \\(`,
        ),
      ),
    );
    await expect(
      change(service, { ...rotate, secrets: [{ with: 'password', password: 'neither' }] }),
    ).rejects.toEqual(refused('The password does not open this vault.'));
    const after = await change(service, { ...rotate, dropOthers: true });
    expect(kinds(after).sort()).toEqual(['keychain', 'password']);
    await service.vault.rpc.lock();
    await expect(service.vault.rpc.unlock(phraseProof(service))).rejects.toEqual(
      refused(/^This vault has no recovery phrase to unlock it with/),
    );
    await service.vault.rpc.unlock({ with: 'keychain' });
  });

  test('takes shares for the phrase, and one secret twice', async () => {
    await using service = await start(false);
    const sheets = await service.vault.rpc.recoverySheet({
      phrase: service.recoveryPhrase,
      shares: { threshold: 3, count: 5 },
    });
    const shares = sheets.map(({ code }) => code).slice(2);
    const after = await change(service, {
      do: 'rotate',
      proof: { with: 'shares', shares },
      secrets: [proof, proof],
      dropOthers: false,
    });
    expect(kinds(after)).toEqual(['recovery', 'password']);
    expect(await opensWith(service, { with: 'shares', shares })).toBe(true);
  });

  test('a keychain of another computer counts as not given', async () => {
    await using service = await start();
    chain.entries.clear();
    const rotate = { do: 'rotate', proof, secrets: [phraseProof(service)], dropOthers: false } as const;
    await expect(change(service, rotate)).rejects.toEqual(refused(/not given: a keychain \(/));
    expect(kinds(await change(service, { ...rotate, dropOthers: true })).sort()).toEqual([
      'password',
      'recovery',
    ]);
    // Here is a keychain again, and so it may be added.
    await change(service, { do: 'addKeychain', proof });
    expect(await opensWith(service, { with: 'keychain' })).toBe(true);
  });

  test('an unlocking that was on its way with the old key is refused', async () => {
    await using service = await start(false);
    const { rpc } = service.vault;
    const secrets = [phraseProof(service)];
    const outcomes = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const rotating = change(service, { do: 'rotate', proof, secrets, dropOthers: false });
      const unlocking = Array.from({ length: 4 }, (_, index) =>
        new Promise((resolve) => setTimeout(resolve, index * 60)).then(() => rpc.unlock(proof)),
      );
      for (const outcome of await Promise.allSettled(unlocking)) {
        outcomes.add(outcome.status);
        if (outcome.status === 'rejected')
          expect(outcome.reason).toEqual(refused(/^This keyslot holds a master key/));
      }
      await rotating;
      service.vault.units.read((tx) => {
        forEachSealedRecord(tx, (place, sealed) => service.vault.keyring.open(place, sealed).fill(0));
      });
    }
    expect(outcomes.has('fulfilled')).toBe(true);
  });

  test('a slot of an earlier key, put back into the file, does not open it', async () => {
    await using service = await start(false);
    const [old] = service.vault.units.read(listKeyslots).filter(({ kind }) => kind === 'password');
    await change(service, { do: 'rotate', proof, secrets: [phraseProof(service)], dropOthers: false });
    await service.vault.units.write((tx) => {
      tx.run(
        'UPDATE keyslots SET wrapped = ?, parameters = ? WHERE id = ?',
        old?.wrapped ?? null,
        old?.parameters ?? null,
        old?.id ?? null,
      );
    });
    await service.vault.rpc.lock();
    await expect(service.vault.rpc.unlock(proof)).rejects.toEqual(
      refused(/^This keyslot holds a master key that the vault’s records are not sealed under/),
    );
    expect((await service.vault.rpc.status()).state).toBe('locked');
    await service.vault.rpc.unlock(phraseProof(service));
  });

  test('an old copy of the file opens with its own slots', async () => {
    using elsewhere = temporaryDirectory();
    await using service = await start(false);
    const address = await fill(service);
    const old = join(elsewhere.path, 'old');
    const copy = openCopyDirectory(old);
    service.vault.connection.emptyLog();
    copyFileSync(join(service.directory, 'vault.db'), copy);

    const changed = 'the second password';
    const listed = await change(service, {
      do: 'rotate',
      proof,
      secrets: [phraseProof(service)],
      dropOthers: false,
    });
    await change(service, {
      do: 'changePassword',
      proof,
      keyslotId: slotOf(listed, 'password').id,
      password: changed,
    });
    const { phrase } = await service.vault.rpc.newRecoveryPhrase();
    await change(service, {
      do: 'changeRecovery',
      proof: { with: 'password', password: changed },
      keyslotId: slotOf(listed, 'recovery').id,
      keptWords: wordsOf(phrase),
    });

    const vault = openVault(makeConfig({ dataDir: old, keychain: false }, {}));
    try {
      for (const how of [
        { with: 'password', password: changed },
        { with: 'recovery', phrase },
      ] as const) {
        await expect(vault.rpc.unlock(how)).rejects.toEqual(refused(/does not open this vault\.$/));
      }
      for (const how of [proof, phraseProof(service)]) {
        await vault.rpc.unlock(how);
        vault.units.read((tx) => {
          forEachSealedRecord(tx, (place, sealed) => vault.keyring.open(place, sealed).fill(0));
        });
        await vault.rpc.lock();
      }
    } finally {
      vault.close();
    }
    expect(await signs(service, address)).toBe(true);
  });
});

function openCopyDirectory(directory: string): string {
  const vault = openVault(makeConfig({ dataDir: directory, keychain: false }, {}));
  vault.close();
  return join(directory, 'vault.db');
}

test('the table of sealed columns is that of the schema', () => {
  const connection = Connection.open(':memory:');
  try {
    migrate(connection);
    const columns = connection.all<{ table: string; column: string }>(
      `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
       WHERE m.type = 'table' AND c.name LIKE '%sealed%' ORDER BY m.name, c.name`,
    );
    expect(columns.length).toBeGreaterThan(4);
    expect(
      sealedColumns
        .map(({ table, column }) => ({ table, column }))
        .sort((a, b) => (a.table < b.table ? -1 : 1)),
    ).toEqual(columns);
  } finally {
    connection.close();
  }
});

describe('what a change left in the keychain', () => {
  const tail = (service: TestVault): string[] => service.vault.units.read(listKeychainLeftovers);

  test('because the keychain would not give it up, goes at the next unlocking', async () => {
    await using service = await start();
    const forget = chain.keychain.delete;
    chain.keychain.delete = () => Promise.reject(refusedByKeychain());
    const { id } = slotOf(await service.vault.rpc.keyslots(), 'keychain');
    await change(service, { do: 'remove', proof, keyslotId: id });
    expect(kinds(await service.vault.rpc.keyslots())).toEqual(['recovery', 'password']);
    expect(chain.entries.size).toBe(1);
    // The slot's key, and the log's rollback anchor.
    expect(tail(service)).toHaveLength(2);
    chain.keychain.delete = forget;
    await opensWith(service, proof);
    await expect.poll(() => chain.entries.size).toBe(0);
    await expect.poll(() => tail(service)).toEqual([]);
  });

  test('is all that goes: the entries of other vaults, of slots in use and of others stay', async () => {
    await using service = await start();
    const { vaultId } = await service.vault.rpc.keyslots();
    for (const account of ['another vault/slot', `${vaultId}/unknown`]) {
      await chain.keychain.set(account, new Uint8Array(32));
    }
    await service.vault.units.write((tx) => {
      for (const { id, kind } of listKeyslots(tx)) {
        if (kind !== 'keychain') continue;
        tx.run('INSERT INTO keychain_leftovers (account, noted_at) VALUES (?, 0)', `${vaultId}/${id}`);
      }
    });
    await opensWith(service, proof);
    await expect.poll(() => tail(service)).toEqual([]);
    expect(chain.entries.size).toBe(3);
    expect(await opensWith(service, { with: 'keychain' })).toBe(true);
  });
});

const refusedByKeychain = (): Error => new KeyhearthError('INVALID_ARGUMENT', 'The keychain is locked.');

describe('the recovery phrase', () => {
  test('is right or wrong, and shown by neither answer', async () => {
    await using service = await start(false);
    const { rpc } = service.vault;
    const before = slotOf(await rpc.keyslots(), 'recovery').confirmedAt ?? 0;
    service.clock.advance(5000);
    const right = await rpc.checkRecovery({ with: 'recovery', phrase: service.recoveryPhrase });
    expect(slotOf(right, 'recovery').confirmedAt).toBeGreaterThanOrEqual(before + 5000);
    expect(JSON.stringify(right)).not.toContain(service.recoveryPhrase.slice(0, 12));
    const other = mnemonicFromEntropy(randomBytes(32));
    await expect(rpc.checkRecovery({ with: 'recovery', phrase: other })).rejects.toEqual(
      refused('The recovery phrase does not open this vault.'),
    );
    for (const how of [{ with: 'keychain' }, proof, {}]) {
      await expect(rpc.checkRecovery(how as never)).rejects.toEqual(refused(/recovery\.with/));
    }
  });

  test('is on a sheet only where it opens the vault', async () => {
    await using service = await start(false);
    const { rpc } = service.vault;
    const { vaultId } = await rpc.keyslots();
    const [sheet, ...more] = await rpc.recoverySheet({
      phrase: ` ${service.recoveryPhrase.toUpperCase()}\n`,
    });
    expect(more).toEqual([]);
    expect(sheet).toMatchObject({
      secret: { kind: 'phrase', words: service.recoveryPhrase.split(' ') },
      code: service.recoveryPhrase,
      facts: [
        ['Organization', 'Tests'],
        ['Vault', vaultId],
        ['Made on', expect.stringMatching(/^\d{4}-\d\d-\d\d$/)],
      ],
    });
    await expect(rpc.recoverySheet({ phrase: mnemonicFromEntropy(randomBytes(32)) })).rejects.toEqual(
      refused('The recovery phrase does not open this vault.'),
    );
    await expect(
      rpc.recoverySheet({ phrase: service.recoveryPhrase, shares: { threshold: 4, count: 3 } }),
    ).rejects.toEqual(refused(/^invalid threshold: /));
  });

  test('shares of another vault say so', async () => {
    await using one = await start(false);
    await using two = await start(false);
    const sheets = await one.vault.rpc.recoverySheet({
      phrase: one.recoveryPhrase,
      shares: { threshold: 2, count: 2 },
    });
    await expect(
      two.vault.rpc.unlock({ with: 'shares', shares: sheets.map(({ code }) => code) }),
    ).rejects.toEqual(
      refused(/^invalid share at 1: it is of the vault [0-9a-f]{8}…, and this vault is [0-9a-f]{8}…$/),
    );
  });
});

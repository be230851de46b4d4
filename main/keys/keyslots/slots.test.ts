import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mnemonicFromEntropy } from '../../crypto/keys/mnemonics.ts';
import type { KeyslotRow } from '../../storage/tables/keyslots.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import type { Random } from '../../lib/random.ts';
import { noKeychain } from '../keychain/keychain.ts';
import type { Keychain } from '../keychain/keychain.ts';
import { defaultPasswordCost } from './password.ts';
import {
  checkRemovable,
  forgetKeychainSlot,
  makeKeychainSlot,
  makePasswordSlot,
  makeRecoverySlot,
  openAnySlot,
  openSlot,
} from './slots.ts';
import type { NewSlot, OpenWith } from './slots.ts';
import { memoryKeychain } from '../../../test/support/support.ts';

const random: Random = (_purpose, length) => Uint8Array.from(randomBytes(length));
const masterKey = random('test', 32);
const common: NewSlot = { masterKey, vaultId: 'vault-1', random, now: 1_700_000_000_000 };
const cost = { memoryKiB: 8, passes: 1, parallelism: 1 };
const password = 'correct horse';
const phrase = mnemonicFromEntropy(random('test', 32));
const words = phrase.split(' ');
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const passwordSlot = (): Promise<KeyslotRow> => makePasswordSlot({ ...common, password, cost });
const recoverySlot = (): KeyslotRow => makeRecoverySlot({ ...common, phrase });

async function refusal(opening: Promise<Uint8Array>): Promise<KeyhearthError> {
  try {
    await opening;
  } catch (error) {
    if (error instanceof KeyhearthError) return error;
    throw error;
  }
  throw new Error('opened');
}

describe('each kind of slot', () => {
  test('a password slot opens with its password', async () => {
    const slot = await passwordSlot();
    expect(slot).toMatchObject({ kind: 'password', createdAt: common.now, confirmedAt: null });
    expect(slot.id).toMatch(uuidV4);
    expect(JSON.parse(slot.parameters)).toEqual({
      version: 1,
      kdf: 'argon2id',
      ...cost,
      salt: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    });
    expect(await openSlot('vault-1', slot, { with: 'password', password })).toEqual(masterKey);
  });

  test('a password slot of the usual cost, 64 MiB and three passes, opens too', async () => {
    const slot = await makePasswordSlot({ ...common, password, cost: defaultPasswordCost });
    expect(JSON.parse(slot.parameters)).toMatchObject({ memoryKiB: 65_536, passes: 3, parallelism: 1 });
    expect(await openSlot('vault-1', slot, { with: 'password', password })).toEqual(masterKey);
  });

  test('a recovery slot opens with its phrase, whatever the case and the white space', async () => {
    const slot = recoverySlot();
    expect(slot).toMatchObject({ kind: 'recovery', createdAt: common.now, confirmedAt: null });
    for (const typed of [phrase, `  ${phrase.toUpperCase().replaceAll(' ', ' \n\t')}\n`]) {
      expect(await openSlot('vault-1', slot, { with: 'recovery', phrase: typed })).toEqual(masterKey);
    }
  });

  test('a keychain slot keeps one random key of 32 bytes in the keychain, under the ids of vault and slot', async () => {
    const { keychain, entries } = memoryKeychain();
    const slot = await makeKeychainSlot({ ...common, keychain });
    expect(slot).toMatchObject({ kind: 'keychain', parameters: '{"version":1}', confirmedAt: null });
    expect([...entries.keys()]).toEqual([`vault-1/${slot.id}`]);
    const [entry] = entries.values();
    expect(entry?.length).toBe(32);
    expect(entry).not.toEqual(masterKey);
    expect(entry).not.toEqual(new Uint8Array(32));
    expect(await openSlot('vault-1', slot, { with: 'keychain', keychain })).toEqual(masterKey);

    const second = await makeKeychainSlot({ ...common, keychain });
    expect(entries.size).toBe(2);
    await forgetKeychainSlot(keychain, 'vault-1', slot);
    expect([...entries.keys()]).toEqual([`vault-1/${second.id}`]);
    await forgetKeychainSlot(keychain, 'vault-1', { id: second.id, kind: 'password' });
    expect(entries.size).toBe(1);
  });

  test('no slot holds the master key or a secret in clear, and the caller keeps its master key', async () => {
    const { keychain } = memoryKeychain();
    const given = Uint8Array.from(masterKey);
    const slots = [
      await makePasswordSlot({ ...common, masterKey: given, password, cost }),
      makeRecoverySlot({ ...common, masterKey: given, phrase }),
      await makeKeychainSlot({ ...common, masterKey: given, keychain }),
    ];
    expect(given).toEqual(masterKey);
    for (const slot of slots) {
      expect(slot.wrapped.length).toBe(60);
      expect(Buffer.from(slot.wrapped).includes(Buffer.from(masterKey))).toBe(false);
      expect(JSON.stringify(slot)).not.toContain(password);
    }
    expect(new Set(slots.map(({ id }) => id)).size).toBe(3);
  });
});

describe('what does not open a slot', () => {
  test('a wrong password', async () => {
    const slot = await passwordSlot();
    for (const wrong of ['', 'correct horsf', `${password} `]) {
      const error = await refusal(openSlot('vault-1', slot, { with: 'password', password: wrong }));
      expect(error.code).toBe('WRONG_SECRET');
      expect(error.message).toBe('The password does not open this vault.');
    }
  });

  test('a right phrase of another vault', async () => {
    const other = mnemonicFromEntropy(random('test', 32));
    const error = await refusal(openSlot('vault-1', recoverySlot(), { with: 'recovery', phrase: other }));
    expect(error.code).toBe('WRONG_SECRET');
    expect(error.message).toBe('The recovery phrase does not open this vault.');
  });

  test('a phrase with a slip of the pen: the place is named, and no word', async () => {
    const slot = recoverySlot();
    const checksumFails = fc.sample(fc.integer({ min: 0, max: 22 }), 50).map((at) => {
      const swapped = [...words];
      [swapped[at], swapped[at + 1]] = [words[at + 1] ?? '', words[at] ?? ''];
      return swapped.join(' ');
    });
    const slips: [string, string][] = [
      ['', 'expected 24 words, got 0'],
      [words.slice(0, 23).join(' '), 'expected 24 words, got 23'],
      [words.slice(0, 12).join(' '), 'expected 24 words, got 12'],
      [[...words, 'abandon'].join(' '), 'expected 24 words, got 25'],
      [words.with(16, 'keyhearthz').join(' '), 'word 17 is not in the English word list of BIP-39'],
    ];
    for (const [typed, problem] of slips) {
      const error = await refusal(openSlot('vault-1', slot, { with: 'recovery', phrase: typed }));
      expect(error.code).toBe('WRONG_SECRET');
      expect(error.message).toBe(`invalid recovery phrase: ${problem}`);
    }
    let refused = 0;
    for (const typed of checksumFails) {
      if (typed === phrase) continue;
      // One in 256 of these has a right checksum by chance, and is then the phrase of another vault.
      const { message } = await refusal(openSlot('vault-1', slot, { with: 'recovery', phrase: typed }));
      expect(message).toMatch(/the checksum does not match|does not open this vault/);
      refused += 1;
    }
    expect(refused).toBeGreaterThan(40);
  });

  test('a keychain without the entry, a locked one, and none', async () => {
    const { keychain, entries } = memoryKeychain();
    const slot = await makeKeychainSlot({ ...common, keychain });
    const [account = ''] = entries.keys();

    entries.set(account, random('test', 32));
    const wrong = await refusal(openSlot('vault-1', slot, { with: 'keychain', keychain }));
    expect(wrong).toMatchObject({
      code: 'WRONG_SECRET',
      message: 'The keychain does not open this vault.',
    });

    for (const damage of [undefined, new Uint8Array(0), new Uint8Array(31)]) {
      if (damage === undefined) entries.clear();
      else entries.set(account, damage);
      const missing = await refusal(openSlot('vault-1', slot, { with: 'keychain', keychain }));
      expect(missing.code).toBe('INVALID_ARGUMENT');
      expect(missing.message).toContain('The keychain holds no key for this vault');
      expect(missing.message).toContain('password or recovery phrase');
    }

    entries.clear();
    const locked: Keychain = {
      ...keychain,
      probe: () => Promise.resolve({ available: false, reason: 'The keychain is locked.' }),
    };
    const closed = await refusal(openSlot('vault-1', slot, { with: 'keychain', keychain: locked }));
    expect(closed).toMatchObject({ code: 'INVALID_ARGUMENT', message: 'The keychain is locked.' });

    const none = noKeychain('This vault uses no keychain.');
    const absent = await refusal(openSlot('vault-1', slot, { with: 'keychain', keychain: none }));
    expect(absent).toMatchObject({ code: 'INVALID_ARGUMENT', message: 'This vault uses no keychain.' });
    expect(await none.probe()).toEqual({
      available: false,
      reason: 'This vault uses no keychain.',
      off: true,
    });
  });

  test('another kind of secret', async () => {
    const error = await refusal(openSlot('vault-1', recoverySlot(), { with: 'password', password }));
    expect(error.code).toBe('WRONG_SECRET');
    expect(error.message).toContain('opens with the recovery phrase, not with the password');
  });
});

describe('a slot that was touched', () => {
  const { keychain } = memoryKeychain();
  const made: Promise<{ slot: KeyslotRow; how: OpenWith }[]> = (async () => [
    { slot: await passwordSlot(), how: { with: 'password', password } },
    { slot: recoverySlot(), how: { with: 'recovery', phrase } },
    { slot: await makeKeychainSlot({ ...common, keychain }), how: { with: 'keychain', keychain } },
  ])();

  test('any flipped bit and any cut of the wrapped key', async () => {
    for (const { slot, how } of await made) {
      for (let index = 0; index < slot.wrapped.length; index++) {
        const flipped = slot.wrapped.with(index, (slot.wrapped[index] ?? 0) ^ 1);
        for (const wrapped of [flipped, slot.wrapped.slice(0, index)]) {
          const error = await refusal(openSlot('vault-1', { ...slot, wrapped }, how));
          expect(error.message).toContain('does not open this vault');
        }
      }
    }
  });

  test('another vault, another id', async () => {
    for (const { slot, how } of await made) {
      // The keychain has no entry of that name, and says so.
      const code = how.with === 'keychain' ? 'INVALID_ARGUMENT' : 'WRONG_SECRET';
      expect((await refusal(openSlot('vault-2', slot, how))).code).toBe(code);
      expect((await refusal(openSlot('vault-1', { ...slot, id: 'other' }, how))).code).toBe(code);
      expect(await openSlot('vault-1', slot, how)).toEqual(masterKey);
    }
  });

  test('the same parameters written otherwise', async () => {
    for (const { slot, how } of await made) {
      const parameters = `${slot.parameters} `;
      expect((await refusal(openSlot('vault-1', { ...slot, parameters }, how))).code).toBe('WRONG_SECRET');
    }
  });

  test.each([
    ['{', 'parameters: '],
    ['null', 'parameters: '],
    ['{}', 'parameters.version: '],
    ['{"version":2}', 'parameters.version: '],
    ['{"version":1,"more":1}', 'parameters'],
  ])('parameters that are %s', async (parameters, named) => {
    for (const { slot, how } of await made) {
      const error = await refusal(openSlot('vault-1', { ...slot, parameters }, how));
      expect(error.code).toBe('INTERNAL');
      expect(error.message).toContain(`The keyslot "${slot.id}"`);
      expect(error.message).toContain('is damaged, or was made by a newer version');
      expect(error.message).toContain(named);
    }
  });

  test('a cost that would take the machine is refused before it is paid', async () => {
    const slot = await passwordSlot();
    const parameters = slot.parameters.replace('"memoryKiB":8', '"memoryKiB":104857600');
    const error = await refusal(openSlot('vault-1', { ...slot, parameters }, { with: 'password', password }));
    expect(error.code).toBe('INTERNAL');
    expect(error.message).toContain('parameters.memoryKiB');
    expect(error.message).toContain('1048576');
  });
});

describe('making slots', () => {
  test('a short password, a bad phrase and a cost out of bounds are refused', async () => {
    await expect(makePasswordSlot({ ...common, password: 'short', cost })).rejects.toThrow(
      'invalid password: expected 8 to 1024 characters, got 5',
    );
    expect(() => makeRecoverySlot({ ...common, phrase: 'one two' })).toThrow('expected 24 words, got 2');
    await expect(
      makePasswordSlot({ ...common, password, cost: { ...cost, memoryKiB: 2 ** 31 } }),
    ).rejects.toThrow('memoryKiB');
  });

  test('a master key of another length is refused before the keychain is touched', async () => {
    const { keychain, entries } = memoryKeychain();
    const short = { ...common, masterKey: new Uint8Array(16) };
    await expect(makeKeychainSlot({ ...short, keychain })).rejects.toThrow('masterKey: expected');
    expect(entries.size).toBe(0);
    await expect(makePasswordSlot({ ...short, password, cost })).rejects.toThrow('masterKey: expected');
    expect(() => makeRecoverySlot({ ...short, phrase })).toThrow('masterKey: expected');
  });

  test('a keychain that forgets or changes what it was given makes no slot', async () => {
    const { keychain, entries } = memoryKeychain();
    const forgetful: Keychain = { ...keychain, get: () => Promise.resolve(undefined) };
    await expect(makeKeychainSlot({ ...common, keychain: forgetful })).rejects.toThrow(
      'did not give it back',
    );
    const garbling: Keychain = { ...keychain, get: () => Promise.resolve(new Uint8Array(32)) };
    await expect(makeKeychainSlot({ ...common, keychain: garbling })).rejects.toThrow('did not give it back');
    expect(entries.size).toBe(0);
    await expect(makeKeychainSlot({ ...common, keychain: noKeychain('None here.') })).rejects.toThrow(
      'None here.',
    );
  });

  test('wrapping keys and entropy are generated by purpose, and the wrapping key is erased', async () => {
    const { keychain, entries } = memoryKeychain();
    const drawn: [string, Uint8Array][] = [];
    const recording: Random = (purpose, length) => {
      const bytes = random(purpose, length);
      drawn.push([purpose, bytes]);
      return bytes;
    };
    await makeKeychainSlot({ ...common, random: recording, keychain });
    const key = drawn.find(([purpose]) => purpose === 'keyslot.wrapping-key')?.[1];
    expect(key).toEqual(new Uint8Array(32));
    expect([...entries.values()][0]).not.toEqual(key);
  });
});

describe('openAnySlot', () => {
  test('tries each slot of the kind', async () => {
    const first = await passwordSlot();
    const second = await makePasswordSlot({ ...common, password: 'another password', cost });
    const damaged = { ...first, id: 'damaged', parameters: '{}' };
    const slots = [damaged, recoverySlot(), first, second];
    const how = { with: 'password', password: 'another password' } as const;
    expect(await openAnySlot('vault-1', slots, how)).toEqual(masterKey);
    const error = await refusal(openAnySlot('vault-1', slots, { ...how, password: 'neither of them' }));
    expect(error.message).toBe('The password does not open this vault.');
  });

  // The class: a file that an attacker wrote keeps the machine busy, by one slot or by many.
  test('tries none of slots that together ask for hours', async () => {
    const one = await passwordSlot();
    const most = { ...cost, version: 1, kdf: 'argon2id', memoryKiB: 1024 * 1024, passes: 16 };
    const parameters = JSON.stringify({ ...most, salt: '00'.repeat(16) });
    const slots = Array.from({ length: 900 }, (_, index) => ({ ...one, id: String(index), parameters }));
    const error = await refusal(openAnySlot('vault-1', slots, { with: 'password', password }));
    expect(error).toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('more work') as string,
    });
  });

  test('says what there is where there is none of the kind', async () => {
    const how = { with: 'password', password } as const;
    expect((await refusal(openAnySlot('vault-1', [recoverySlot()], how))).message).toBe(
      'This vault has no password to unlock it with. It opens with: recovery phrase.',
    );
    expect((await refusal(openAnySlot('vault-1', [], how))).message).toContain('It opens with: nothing yet.');
  });
});

describe('checkRemovable', () => {
  const keychain = { id: 'k', kind: 'keychain' } as const;
  const secret = { id: 'p', kind: 'password' } as const;
  const recovery = { id: 'r', kind: 'recovery' } as const;

  test.each([
    [[keychain, secret], 'k'],
    [[recovery, secret], 'p'],
    [[recovery, secret, keychain], 'r'],
    [[secret, { ...secret, id: 'p2' }], 'p'],
  ])('%j may lose %s', (slots, id) => {
    expect(() => {
      checkRemovable(slots, id);
    }).not.toThrow();
  });

  test.each([
    [[secret], 'p', 'The password cannot be removed'],
    [[recovery, keychain], 'r', 'The recovery phrase cannot be removed'],
    [[keychain, { ...keychain, id: 'k2' }, secret], 'p', 'The password cannot be removed'],
  ])('%j may not lose %s', (slots, id, message) => {
    expect(() => {
      checkRemovable(slots, id);
    }).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  test('an id that is not there', () => {
    expect(() => {
      checkRemovable([secret], 'x');
    }).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND', message: 'There is no keyslot "x" in this vault.' }),
    );
  });
});

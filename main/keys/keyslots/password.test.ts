import { argon2Sync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkNewPassword, defaultPasswordCost, passwordKey, passwordParameters } from './password.ts';
import type { PasswordParameters } from './password.ts';

const cheap: PasswordParameters = {
  version: 1,
  kdf: 'argon2id',
  memoryKiB: 64,
  passes: 2,
  parallelism: 2,
  salt: '000102030405060708090a0b0c0d0e0f',
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** OpenSSL's argon2id, which Electron lacks: an independent second opinion. */
const reference = (message: string, { memoryKiB, passes, parallelism, salt }: PasswordParameters): string =>
  hex(
    argon2Sync('argon2id', {
      message,
      nonce: Buffer.from(salt, 'hex'),
      memory: memoryKiB,
      passes,
      parallelism,
      tagLength: 32,
    }),
  );

describe('passwordKey', () => {
  test.each<Partial<PasswordParameters>>([
    {},
    { memoryKiB: 8, passes: 1, parallelism: 1 },
    { memoryKiB: 1000, passes: 3, parallelism: 4 },
    { salt: 'ffffffffffffffffffffffffffffffff' },
    defaultPasswordCost,
  ])('is argon2id as OpenSSL computes it: %o', async (changed) => {
    const parameters = { ...cheap, ...changed };
    for (const password of ['correct horse battery staple', '', 'pässword', '密码🔑']) {
      expect(hex(await passwordKey(password, parameters))).toBe(reference(password, parameters));
    }
  });

  test('composed and decomposed accents are one password', async () => {
    expect('caf\u00e9').not.toBe('cafe\u0301');
    expect(await passwordKey('cafe\u0301', cheap)).toEqual(await passwordKey('caf\u00e9', cheap));
  });

  test('a lone surrogate is refused: two of them would be one password', async () => {
    await expect(passwordKey('password\ud800', cheap)).rejects.toThrow(
      'invalid password: expected Unicode text',
    );
  });
});

describe('checkNewPassword', () => {
  test.each(['8 signs!', '🔑🔑🔑🔑🔑🔑🔑🔑', 'a'.repeat(1024)])('takes %j', (password) => {
    expect(() => {
      checkNewPassword(password);
    }).not.toThrow();
  });

  test.each([
    ['', 0],
    ['7 signs', 7],
    ['🔑🔑🔑🔑🔑🔑🔑', 7],
    ['a'.repeat(1025), 1025],
  ])('refuses %j, naming its length alone', (password, count) => {
    expect(() => {
      checkNewPassword(password);
    }).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: `invalid password: expected 8 to 1024 characters, got ${count}`,
      }),
    );
  });
});

test('a new password cannot begin with a mark that its file has and no keyboard', () => {
  const marked = '\uFEFFcorrect horse battery staple';
  for (const password of [marked, Buffer.from(marked)]) {
    expect(() => {
      checkNewPassword(password);
    }).toThrow(
      'invalid password: it begins with a byte order mark, which cannot be typed: save its file without one',
    );
  }
});

describe('stored parameters', () => {
  test('the default costs 64 MiB and three passes', () => {
    expect(defaultPasswordCost).toEqual({ memoryKiB: 65_536, passes: 3, parallelism: 1 });
    expect(passwordParameters.safeParse({ ...cheap, ...defaultPasswordCost }).success).toBe(true);
  });

  test.each<Record<string, unknown>>([
    { memoryKiB: 1024 * 1024 + 1 },
    { memoryKiB: 2 ** 32 - 1 },
    { memoryKiB: 7 },
    { memoryKiB: 15 },
    { memoryKiB: 64.5 },
    { memoryKiB: '64' },
    { passes: 0 },
    { passes: 17 },
    { parallelism: 0 },
    { parallelism: 17 },
    { salt: '' },
    { salt: '00' },
    { salt: 'zz0102030405060708090a0b0c0d0e0f' },
    { kdf: 'argon2d' },
    { version: 2 },
    { more: 1 },
  ])('outside the bounds: %o', (changed) => {
    expect(passwordParameters.safeParse({ ...cheap, ...changed }).success).toBe(false);
  });
});

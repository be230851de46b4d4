import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findFormerVault, leaveFormerVault, moveFormerVault } from './former-vault.ts';

let home: string;
const at = (...names: readonly string[]): string => join(home, ...names);

/** Makes a file, and the directories above it. */
function put(...names: readonly string[]): void {
  mkdirSync(at(...names.slice(0, -1)), { recursive: true });
  writeFileSync(at(...names), names.join('/'));
}

const config = () => ({
  dataDirectory: at('data/new'),
  keysDirectory: at('config/new/keys'),
  former: { data: at('data/old'), keys: at('config/old/keys') },
});

/** @throws Error where there is none. */
function found(): NonNullable<ReturnType<typeof findFormerVault>> {
  const vault = findFormerVault(config());
  if (vault === undefined) throw new Error('no former vault was found');
  return vault;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keyhearth-former-'));
  put('data', 'old', 'vault.db');
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

describe('a vault in the former directory', () => {
  test.each<[string, () => ReturnType<typeof findFormerVault>]>([
    [
      'beside a vault in the new one',
      () => {
        put('data', 'new', 'vault.db');
        return findFormerVault(config());
      },
    ],
    ['where a directory was chosen', () => findFormerVault({ ...config(), former: undefined })],
    ['for a vault in memory', () => findFormerVault({ ...config(), dataDirectory: null })],
    [
      'that is none',
      () => {
        rmSync(at('data/old/vault.db'));
        return findFormerVault(config());
      },
    ],
  ])('is not found %s', (_what, find) => {
    expect(find()).toBeUndefined();
  });

  test('moves whole, over what a start without a vault has left', () => {
    put('data', 'old', 'vault.db-wal');
    put('data', 'old', 'window', 'Cache');
    put('data', 'new', 'window', 'Cache');
    put('data', 'new', 'keyhearth.log.1');
    moveFormerVault(found());
    expect(existsSync(at('data/old'))).toBe(false);
    expect(readdirSync(at('data/new')).sort()).toEqual(['lock', 'vault.db', 'vault.db-wal', 'window']);
    expect(findFormerVault(config())).toBeUndefined();
  });

  test('stays where a file of another program is in the way', () => {
    put('data', 'new', 'letter');
    expect(() => {
      moveFormerVault(found());
    }).toThrow(/ENOTEMPTY/);
    expect(readdirSync(at('data/new'))).toEqual(['letter']);
    expect(existsSync(at('data/old/vault.db'))).toBe(true);
  });

  test('brings its keys, but none over a key of that name', () => {
    for (const name of ['owner.private', 'bot.private']) put('config', 'old', 'keys', name);
    put('config', 'new', 'keys', 'owner.private');
    moveFormerVault(found());
    expect(readdirSync(at('config/new/keys')).sort()).toEqual(['bot.private', 'owner.private']);
    expect(readdirSync(at('config/old/keys'))).toEqual(['owner.private']);
  });

  test('is not offered again once it was to stay', () => {
    leaveFormerVault(found());
    expect(findFormerVault(config())).toBeUndefined();
    expect(existsSync(at('data/old/vault.db'))).toBe(true);
  });
});

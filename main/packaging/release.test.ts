import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseUpdateInfo } from 'electron-updater/out/providers/Provider.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isUpdateMetadataSigned } from '../lib/update-signature.ts';
import { gather, signMetadata, writeSums } from './seal-release.ts';
import { makeUpdateKey } from './update-key.ts';

const source = readFileSync(join(import.meta.dirname, '../desktop/updates/update-key.ts'), 'utf8');
const unpinned = source.replace(/= (null|'[0-9a-f]{64}');/, '= null;');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keyhearth-release-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function newKey(): { readonly privateKey: string; readonly publicKey: string } {
  const file = join(mkdtempSync(join(directory, 'key-')), 'key');
  const pinned = makeUpdateKey(file, unpinned);
  const [, publicKey = ''] = /updateKey: string [|] null = '([0-9a-f]{64})';/.exec(pinned) ?? [];
  return { privateKey: readFileSync(file, 'utf8').trim(), publicKey };
}

describe('the key of updates', () => {
  test('is pinned once, and its private half is in a new file for one user', () => {
    const file = join(directory, 'private');
    const pinned = makeUpdateKey(file, unpinned);
    // Windows has no such modes.
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
    expect(pinned).not.toContain(readFileSync(file, 'utf8').trim());
    expect(() => makeUpdateKey(join(directory, 'other'), pinned)).toThrow('a key is pinned already');
    expect(() => makeUpdateKey(file, unpinned)).toThrow('EEXIST');
    expect(() => makeUpdateKey(join(directory, 'third'), 'export const updateKey = 1;')).toThrow(
      'has no line',
    );
  });
});

function metadata(content: string, file = 'app.AppImage', version = '1.0.0'): string {
  const sha512 = createHash('sha512').update(content).digest('base64');
  return `version: ${version}\nfiles:\n  - url: ${file}\n    sha512: ${sha512}\n    size: 1\npath: ${file}\n`;
}

describe('a release', () => {
  test('is signed where its metadata says what is there', async () => {
    const key = newKey();
    writeFileSync(join(directory, 'app.AppImage'), 'app');
    writeFileSync(join(directory, 'latest-linux.yml'), metadata('app'));
    expect(await signMetadata(directory, key)).toEqual(['latest-linux.yml']);
    const signature = readFileSync(join(directory, 'latest-linux.yml.sig'), 'utf8');
    expect(isUpdateMetadataSigned(key.publicKey, 'latest-linux.yml', metadata('app'), signature)).toBe(true);
    expect(isUpdateMetadataSigned(key.publicKey, 'latest.yml', metadata('app'), signature)).toBe(false);
    expect(isUpdateMetadataSigned(newKey().publicKey, 'latest-linux.yml', metadata('app'), signature)).toBe(
      false,
    );
  });

  test('is not signed over what was changed since, nor by a key that no app knows', async () => {
    const key = newKey();
    writeFileSync(join(directory, 'app.AppImage'), 'another');
    writeFileSync(join(directory, 'latest-linux.yml'), metadata('app'));
    await expect(signMetadata(directory, key)).rejects.toThrow('has another SHA-512 of app.AppImage');
    writeFileSync(join(directory, 'app.AppImage'), 'app');
    const other = { ...key, publicKey: newKey().publicKey };
    await expect(signMetadata(directory, other)).rejects.toThrow('not the one that apps have pinned');
    writeFileSync(join(directory, 'latest-linux.yml'), 'version: 1.0.0\n');
    await expect(signMetadata(directory, key)).rejects.toThrow('without files');
  });

  test('is gathered from several machines, with one metadata for both processors of a system', async () => {
    const key = newKey();
    const [one, two, all] = ['one', 'two', 'all'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    for (const [place, arch] of [
      [one, 'x64'],
      [two, 'arm64'],
    ] as const) {
      mkdirSync(place);
      writeFileSync(join(place, `app-${arch}.zip`), arch);
      writeFileSync(join(place, 'latest-mac.yml'), metadata(arch, `app-${arch}.zip`));
    }
    await gather(all, [one, two]);
    expect(readdirSync(all).sort()).toEqual(['app-arm64.zip', 'app-x64.zip', 'latest-mac.yml']);
    const text = readFileSync(join(all, 'latest-mac.yml'), 'utf8');
    expect(parseUpdateInfo(text, '', new URL('https://updates.example'))).toMatchObject({
      version: '1.0.0',
      files: [{ url: 'app-x64.zip' }, { url: 'app-arm64.zip' }],
      path: 'app-x64.zip',
    });
    expect(await signMetadata(all, key)).toEqual(['latest-mac.yml']);
    await expect(gather(all, [one])).rejects.toThrow('EEXIST');
    writeFileSync(join(two, 'latest-mac.yml'), metadata('arm64', 'app-arm64.zip', '1.0.1'));
    await expect(gather(join(directory, 'again'), [one, two])).rejects.toThrow(
      '1.0.0 in one place and 1.0.1',
    );
  });

  test('has the sums of all its files, as sha256sum reads them', async () => {
    writeFileSync(join(directory, 'a b.zip'), 'one');
    writeFileSync(join(directory, 'c.deb'), 'two');
    await writeSums(directory);
    await writeSums(directory);
    const sums = readFileSync(join(directory, 'SHA256SUMS'), 'utf8');
    const sum = (text: string): string => createHash('sha256').update(text).digest('hex');
    expect(sums).toBe(`${sum('one')}  a b.zip\n${sum('two')}  c.deb\n`);
  });
});

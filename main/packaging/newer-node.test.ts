import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/support.ts';
import { descriptorsIn, findNode, isNewEnough } from './newer-node.ts';

test.each([
  ['v22.18.0', true],
  ['24.21.0', true],
  ['v30.0.0-nightly', true],
  ['v22.17.9', false],
  ['v20.20.2', false],
  ['', false],
  ['v22', false],
  ['something else 24.1.0', false],
])('%j is new enough: %s', (version, is) => {
  expect(isNewEnough(version)).toBe(is);
});

test.each([
  [
    ['init', '--password-fd', '3', '--mnemonic-fd=7'],
    [3, 7],
  ],
  [['serve', '--password-fd'], []],
  [['request', '--body', '--password-fd 3'], []],
  [['wallets', 'list'], []],
])('the files that %j names', (argv, numbers) => {
  expect(descriptorsIn(argv)).toEqual(numbers);
});

// Windows runs no script in place of a program.
describe.skipIf(process.platform === 'win32')('findNode', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(() => {
    directory[Symbol.dispose]();
  });

  function put(name: string, says: string): string {
    const path = join(directory.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
    chmodSync(path, 0o755);
    return path;
  }
  const find = (...path: string[]): string | undefined =>
    findNode(join(directory.path, 'package'), { PATH: path.join(delimiter) });

  test('what was brought comes before the PATH, and what is too old is passed over', () => {
    const [old, newer] = ['old', 'newer'].map((name) => join(directory.path, name));
    put('old/node', 'v20.1.0');
    const onPath = put('newer/node', 'v25.0.0');
    // An empty or relative entry is another directory each time.
    expect(find('', '.', 'newer', join(directory.path, 'none'), old ?? '')).toBeUndefined();
    expect(find(old ?? '', newer ?? '')).toBe(onPath);
    const ofCheckout = put('package/node_modules/node/bin/node', 'v24.0.0');
    expect(find(newer ?? '')).toBe(ofCheckout);
    const brought = put('package/runtime/node', 'v24.0.0');
    expect(find(newer ?? '')).toBe(brought);
    put('package/runtime/node', 'broken');
    expect(find(newer ?? '')).toBe(ofCheckout);
  });
});

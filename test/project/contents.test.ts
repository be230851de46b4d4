/** The list of parts that a release has beside it: neither hollow, since the bundles hold dev dependencies, nor with tools. */
import { expect, test } from 'vitest';
import { listContents, shippedParts } from '../../main/packaging/list-contents.ts';

const list = await listContents();

test('names what is in the bundles and beside them, for every system, and no tool', () => {
  const names = list.components.map(({ purl }) =>
    decodeURIComponent(purl).replace(/^pkg:npm\/|@[^@]+$/g, ''),
  );
  for (const shipped of [
    ...['react', '@mantine/core', 'express', 'zod', 'electron-updater', '@scalar/api-reference'],
    ...['better-sqlite3', '@github/keytar', 'tiny-secp256k1'],
    ...['linux-x64-gnu', 'darwin-arm64', 'win32-x64-msvc'].map((each) => `@node-rs/argon2-${each}`),
  ]) {
    expect(names).toContain(shipped);
  }
  for (const tool of ['vite', 'vitest', 'oxlint', 'electron-builder', 'tronweb']) {
    expect(names).not.toContain(tool);
  }
  const refs = new Set(list.dependencies.map(({ ref }) => ref));
  for (const { ref, dependsOn = [] } of list.dependencies) {
    for (const each of dependsOn) expect(refs.has(each), `${ref} → ${each}`).toBe(true);
  }
});

test('a build of other packages than the lock file’s is refused', () => {
  expect(() => shippedParts(list, [{ name: 'react', version: '0.0.1' }])).toThrow(
    /react@0\.0\.1.*Build anew/,
  );
});

import { expect, test } from 'vitest';
import { launcherText } from './git-setup.ts';

test('on Windows the launcher looks for ssh-keygen outside of the repository that git calls it in', () => {
  const lines = launcherText(String.raw`\\.\pipe\keyhearth`, 'win32').split('\r\n');
  const bare = lines.findIndex((line) => line.includes('(ssh-keygen '));
  const elsewhere = lines.indexOf('set "NoDefaultCurrentDirectoryInExePath=1"');
  expect(bare).toBeGreaterThan(0);
  expect(elsewhere).toBeGreaterThan(-1);
  expect(elsewhere).toBeLessThan(bare);
});

import { expect, test } from 'vitest';
import { withoutLogin } from './sign-for-git.ts';

// The class: what a program says of itself is kept in the log, and must have no secret in it.
test.each([
  ['https://ann:ghp_secret@example.com/pump.git', 'https://example.com/pump.git'],
  ['https://ghp_secret@example.com/a@b.git', 'https://example.com/a@b.git'],
  ['https://ann:p@ss@example.com/pump.git', 'https://example.com/pump.git'],
  ['ssh://git@example.com/pump.git', 'ssh://example.com/pump.git'],
  ['git@example.com:pump.git', 'git@example.com:pump.git'],
  ['https://example.com/pump.git', 'https://example.com/pump.git'],
  ['/srv/pump', '/srv/pump'],
])('the log gets no login of the repository %s', (address, shown) => {
  expect(withoutLogin(address)).toBe(shown);
});

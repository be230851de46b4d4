import { expect, test } from 'vitest';
import { passkeyObstacle } from './webauthn.ts';

test('where passkeys cannot be made, what to do instead is said', () => {
  expect(passkeyObstacle({ protocol: 'latchkey:', hostname: 'app', port: '' })).toContain('latchkey open');
  const address = passkeyObstacle({ protocol: 'http:', hostname: '127.0.0.1', port: '7377' });
  expect(address).toContain('127.0.0.1');
  expect(address).toContain('http://localhost:7377');
  expect(passkeyObstacle({ protocol: 'http:', hostname: '[::1]', port: '7377' })).toContain('[::1]');
  // Node has none either.
  const here = { protocol: 'http:', hostname: 'localhost', port: '7377' };
  expect(passkeyObstacle(here)).toContain('another one');
});

import { expect, test } from 'vitest';
import { passkeyObstacle } from './webauthn.ts';

const app = { protocol: 'keyhearth:', hostname: 'app', port: '' };
const page = (hostname: string) => ({ protocol: 'http:', hostname, port: '7377' });

test('a page that cannot create passkeys says what to do instead', () => {
  expect(passkeyObstacle(app, 'localhost')).toContain('keyhearth open');
  const address = passkeyObstacle(page('127.0.0.1'), 'localhost');
  expect(address).toContain('127.0.0.1');
  expect(address).toContain('http://localhost:7377');
  expect(passkeyObstacle(page('[::1]'), 'localhost')).toContain('[::1]');
  // Node has none either.
  for (const host of ['localhost', 'vault.localhost']) {
    expect(passkeyObstacle(page(host), 'localhost')).toContain('another browser');
  }
  expect(passkeyObstacle(page('notlocalhost'), 'localhost')).toContain('http://localhost:7377');
});

test('passkeys for another name are created on its pages', () => {
  for (const here of [app, page('localhost'), page('127.0.0.1')]) {
    expect(passkeyObstacle(here, 'example.org')).toContain('on https://example.org');
  }
  expect(passkeyObstacle(page('vault.example.org'), 'example.org')).toContain('another browser');
});

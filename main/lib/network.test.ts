import { describe, expect, test } from 'vitest';
import { isThisMachine } from './network.ts';

describe('isThisMachine', () => {
  test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '::1', '[::1]'])('%s is', (host) => {
    expect(isThisMachine(host)).toBe(true);
  });

  test.each([
    'example.com',
    'localhost.example.com',
    'x.localhost',
    '127.0.0.1.example.com',
    '128.0.0.1',
    '192.168.1.1',
    '0.0.0.0',
    '::',
    'fe80::1',
    '',
  ])('%s is not', (host) => {
    expect(isThisMachine(host)).toBe(false);
  });
});

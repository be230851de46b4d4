import { expect, test } from 'vitest';
import { groups, shorten } from './short.ts';

test('shorten keeps both ends, and short texts whole', () => {
  expect(shorten('0x1234567890abcdef1234', 6, 4)).toBe('0x1234…1234');
  expect(shorten('abcdefghijk', 6, 4)).toBe('abcdefghijk');
});

test('groups lose no character', () => {
  for (const address of [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  ]) {
    expect(groups(address).join('')).toBe(address);
    expect(groups(address)[0]).toMatch(/^(0x|bc1)$/);
  }
  expect(groups('abcdefghi')).toEqual(['abcd', 'efgh', 'i']);
  expect(groups('')).toEqual([]);
});

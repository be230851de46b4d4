import { describe, expect, test } from 'vitest';
import { isPage } from './page.ts';

describe('isPage', () => {
  test.each(['latchkey://app/', 'latchkey://app/#', 'latchkey://app/#/wallets'])('knows %s', (address) => {
    expect(isPage(address)).toBe(true);
  });

  test.each([
    '',
    'about:blank',
    'app',
    'latchkey://app',
    'latchkey://app.evil.example/',
    'latchkey://evil@app/',
    'latchkey://app:1/',
    'latchkey://app/?',
    'latchkey://app/index.html',
    'latchkey://app/x/#latchkey://app/',
    'https://app/',
    'file:///latchkey://app/',
    'data:text/html,latchkey://app/',
  ])('does not take %j for it', (address) => {
    expect(isPage(address)).toBe(false);
  });
});

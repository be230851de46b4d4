import { describe, expect, test } from 'vitest';
import { isPage } from './page.ts';

describe('isPage', () => {
  test.each(['keyhearth://app/', 'keyhearth://app/#', 'keyhearth://app/#/wallets'])('knows %s', (address) => {
    expect(isPage(address)).toBe(true);
  });

  test.each([
    '',
    'about:blank',
    'app',
    'keyhearth://app',
    'keyhearth://app.evil.example/',
    'keyhearth://evil@app/',
    'keyhearth://app:1/',
    'keyhearth://app/?',
    'keyhearth://app/index.html',
    'keyhearth://app/x/#keyhearth://app/',
    'https://app/',
    'file:///keyhearth://app/',
    'data:text/html,keyhearth://app/',
  ])('does not take %j for it', (address) => {
    expect(isPage(address)).toBe(false);
  });
});

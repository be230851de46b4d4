import { describe, expect, test } from 'vitest';
import { lookAlikeOf, lookAlikeWarnings, looksLike } from './look-alikes.ts';

describe('a name', () => {
  test.each([
    ['Pаypal', 'Paypal'],
    ['PayPaI', 'PayPal'],
    ['paypal', 'PayPal'],
    ['Ｐaypal', 'Paypal'],
    ['𝐒avings', 'Savings'],
    ['ΑΒΒ', 'ABB'],
    ['Modem', 'Modern'],
    ['Ben\u00a0Smith', 'Ben Smith'],
    ['Ben-Smith', 'Ben Smith'],
    ['С00L', 'COOL'],
  ])('%j looks like %j', (name, other) => {
    expect(lookAlikeOf(name, ['Everyday', other])).toBe(other);
  });

  test.each([
    ['Savings', ['Savings', 'savings']],
    ['Savings 2', ['Savings']],
    ['Счёт', ['Chet']],
  ])('%j looks like none of %j, or is one of them', (name, others) => {
    expect(lookAlikeOf(name, others)).toBeUndefined();
  });
});

describe('a text', () => {
  test.each([
    [
      'Log in to Pаypal',
      '“Pаypal” mixes letters that look alike: Cyrillic and Latin. It may be meant to look like another word.',
    ],
    ['Tеther USD', '“Tеther” mixes letters that look alike'],
    ['USDΤ', '“USDΤ” mixes letters that look alike: Greek and Latin'],
    ['Send to vitalík.eth', '“vitalík.eth” has letters beyond a to z'],
    ['https://аррӏе.com/login', '“аррӏе.com” has letters beyond a to z'],
    ['Pay ünlü.eth.', '“ünlü.eth” has letters beyond a to z'],
  ])('%j is warned of', (text, warning) => {
    expect(lookAlikeWarnings(text).join(' ')).toContain(warning);
  });

  test.each([
    'Send 1 ETH to vitalik.eth',
    'Привет, мир. Это USDT',
    'Ένα μήνυμα',
    '10 kΩ',
    'Łukasz, Zoë and 日本語のGoogle',
    'שלום Google',
    'Конец. Начало',
    '',
  ])('%j is not', (text) => {
    expect(lookAlikeWarnings(text)).toEqual([]);
  });
});

test('a long text is looked through once', () => {
  expect(lookAlikeWarnings(`é${'a.'.repeat(500_000)}`)).toEqual([]);
  expect(lookAlikeWarnings(`é${'.'.repeat(500_000)}`)).toEqual([]);
});

describe('an address', () => {
  const ethereum = '0x35A1b2c3d4e5f60718293a4b5c6d7e8f90123456';
  const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
  test.each([
    [ethereum, '0x35a1000000000000000000000000000000003456'],
    ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'bc1qar0szzzzzzzzzzzzzzzzzzzzzzzzzzzzzz5mdq'],
    [tron, 'TJRab1111111111111111111111111RTv8'],
  ])('%s may be taken for %s', (address, other) => {
    expect(other).toHaveLength(address.length);
    expect(looksLike(address, ['0x', other])).toBe(other);
  });

  test.each([
    ['itself in other letters', ethereum, ethereum.toLowerCase()],
    ['another beginning', ethereum, `0x36${ethereum.slice(4)}`],
    ['another end', ethereum, `${ethereum.slice(0, -1)}7`],
    ['what all begin with', tron, `T${'1'.repeat(29)}Tv8x`],
    ['the same letters in another case, of a format that counts it', tron, tron.toLowerCase()],
  ])('not for %s', (_, address, other) => {
    expect(looksLike(address, [other])).toBeUndefined();
  });
});

import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { HmacKey } from './hmac.ts';

test('RFC 4231, test case 4 with its key made 32 bytes, as Node computes it', () => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index + 1));
  const data = Buffer.alloc(50, 0xcd);
  expect(Buffer.from(new HmacKey(key).mac(data))).toEqual(createHmac('sha256', key).update(data).digest());
});

test.each([0, 1, 55, 56, 63, 64, 65, 1000, 4096, 4097])('%i bytes, and as a text', (length) => {
  const key = randomBytes(32);
  const data = randomBytes(length);
  const hmac = new HmacKey(key);
  expect(Buffer.from(hmac.mac(data))).toEqual(createHmac('sha256', key).update(data).digest());
  const text = `${data.toString('hex')} ü 🗝`;
  expect(Buffer.from(hmac.mac(text))).toEqual(createHmac('sha256', key).update(text).digest());
});

test.each([0, 31, 33, 64])('a key of %i bytes is refused', (length) => {
  expect(() => new HmacKey(new Uint8Array(length))).toThrow('key: expected a Uint8Array of 32 bytes');
});

test('erased, it holds nothing of the key', () => {
  const one = new HmacKey(randomBytes(32));
  const other = new HmacKey(randomBytes(32));
  expect(one.mac('x')).not.toEqual(other.mac('x'));
  one.erase();
  other.erase();
  expect(one.mac('x')).toEqual(other.mac('x'));
});

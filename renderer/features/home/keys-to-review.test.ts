import { expect, test } from 'vitest';
import type { User } from '../../app/rpc/resources.ts';
import { keysToReview, unusedDays } from './keys-to-review.ts';

const day = 86_400_000;
const now = 200 * day;
const at = (time: number) => ({ seconds: String(time / 1000), nanos: '0' });

const key = (name: string, made: number, expiresAfter?: number, type = 'CREDENTIAL_TYPE_API_KEY_P256') =>
  ({
    apiKeyId: name,
    apiKeyName: name,
    credential: { type, publicKey: name },
    createdAt: at(made),
    ...(expiresAfter === undefined ? {} : { expirationSeconds: String(expiresAfter / 1000) }),
  }) as User['apiKeys'][number];

test('keys that never expire or that nothing used for 90 days are found, and no others', () => {
  const apiKeys = [
    key('window', 0),
    key('sign-in', 0, undefined, 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256'),
    key('expired', 0, 100 * day),
    key('fresh', now - day, 30 * day),
    key('forever', now - day),
    key('never used', now - unusedDays * day, 300 * day),
    key('used once', 0, 300 * day),
    key('used', 0, 300 * day),
  ];
  const uses = new Map([
    ['used once', at(now - (unusedDays + 1) * day)],
    ['used', at(now - (unusedDays - 1) * day)],
  ]);
  const found = keysToReview([{ userId: 'u', userName: 'Ann', apiKeys }], uses, { now, windowKey: 'window' });
  expect(found.map(({ apiKeyName, neverExpires, unused }) => [apiKeyName, neverExpires, unused])).toEqual([
    ['never used', false, true],
    ['used once', false, true],
    ['forever', true, false],
  ]);
});

import { expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../operations/index.ts';
import { redactSecrets } from './redact.ts';

const secret = z.string().meta({ format: 'password' });

test('texts that may be secrets are redacted wherever they stand, and all else stays', () => {
  const schema = z.object({
    code: secret,
    token: secret.optional(),
    name: z.string(),
    users: z.array(z.object({ name: z.string(), tokens: z.array(secret) })),
    mine: secret.meta({ id: 'WithheldTestSecret', format: 'password' }).optional(),
    either: z.union([z.object({ password: secret }), z.object({ key: z.string() })]),
  });
  const value = {
    code: '123456',
    mine: '654321',
    name: 'Ann',
    users: [
      { name: 'Ben', tokens: ['a', 'b'] },
      { name: 'Cem', tokens: [] },
    ],
    either: { password: 'p' },
  };
  expect(redactSecrets(schema, value)).toEqual({
    code: '(withheld)',
    mine: '(withheld)',
    name: 'Ann',
    users: [
      { name: 'Ben', tokens: ['(withheld)', '(withheld)'] },
      { name: 'Cem', tokens: [] },
    ],
    either: { password: '(withheld)' },
  });
  expect(redactSecrets(schema, { ...value, either: { key: 'k' } })).toMatchObject({ either: { key: 'k' } });
});

test('a code that signs in is redacted, and what remains still fits its operation', () => {
  const operation = operations.byPath.get('submit/otp_auth');
  if (operation?.kind !== 'activity') throw new Error('otp_auth is missing');
  const [version] = operation.versions;
  const params = { otpId: '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70', otpCode: 'ABC123', targetPublicKey: '04' };
  const kept = redactSecrets(version?.params ?? z.never(), params);
  expect(kept).toEqual({ ...params, otpCode: '(withheld)' });
});

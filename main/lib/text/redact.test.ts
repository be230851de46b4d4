import { expect, test } from 'vitest';
import { redact } from './redact.ts';

test.each([
  ['no wallet "Ann’s savings", nor “Bob”', 'no wallet <quoted>, nor <quoted>'],
  [`no wallet ${JSON.stringify('Ann "the boss" Lee')}, nor "C:\\\\"`, 'no wallet <quoted>, nor <quoted>'],
  ['no wallet "Ann Lee, which is cut\nnor "Bob\\', 'no wallet <quoted>\nnor <quoted>'],
  ['mail to ann.lee+keys@example.org failed', 'mail to <address> failed'],
  [
    'getaddrinfo ENOTFOUND https://hooks.example.org/T0/secret-1?x=1 now',
    'getaddrinfo ENOTFOUND <address> now',
  ],
  ['smtp://user:pass@mail.example.org:25', '<address>'],
  ['activity 8e7f13e2-3ebf-42c5-9ed0-a0faad035be3 (ACTIVITY_TYPE_X)', 'activity <id> (ACTIVITY_TYPE_X)'],
  ['the disk of /media/ann/stick is full', 'the disk of <path> is full'],
  ['C:\\Users\\Ann\\x.backup: gone', '<path>: gone'],
  ['signed by 0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe.', 'signed by <key>.'],
  ['to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'to <key>'],
  ['to 4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', 'to <key>'],
  ['key 02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5', 'key <key>'],
  ['token eyJhbGciOiJFUzI1NiJ9eyJzdWIiOiIxMjM0NTY3ODkwIn0=', 'token <key>'],
  ['code sent to +49 170 1234567', 'code sent to <number>'],
])('%s', (text, expected) => {
  expect(redact(text)).toBe(expected);
  expect(redact(expected)).toBe(expected);
});

test('stacks, operations, versions and times stay as they are', () => {
  const text = [
    '2026-11-23T15:07:20.123Z error Error: SQLITE_CONSTRAINT: UNIQUE constraint failed: users.id',
    '    at startVault (main/app/compose.ts:409:7)',
    '    at async Promise.all (index 0)',
    '    at node:internal/process/task_queues:103:5',
    'info  Keyhearth 0.1.0 starts: process 4711, linux, v24.21.0',
    'debug request submit/init_import_private_key: 400 INVALID_ARGUMENT in 12 ms, 1048576 bytes in, 0 out',
    'The service listens on http://127.0.0.1:7377; ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  ].join('\n');
  expect(redact(text)).toBe(text);
});

test('known names go first, the longest of them before what they are within', () => {
  const names = [
    ['/home/ann', '~'],
    ['/home/ann/.local/share/keyhearth', '<vault>'],
    ['', 'nothing'],
  ] as const;
  expect(
    redact('/home/ann/.local/share/keyhearth/vault.db of /home/ann, in /home/ann/My Backups/x', names),
  ).toBe('<vault>/vault.db of ~, in ~/My Backups/x');
});

test('a long text is redacted quickly', () => {
  const texts = [
    'a'.repeat(100_000),
    '/a'.repeat(50_000),
    'a1'.repeat(50_000),
    '"'.repeat(100_001),
    '\\"'.repeat(50_000),
    `"${'\\'.repeat(100_000)}`,
    '“'.repeat(100_000),
    'a.'.repeat(50_000),
    '1-'.repeat(50_000),
    '@'.repeat(100_000),
    `a:${'/'.repeat(100_000)}`,
    '+1 '.repeat(30_000),
  ];
  const began = process.cpuUsage();
  for (const text of texts) redact(text);
  const { user } = process.cpuUsage(began);
  expect(user / 1000).toBeLessThan(1000);
});

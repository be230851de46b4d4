/** The address book: a name stands beside an address, never in its place, and no name misleads. */
import { serializeTransaction } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityOf, newWallet, resultOf, startTestVault } from '../support/support.ts';
import type { Json, TestVault } from '../support/support.ts';

let service: TestVault;
let ethereum: string;

beforeAll(async () => {
  service = await startTestVault();
  ({ ethereum } = await newWallet(service.root));
});
afterAll(() => service[Symbol.asyncDispose]());

const stranger = '0x52908400098527886E0F7030069857D2E4169EE7';

const add = (name: string, address: string, client = service.root) =>
  client.submit('create_known_address', 'CREATE_KNOWN_ADDRESS', { name, address });

async function book(): Promise<readonly Json[]> {
  const { body } = await service.root.query('list_known_addresses', {});
  return body?.['knownAddresses'] as readonly Json[];
}

async function describe(
  to: string,
): Promise<{ readonly title: string; readonly warnings: readonly string[] }> {
  const { body } = await service.root.query('describe_payload', {
    unsignedTransaction: serializeTransaction({
      type: 'eip1559',
      chainId: 1,
      to: to.toLowerCase() as `0x${string}`,
      value: 1n,
    }),
    type: 'TRANSACTION_TYPE_ETHEREUM',
    signWith: ethereum,
  });
  return body?.['description'] as { readonly title: string; readonly warnings: readonly string[] };
}

/** Another address that begins and ends alike, by four digits; in small letters, which no checksum is about. */
const alike = (address: string): string =>
  `${address.slice(0, 6)}${'0'.repeat(32)}${address.slice(-4)}`.toLowerCase();

test('a name stands beside its address wherever a signature is described, however the address was written', async () => {
  expect((await describe(stranger)).title).toContain(`to ${stranger}`);
  const { knownAddressId } = resultOf(await add('Supplier', stranger.toLowerCase())) as Json;
  expect(await book()).toMatchObject([{ knownAddressId, name: 'Supplier', address: stranger }]);
  const named = await describe(stranger);
  expect(named.title).toContain(`to “Supplier” (${stranger})`);
  expect(named.warnings).toEqual([]);
  // The vault warns of an address that is ground to look like it.
  const ground = await describe(alike(stranger));
  expect(ground.warnings.join()).toMatch(
    /begins and ends like 0x52908400098527886E0F7030069857D2E4169EE7, which has one/,
  );
});

test.each([
  ['an address of the vault', () => ['Bank', ethereum], /is an address of this vault/],
  ['one that looks like an address of the vault', () => ['Bank', alike(ethereum)], /begins and ends like/],
  [
    'one that looks like an address of the book',
    () => ['Supplier 2', alike(stranger)],
    /begins and ends like/,
  ],
  ['an address that has a name', () => ['Other', stranger], /has the name "Supplier"/],
  ['a name that is taken', () => ['Supplier', `0x${'11'.repeat(20)}`], /is taken/],
  ['a name that looks like another', () => ['Suppliеr', `0x${'11'.repeat(20)}`], /looks like "Supplier"/],
  ['a name that is an address', () => [stranger, `0x${'11'.repeat(20)}`], /does not read as an address/],
  [
    'a name with a turn in its direction',
    () => ['Sup\u202eplier', `0x${'11'.repeat(20)}`],
    /parameters\.name/,
  ],
  ['a name of 10,000 characters', () => ['x'.repeat(10_000), `0x${'11'.repeat(20)}`], /parameters\.name/],
  ['no address', () => ['Nothing', 'two words'], /parameters\.address/],
  [
    'one of Ethereum with a digit too few',
    () => ['Bank', stranger.slice(0, -1)],
    /is mistyped: expected 40 or 64/,
  ],
  [
    'one of Bitcoin with two letters changed over',
    () => ['Bank', 'bc1qra0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    /is mistyped: expected the checksum of a Bech32/,
  ],
  [
    'one of Bitcoin in mixed letters',
    () => ['Bank', 'bc1Qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    /is mistyped: expected the checksum of a Bech32/,
  ],
  [
    'the name of a vault’s account in another prefix',
    () => ['Bank', ethereum.replace('0x', '0X')],
    /is an address of this vault/,
  ],
  ['an old one of Bitcoin', () => ['Bank', '1BoatSLRHtKNngkdXEeobR76b53LETtpyU'], /the checksum of a Base58/],
  ['one of Tron', () => ['Bank', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv9'], /the checksum of a Base58/],
] as const)('%s is refused', async (_what, wish, why) => {
  const before = await book();
  const [name = '', address = ''] = wish();
  const { status, body } = await add(name, address);
  expect(status).toBe(400);
  expect(body?.['message']).toMatch(why);
  expect(await book()).toEqual(before);
});

test.each([
  ['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
  ['1BoatSLRHtKNngkdXEeobR76b53LETtpyT', undefined],
  ['415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ['0x415CBDD86A2FA8DC4BDDD8A8F69DBA48572EEC07FB', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  [`0X${'ab'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
  ['11111111111111111111111111111111', undefined],
  ['7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU', undefined],
  [`0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
  ['rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH', undefined],
  ['cosmos1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3v9z5yy', undefined],
])('%s is kept as its chain writes it', async (address, written = address) => {
  const { knownAddressId } = resultOf(await add('Somebody', address)) as Json;
  expect(await book()).toContainEqual(expect.objectContaining({ knownAddressId, address: written }));
  resultOf(await service.root.submit('delete_known_address', 'DELETE_KNOWN_ADDRESS', { knownAddressId }));
});

test('who may sign may not name: the book is as guarded as the policies', async () => {
  const bot = await service.newUser('Bot');
  activityOf(
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'The bot signs',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN' || activity.resource == 'WALLET'",
      consensus: `approvers.any(user, user.id == '${bot.userId}')`,
      notes: '',
    }),
  );
  const [first] = await book();
  const named = await add('Mine', `0x${'22'.repeat(20)}`, bot.client);
  const removed = await bot.client.submit('delete_known_address', 'DELETE_KNOWN_ADDRESS', {
    knownAddressId: first?.['knownAddressId'],
  });
  expect([named.status, removed.status]).toEqual([403, 403]);
  expect(await book()).toHaveLength(1);
});

test('a name is taken away again', async () => {
  const [first] = await book();
  activityOf(
    await service.root.submit('delete_known_address', 'DELETE_KNOWN_ADDRESS', {
      knownAddressId: first?.['knownAddressId'],
    }),
  );
  expect(await book()).toEqual([]);
  expect((await describe(stranger)).title).toContain(`to ${stranger}`);
});

import { maxUint256 } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Description, Line } from '../../main/chains/description.ts';
import type { FactOf } from '../../main/chains/facts.ts';
import { Unknown } from '../../main/policy/language/types.ts';
import { savings, sender, stranger, usdc } from './ethereum.ts';
import { atLength } from '../campaigns/length.ts';
import { violationsOf } from './law.ts';
import {
  authorizedTransfers,
  bulkSeaport,
  daiPermit,
  encode,
  forwarded,
  orders,
  permit,
  permitBatch,
  permitSingle,
  read,
  safeTransaction,
  seaport,
  transferPermits,
  typedData,
  typedDataLaw,
  unknown,
  userOperation,
} from './typed-data.ts';

test('typed data that is shown alike, or gives policies the same facts, has the same hash', () => {
  const options = { ...typedDataLaw, reads: atLength(600, 2000), tries: 40_000, seed: 15 };
  const { violations, read: reads } = violationsOf(options);
  expect(violations).toEqual([]);
  expect(reads).toBe(options.reads);
});

function described(data: unknown): Description {
  const reading = read(encode(data));
  if (reading === undefined) throw new Error('not read');
  return reading.description;
}
const fact = (data: unknown): FactOf<'eth.eip_712'> | Unknown =>
  read(encode(data))?.facts as FactOf<'eth.eip_712'> | Unknown;
const known = (data: unknown): FactOf<'eth.eip_712'> => {
  const given = fact(data);
  if (given instanceof Unknown) throw new Error(given.reason);
  return given;
};
const linesOf = (data: unknown, part: string): readonly Line[] =>
  described(data).parts.find(({ title }) => title === part)?.lines ?? [];

const another = 'A permit lets another spend tokens, without any further transaction of yours.';
const order = 'Anyone who fills this order takes what it gives, without any further transaction of yours.';
const you = `your account ${sender}`;

describe('transfers of money or rights are shown with token, amount and receiver, and with a warning', () => {
  const limit = `Let ${stranger} spend up to 1,250 USDC`;
  test.each<[string, unknown, string, string]>([
    ['ERC-2612', permit(1_250_000_000n), limit, another],
    ['ERC-2612 without limit', permit(maxUint256), `Let ${stranger} spend USDC without limit`, another],
    [
      'to an account of ours',
      permit(1n, savings),
      `Let your Savings (${savings}) spend up to 0.000001 USDC`,
      another,
    ],
    ['Dai', daiPermit, `Let ${stranger} spend DAI without limit`, another],
    ['PermitSingle', permitSingle, limit, another],
    ...transferPermits.map((data): [string, unknown, string, string] => [
      String(data['primaryType']),
      data,
      String(data['primaryType']).includes('Batch') ? `${limit} and up to 1 WETH` : limit,
      another,
    ]),
    ...authorizedTransfers.map((data): [string, unknown, string, string] => [
      String(data['primaryType']),
      data,
      `Send 1,250 USDC from ${you} to ${stranger}`,
      'Anyone who has this signature can make the transfer',
    ]),
    [
      'Seaport',
      seaport,
      `Offer 1 of number 77 of the token ${stranger} and 5 USDC for 0.000000000000000001 ETH to ${you}`,
      order,
    ],
    ['Seaport in bulk', bulkSeaport, 'Make 4 offers: Offer 1 of number 77', order],
    ['a Safe', safeTransaction(0), `Send 1,250 USDC to ${stranger}`, 'It moves what the Safe owns'],
    [
      'a Safe that runs code',
      safeTransaction(1),
      `run the code of ${usdc} as its own`,
      'The code can spend all',
    ],
    [
      'ERC-4337',
      userOperation,
      `Let ${you} execute a call, as a smart account`,
      'does not read the call inside',
    ],
    ['CoW Protocol', orders[0], 'Trade 1,251 USDC against 0.000000000000000001 WETH', order],
    ['0x', orders[1], 'Trade 1,250 USDC against', order],
    ['1inch', orders[2], `paid to ${stranger}`, order],
    ['ERC-2771', forwarded, `Let another call ${stranger} in the name of ${you}`, 'takes the call as yours'],
  ])('%s', (_, data, title, warning) => {
    const { title: shown, warnings } = described(data);
    expect(shown).toContain(title);
    expect(warnings.join('\n')).toContain(warning);
  });

  test('by its shape, under any name', () => {
    const renamed = typedData(
      { Greeting: 'address spender,uint256 value' },
      { spender: stranger, value: String(maxUint256) },
      { verifyingContract: usdc },
    );
    expect(described(renamed)).toMatchObject({
      title: `Let ${stranger} spend USDC without limit`,
      warnings: [another, `${stranger} may then spend without limit: USDC.`],
    });
  });

  test('inside another struct', () => {
    const wrapped = typedData(
      { Login: 'Hidden[] list', Hidden: 'address spender,uint256 value' },
      { list: [{ spender: stranger, value: 1 }] },
      { verifyingContract: usdc },
    );
    const { title, warnings } = described(wrapped);
    expect(title).toBe('Sign “Login” for “App”');
    expect(warnings).toContain(`Inside the message: Let ${stranger} spend up to 0.000001 USDC.`);
    expect(warnings).toContain(another);
  });

  /** The class: what many small ones hide, because a warning names only the first. */
  test('without limit, among many inside another struct', () => {
    const small = Array.from({ length: 11 }, (_, value) => ({ spender: stranger, value }));
    const wrapped = typedData(
      { Login: 'Hidden[] list', Hidden: 'address spender,uint256 value' },
      { list: [...small, { spender: stranger, value: String(2n ** 256n - 1n) }] },
      { verifyingContract: usdc },
    );
    const { warnings } = described(wrapped);
    expect(warnings).toContainEqual(
      expect.stringContaining(`12 in all, first Let ${stranger} spend USDC without limit`),
    );
    expect(warnings).toContain(`${stranger} may then spend without limit: USDC.`);
  });

  test('of no shape that is known, by its names', () => {
    const { title, warnings } = described(
      typedData(
        { 'Exchange:UsdSend': 'string destination,string amount' },
        { destination: 'x', amount: '1' },
      ),
    );
    expect(title).toBe('Sign “Exchange:UsdSend” for “App”');
    expect(warnings).toEqual([
      'This vault does not know what an application does with “Exchange:UsdSend”.',
      'By its names it may move money.',
    ]);
  });
});

/** Entries of dust used to push what counts out of what was shown: any number of entries is shown, or counted. */
describe('a batch of any length', () => {
  test.each([1, 25, 99, 200])('%s entries of dust hide neither the token nor the spender', (entries) => {
    const { title, warnings } = described(permitBatch(entries));
    expect(title).toContain(`Let ${stranger} spend `);
    expect(title).toContain('USDC without limit');
    expect(warnings).toContain(`${stranger} may then spend without limit: USDC.`);
    const lines = linesOf(permitBatch(entries), 'Message');
    expect(lines).toContainEqual({ label: `details[${String(entries)}].token`, value: usdc });
    expect(lines).toContainEqual({ label: 'spender', value: stranger });
    expect(lines).toHaveLength((entries + 1) * 4 + 2);
    expect(known(permitBatch(entries)).message).toMatchObject({ spender: stranger });
  });

  test('beyond the bound the rest is counted and hashed, with a warning, and the fact is unknown', () => {
    const long = permitBatch(400);
    expect(described(long).title).toContain('USDC without limit');
    expect(described(long).warnings).toContain('There are 1606 values. Only the first 1000 are shown.');
    expect(linesOf(long, 'Message').at(-1)).toEqual({
      label: 'Not shown',
      value: expect.stringMatching(/^606 more values, SHA-256 [0-9a-f]{64}$/) as string,
    });
    expect(fact(long)).toBeInstanceOf(Unknown);
  });
});

describe('every leaf is shown under its path', () => {
  test('empty lists, structs and texts too', () => {
    const lines = linesOf(unknown, 'Message').map(({ label, value }) => `${label}: ${value}`);
    expect(lines).toEqual([
      'parts[0].label: a, b',
      'parts[0].to: No elements',
      'parts[1].label: ',
      `parts[1].to[0]: ${stranger}`,
      `parts[1].to[1]: ${sender}`,
      'one.label: No elements',
      `one.to[0]: ${usdc}`,
      'text: grüße\n⟨U+202E⟩05$',
      'data: 0x',
      'flags[0]: true',
      'flags[1]: false',
      'nothing: No members',
      'grid[0][0]: -1',
      'grid[0][1]: 2',
    ]);
  });

  test('the domain in a part of its own, and the types', () => {
    expect(linesOf(unknown, 'Domain').map(({ label }) => label)).toEqual([
      'name',
      'version',
      'chainId',
      'salt',
    ]);
    expect(linesOf(unknown, 'Types')).toEqual([
      {
        label: 'Message',
        value:
          'Unheard(Part[] parts,Part one,string text,bytes data,bool[] flags,Nothing nothing,int8[2][] grid)Nothing()Part(string label,address[] to)',
      },
      {
        label: 'Domain',
        value: 'EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)',
      },
    ]);
  });

  test('a member cannot pass for a line of ours', () => {
    const forged = typedData({ Note: 'string Network' }, { Network: 'Sepolia (a test network)' });
    expect(described(forged).lines).toContainEqual({ label: 'Network', value: 'Ethereum' });
    expect(linesOf(forged, 'Message')).toEqual([{ label: 'Network', value: 'Sepolia (a test network)' }]);
  });
});

describe('facts', () => {
  test('have the message, the domain with its salt, and the types', () => {
    expect(known(unknown)).toMatchObject({
      primary_type: 'Unheard',
      domain: { name: 'App', version: '1', chain_id: 1n, salt: `0x${'5a'.repeat(32)}` },
      message_type: expect.stringContaining('Unheard(Part[] parts') as string,
      domain_type: 'EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)',
    });
  });

  test.each([
    ['a member beyond the standard’s', 'string name,address operator', { operator: stranger }],
    ['a member of another type', 'string name,uint64 chainId', {}],
  ])('a domain with %s is unknown', (_, domain, more) => {
    const { types, ...rest } = typedData({ Note: 'string text' }, { text: 'x' }, more);
    const strange = { ...rest, types: { ...(types as object), ...domainType(domain) } };
    expect(known(strange).domain).toBeInstanceOf(Unknown);
    expect(described(strange).warnings).toContain('Its domain is not as the standard has it.');
  });
});

const domainType = (text: string): object => ({
  EIP712Domain: text.split(',').map((each) => {
    const [type, name] = each.split(' ');
    return { name, type };
  }),
});

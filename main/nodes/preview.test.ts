/** Previews by a node that lies. The class: an answer is data with bounds, and one that contradicts the transaction counts as none. */
import { encodeAbiParameters, encodeErrorResult, encodeEventTopics, parseAbi, type Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { rpcCodes, RpcError } from '../lib/web/json-rpc.ts';
import type { Previewable } from '../lib/web/previews.ts';
import { inTime, previewBy } from './preview.ts';
import { NoAnswer, NodeRefusal } from './node.ts';

const from = '0x52908400098527886E0F7030069857D2E4169EE7';
const to = '0x1111111111111111111111111111111111111111';
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const coins = `0x${'E'.repeat(40)}`;
const wanted: Previewable = {
  ...{ chainId: 1n, from, value: 5n, gas: 21_000n },
  call: { from, to, value: '0x5', gas: '0x5208', input: '0x' },
};
const events = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);
type Name = (typeof events)[number]['name'];

const event = (address: string, eventName: Name, args: readonly string[], data: Hex) => ({
  address,
  topics: [
    ...encodeEventTopics({ abi: events, eventName }),
    ...args.map((arg) => `0x${arg.slice(2).toLowerCase().padStart(64, '0')}`),
  ],
  data,
});
const number = (...values: readonly bigint[]): Hex =>
  encodeAbiParameters(
    values.map(() => ({ type: 'uint256' })),
    values,
  );
const sent = event(coins, 'Transfer', [from, to], number(5n));

const simulation = (logs: readonly unknown[], more: object = {}) => [
  { calls: [{ status: '0x1', gasUsed: '0x5208', returnData: '0x', logs, ...more }] },
];

/** A node that answers each method, or throws. */
function preview(answers: Readonly<Record<string, unknown>>, changes: Partial<Previewable> = {}) {
  const asked: (readonly [string, readonly unknown[]])[] = [];
  const ask = (method: string, params: readonly unknown[]): Promise<unknown> => {
    asked.push([method, params]);
    const answer = Object.hasOwn(answers, method) ? answers[method] : noMethod;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const said = previewBy({ check: () => Promise.resolve(), ask }, { ...wanted, ...changes });
  return said.then((found) => ({ found, asked }));
}

const noMethod = new NodeRefusal(-32601, 'the method does not exist');

describe('what moves', () => {
  const moved = async (...logs: readonly unknown[]) =>
    (await preview({ eth_simulateV1: simulation([sent, ...logs]) })).found.moves;

  test('is summed for each asset of the account, and named by the vault’s own list', async () => {
    const { found, asked } = await preview({
      eth_simulateV1: simulation([
        sent,
        event(usdc, 'Transfer', [from, to], number(1_000_000n)),
        event(usdc, 'Transfer', [from, usdc], number(250_500_000n)),
        event(to, 'Transfer', [usdc, from], number(7n)),
        event(to, 'Transfer', [usdc, to], number(8n)),
        event(to, 'Transfer', [to, from, '0x2a'], '0x'),
        event(to, 'TransferSingle', [to, to, from], number(3n, 4n)),
        event(
          to,
          'TransferBatch',
          [to, from, usdc],
          encodeAbiParameters([{ type: 'uint256[]' }, { type: 'uint256[]' }], [[1n], [2n]]),
        ),
      ]),
    });
    expect(found).toEqual({
      ...{ outcome: 'PREVIEW_OUTCOME_SUCCESS', method: 'eth_simulateV1', gas: '21000' },
      moves: {
        leaves: [
          { text: '0.000000000000000005 ETH', units: '5' },
          { text: '251.5 USDC', units: '251500000', contract: usdc },
          { text: `2 times number 1 of the token ${to}`, units: '2', contract: to, tokenId: '1' },
        ],
        arrives: [
          { text: `7 units of the token ${to}`, units: '7', contract: to },
          { text: `number 42 of the token ${to}`, units: '1', contract: to, tokenId: '42' },
          { text: `4 times number 3 of the token ${to}`, units: '4', contract: to, tokenId: '3' },
        ],
        ...{ allows: [], left: 0, unread: 0 },
      },
    });
    const blocks = { blockStateCalls: [{ calls: [wanted.call] }], traceTransfers: true };
    expect(asked).toEqual([['eth_simulateV1', [blocks, 'latest']]]);
  });

  test('has what others may take, as it is in the end', async () => {
    const moves = await moved(
      event(usdc, 'Approval', [from, to], number(2n ** 256n - 1n)),
      event(usdc, 'Approval', [from, usdc], number(9n)),
      event(usdc, 'Approval', [from, usdc], number(0n)),
      event(usdc, 'Approval', [to, usdc], number(9n)),
      event(to, 'ApprovalForAll', [from, usdc], number(1n)),
      event(to, 'Approval', [from, usdc], number(0n)),
      event(coins, 'ApprovalForAll', [from, usdc], number(1n)),
      event(coins, 'ApprovalForAll', [from, usdc], number(0n)),
      event(to, 'Approval', [from, `0x${'0'.repeat(40)}`, '0x2a'], '0x'),
    );
    expect(moves?.allows).toEqual([
      {
        text: expect.stringMatching(/^any amount: 115,792,.* USDC$/) as string,
        ...{ units: String(2n ** 256n - 1n), contract: usdc, spender: to },
      },
      { text: `all of the token ${to}`, contract: to, spender: usdc },
    ]);
  });

  test('counts what cannot be read, and what is left out', async () => {
    const odd = [
      event(usdc, 'Transfer', [from, to], '0x01'),
      event(usdc, 'Transfer', [from], number(1n)),
      event(usdc, 'Transfer', [`0x01${'0'.repeat(62)}`, to], number(1n)),
      event(usdc, 'TransferBatch', [to, from, to], number(64n, 64n)),
      event(usdc, 'TransferBatch', [to, from, to], number(64n, 2n ** 255n)),
      event(usdc, 'TransferSingle', [to, from, to], '0x'),
      event(usdc, 'ApprovalForAll', [from, to], '0x'),
    ];
    expect((await moved(...odd))?.unread).toBe(odd.length);
    const many = Array.from({ length: 60 }, (_, index) =>
      event(`0x${index.toString(16).padStart(40, '0')}`, 'Transfer', [to, from], number(1n)),
    );
    // A contract that writes many events hides no known token behind them.
    const moves = await moved(...many, event(usdc, 'Transfer', [to, from], number(1n)));
    expect([moves?.arrives.length, moves?.left]).toEqual([50, 11]);
    expect(moves?.arrives[0]?.text).toBe('0.000001 USDC');
  });
});

describe('a node that lies', () => {
  const none: readonly (readonly [string, unknown, RegExp])[] = [
    ['with no block', [], /otherwise than specified/],
    ['with two calls', [{ calls: [...simulation([sent]), ...simulation([sent])] }], /otherwise/],
    ['with a status of its own', simulation([sent], { status: '0x2' }), /otherwise/],
    ['with null', null, /otherwise/],
    ['with more gas than there is', simulation([sent], { gasUsed: '0x5209' }), /more gas than it allows/],
    ['with no coins', simulation([]), /leaves out coins/],
    ['with fewer coins', simulation([event(coins, 'Transfer', [from, to], number(4n))]), /leaves out coins/],
    ['with events of another shape', simulation([sent, { address: 'x' }]), /otherwise/],
    [
      'with five topics',
      simulation([{ ...sent, topics: Array(5).fill(`0x${'0'.repeat(64)}`) }]),
      /otherwise/,
    ],
    [
      'with events without end',
      simulation(Array.from({ length: 1001 }, () => sent)),
      /more than 1000 events/,
    ],
  ];
  test.each(none)('%s gives no preview', async (_what, answer, reason) => {
    const { found } = await preview({ eth_simulateV1: answer, eth_call: '0x' });
    expect(found).toEqual({
      outcome: 'PREVIEW_OUTCOME_NO_ANSWER',
      reason: expect.stringMatching(reason) as string,
    });
  });

  test('about its chain, or not at all, gives no preview', async () => {
    for (const error of [
      new RpcError(rpcCodes.disconnected, 'of chain 5'),
      new NoAnswer(rpcCodes.internal, 'it redirects'),
    ]) {
      const check = () => Promise.reject(error);
      const ask = () => Promise.reject(new Error('it is asked all the same'));
      expect(await previewBy({ check, ask }, wanted)).toEqual({
        outcome: 'PREVIEW_OUTCOME_NO_ANSWER',
        reason: error.message,
      });
    }
  });

  // A contract writes its reason, and a node its message: neither passes for words of the vault, or for two lines.
  test.each(['eth_simulateV1', 'eth_call'])(
    'in the words of a failure is quoted, on one line (%s)',
    async (method) => {
      const lie = `Safe.\n\u202eThe vault has verified\u0000${'x'.repeat(1000)}`;
      const data = encodeErrorResult({
        abi: parseAbi(['error Error(string)']),
        errorName: 'Error',
        args: [lie],
      });
      const error = new NodeRefusal(3, 'execution reverted', data);
      const failed = simulation([], { status: '0x0', returnData: data, error: { message: lie } });
      const { found } = await preview({ [method]: method === 'eth_call' ? error : failed });
      expect(found).toMatchObject({ outcome: 'PREVIEW_OUTCOME_FAILURE', method });
      expect(found.said).toMatch(/^Safe\.⟨U\+000A⟩⟨U\+202E⟩The vault has verified⟨U\+0000⟩x+$/);
      expect(found.said?.length).toBeLessThan(400);
      expect(found.reason).toBeUndefined();
    },
  );

  test('by a pause is left', async () => {
    const never = new Promise<never>(() => undefined);
    expect(await inTime(never, 20)).toEqual({
      outcome: 'PREVIEW_OUTCOME_NO_ANSWER',
      reason: 'the node gives no answer within 0.02 s',
    });
  });
});

describe('a node without eth_simulateV1', () => {
  test('is asked by eth_call, and says nothing of what moves', async () => {
    const { found, asked } = await preview({ eth_call: '0x' });
    expect(found).toEqual({ outcome: 'PREVIEW_OUTCOME_SUCCESS', method: 'eth_call' });
    const { input, ...rest } = wanted.call;
    expect(asked.at(-1)).toEqual(['eth_call', [{ ...rest, data: input }, 'latest']]);
  });

  const reverts: readonly (readonly [string, NodeRefusal, string])[] = [
    ['with its code alone', new NodeRefusal(3, 'no'), 'no'],
    ['with its word alone', new NodeRefusal(-32000, 'Execution Reverted'), 'Execution Reverted'],
    [
      'with its data wrapped',
      new NodeRefusal(-32015, 'VM error', { data: '0x12345678' }),
      'VM error (error 0x12345678)',
    ],
    ['by a panic', new NodeRefusal(3, 'no', `0x4e487b71${'0'.repeat(62)}11`), 'Panic 0x11'],
    [
      'with a length that lies',
      new NodeRefusal(3, 'no', `0x08c379a0${'f'.repeat(128)}`),
      'no (error 0x08c379a0)',
    ],
  ];
  test.each(reverts)('says a failure %s', async (_what, error, said) => {
    const { found } = await preview({ eth_call: error });
    expect(found).toEqual({ outcome: 'PREVIEW_OUTCOME_FAILURE', method: 'eth_call', said });
  });

  test('gives no preview where it refuses that too', async () => {
    const refused = await preview({ eth_call: new NodeRefusal(-32000, 'insufficient funds') });
    expect(refused.found).toEqual({
      outcome: 'PREVIEW_OUTCOME_NO_ANSWER',
      ...{ reason: 'the node refuses', said: 'insufficient funds' },
    });
    expect((await preview({ eth_call: 5 })).found.outcome).toBe('PREVIEW_OUTCOME_NO_ANSWER');
  });
});

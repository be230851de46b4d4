import { encodeFunctionData, erc20Abi, erc721Abi, getAddress, parseAbi, type AbiFunction } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Call } from './abi.ts';
import { readStandardCall, titleOfCall, warningsOfCall, type Words } from './standard-calls.ts';

const [token, spender, owner] = ['aa', 'bb', 'cc'].map((byte) => getAddress(`0x${byte.repeat(20)}`));
const signature = 'uint8 v, bytes32 r, bytes32 s';

/** The state that each changes is money or the right to it: viem has the signatures. */
const standards = [
  ...erc20Abi,
  ...erc721Abi,
  ...parseAbi([
    'function increaseAllowance(address spender, uint256 addedValue)',
    'function decreaseAllowance(address spender, uint256 subtractedValue)',
    `function permit(address owner, address spender, uint256 value, uint256 deadline, ${signature})`,
    `function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, ${signature})`,
    `function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, ${signature})`,
    'function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
    'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)',
    'function transferAndCall(address to, uint256 value, bytes data)',
    'function approve(address token, address spender, uint160 amount, uint48 expiration)',
    'function transferFrom(address from, address to, uint160 amount, address token)',
  ]),
].filter((entry) => entry.type === 'function' && entry.stateMutability !== 'view') as AbiFunction[];

const samples: Readonly<Record<string, unknown>> = {
  address: spender,
  bool: true,
  bytes: '0x0102',
  bytes32: `0x${'07'.repeat(32)}`,
  uint8: 27,
  uint48: 9,
  uint160: 5n,
  uint256: 5n,
  'uint256[]': [5n, 6n],
};

const words: Words = {
  account: (address) => address,
  amount: (units, address) => `${String(units)} of ${address}`,
  token: (address) => address,
  knows: () => false,
  contract: token ?? '',
  sender: owner,
};

const called = ({ name, inputs, ...entry }: AbiFunction, values = samples): Call | undefined => {
  const args = inputs.map(({ type }) => values[type]);
  const data = encodeFunctionData({ abi: [{ name, inputs, ...entry }], args } as never);
  return readStandardCall(Buffer.from((data as string).slice(2), 'hex'));
};
const text = ({ name, inputs }: AbiFunction): string =>
  `${name}(${inputs.map(({ type }) => type).join(',')})`;

describe('every call of a token’s standard', () => {
  test.each(standards.map((entry) => [text(entry), entry] as const))('%s is read and told', (name, entry) => {
    const call = called(entry);
    expect(call?.signature).toBe(name);
    expect(call?.args).toHaveLength(entry.inputs.length);
    if (call !== undefined) expect(titleOfCall(call, words)).toContain(spender);
  });

  test.each(standards.map((entry) => [text(entry), entry] as const))(
    '%s is warned of where it cannot be read',
    (name, { name: called, inputs, ...entry }) => {
      const args = inputs.map(({ type }) => samples[type]);
      const data = encodeFunctionData({ abi: [{ name: called, inputs, ...entry }], args } as never) as string;
      const call = readStandardCall(Buffer.from(`${data.slice(2)}00`, 'hex'));
      expect(call).toMatchObject({ signature: name, args: undefined });
      expect(call && warningsOfCall(call, words)).toEqual([
        `Calls of ${called} can give away tokens or rights. This one cannot be read.`,
      ]);
    },
  );
});

test.each([
  [2n ** 96n - 2n, 'up to 79228162514264337593543950334'],
  [2n ** 96n - 1n, 'without limit'],
  [2n ** 256n - 1n, 'without limit'],
])('an allowance of %s is %s', (amount, limit) => {
  const [approve] = erc20Abi.filter((entry) => entry.name === 'approve');
  const call = approve && called(approve, { ...samples, uint256: amount });
  expect(call && titleOfCall(call, words)).toContain(limit);
});

test("a transfer of the signer's own tokens is not described as taking", () => {
  const [move] = erc20Abi.filter((entry) => entry.name === 'transferFrom');
  const call = move && called(move);
  const taking = (sender: string | undefined): boolean =>
    call !== undefined &&
    warningsOfCall(call, { ...words, sender })
      .join()
      .includes('takes tokens out of');
  expect([taking(owner), taking(undefined)]).toEqual([true, true]);
  const checksummed = call?.args?.[0]?.value as string;
  expect(taking(checksummed)).toBe(false);
});

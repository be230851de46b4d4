/** Ethereum's transactions, typed data and authorizations in plain language. */
import type { Authorization } from '../../crypto/authorizations.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import { toHex } from '../../crypto/encodings.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { integerBytes } from '../../crypto/integers.ts';
import type { TypedData, TypedObject, TypedValue } from '../../crypto/typed-data.ts';
import { readAbi, readCall, type Abi, type Call } from './abi.ts';
import { written } from '../arguments.ts';
import { cut, line, mostParts, type Description, type Line } from '../description.ts';
import type { EthereumTransaction } from './read.ts';
import { decimal } from '../amounts.ts';

interface ChainName {
  readonly name: string;
  readonly coin: string;
}

/** The larger chains and their test networks; of others the number is shown. */
const chainNames: Readonly<Record<string, ChainName>> = {
  1: { name: 'Ethereum', coin: 'ETH' },
  10: { name: 'OP Mainnet', coin: 'ETH' },
  56: { name: 'BNB Smart Chain', coin: 'BNB' },
  100: { name: 'Gnosis', coin: 'xDAI' },
  137: { name: 'Polygon', coin: 'POL' },
  324: { name: 'ZKsync Era', coin: 'ETH' },
  8453: { name: 'Base', coin: 'ETH' },
  42161: { name: 'Arbitrum One', coin: 'ETH' },
  43114: { name: 'Avalanche C-Chain', coin: 'AVAX' },
  59144: { name: 'Linea', coin: 'ETH' },
  534352: { name: 'Scroll', coin: 'ETH' },
  17000: { name: 'Holesky (a test network)', coin: 'test ETH' },
  560048: { name: 'Hoodi (a test network)', coin: 'test ETH' },
  84532: { name: 'Base Sepolia (a test network)', coin: 'test ETH' },
  421614: { name: 'Arbitrum Sepolia (a test network)', coin: 'test ETH' },
  11155111: { name: 'Sepolia (a test network)', coin: 'test ETH' },
  11155420: { name: 'OP Sepolia (a test network)', coin: 'test ETH' },
};

const anyChain = 'Every chain: it names none';
const chainOf = (chainId: bigint | undefined): ChainName => {
  const known = chainId === undefined ? undefined : chainNames[String(chainId)];
  return known ?? { name: chainId === undefined ? anyChain : `Chain ${String(chainId)}`, coin: 'coins' };
};

/** Calls that any wallet meets. What a contract makes of them is its own affair. */
const commonCalls = ((): Abi => {
  const parameter = (text: string) => {
    const [type = '', name = ''] = text.split(' ');
    return { type, name };
  };
  const calls: readonly (readonly [string, string])[] = [
    ['transfer', 'address to,uint256 amount'],
    ['transferFrom', 'address from,address to,uint256 amount'],
    ['approve', 'address spender,uint256 amount'],
    ['increaseAllowance', 'address spender,uint256 amount'],
    ['setApprovalForAll', 'address operator,bool approved'],
    ['safeTransferFrom', 'address from,address to,uint256 tokenId'],
    ['deposit', ''],
    ['withdraw', 'uint256 amount'],
  ];
  const abi = readAbi(
    calls.map(([name, inputs]) => ({
      type: 'function',
      name,
      inputs: inputs === '' ? [] : inputs.split(',').map(parameter),
    })),
  );
  if (!abi.ok) throw new Error(abi.problem);
  return abi.value;
})();

/** ERC-8213: the hash of the data's length, as 32 bytes, and the data. */
export const calldataDigest = (data: Uint8Array): Uint8Array =>
  keccak256(concatBytes(integerBytes(BigInt(data.length), 32), data));

/** @param abi The interface of the contract that is called, where one is kept. */
export function describeEthereum(transaction: EthereumTransaction, abi: Abi | undefined): Description {
  const { to, value, data, chainId, nonce, gas, gasPrice, maxFeePerGas } = transaction;
  const { name, coin } = chainOf(chainId);
  const amount = `${decimal(value, 18)} ${coin}`;
  const own = abi && readCall(abi, data);
  const known = own?.ok ? own.value : callOf(commonCalls, data);
  const price = gasPrice ?? maxFeePerGas ?? 0n;
  const blobs = BigInt(transaction.blobHashes.length) * 131_072n * (transaction.maxFeePerBlobGas ?? 0n);
  const warnings: string[] = [];
  if (chainId === undefined) warnings.push('It names no chain: whoever has it can send it on every chain.');
  if (own?.ok === false) warnings.push(`The call does not fit the interface that is kept: ${own.problem}.`);
  if (data.length > 0 && known === undefined && to !== '') {
    warnings.push('The contract is called with data that nothing here can read: what it does is not known.');
  }
  if (known !== undefined) warnings.push(...warningsOf(known));
  if (transaction.authorizations.length > 0) {
    warnings.push('Accounts take a contract’s code as their own: it can spend all that they have.');
  }
  return {
    title: titleOf(to, data, amount, value, known),
    lines: [
      line('Network', name),
      line(
        to === '' ? 'Receiver' : data.length > 0 ? 'Contract' : 'To',
        to === '' ? 'None: a contract is created' : to,
      ),
      line('Amount', amount),
      line('Fee at most', `${decimal(gas * price + blobs, 18)} ${coin}`),
      line('Nonce', nonce),
      ...(data.length > 0 ? [line('Data', cut(`0x${toHex(data)}`))] : []),
    ],
    parts: [
      ...(known === undefined || data.length === 0
        ? []
        : [
            {
              title: `${known.signature}${own?.ok ? '' : ', as tokens have it'}`,
              lines: known.args.map(({ name: argument, value: given }) =>
                line(argument, cut(written(given))),
              ),
            },
          ]),
      ...transaction.authorizations.slice(0, mostParts).map((authorization) => ({
        title: `Lets an account run the code of ${authorization.address}`,
        lines: [
          line('Network', authorization.chainId === 0n ? anyChain : chainOf(authorization.chainId).name),
        ],
      })),
      ...(transaction.accessList.length > 0
        ? [
            {
              title: 'Access list',
              lines: transaction.accessList
                .slice(0, mostParts)
                .map(({ address, storageKeys }) => line(address, `${String(storageKeys)} keys`)),
            },
          ]
        : []),
    ],
    warnings,
    digests: data.length > 0 ? [line('Calldata digest', `0x${toHex(calldataDigest(data))}`)] : [],
  };
}

function callOf(abi: Abi, data: Uint8Array): Call | undefined {
  const read = readCall(abi, data);
  return read?.ok ? read.value : undefined;
}

function titleOf(
  to: string,
  data: Uint8Array,
  amount: string,
  value: bigint,
  call: Call | undefined,
): string {
  if (to === '') return 'Create a contract';
  if (data.length === 0) return `Send ${amount} to ${to}`;
  const paying = value > 0n ? `, paying ${amount}` : '';
  return call === undefined ? `Call the contract ${to}${paying}` : `Call ${call.name} of ${to}${paying}`;
}

/** So much that it can only mean all there is. */
const practicallyAll = 1n << 127n;

function warningsOf({ name, args }: Call): string[] {
  const [first, second] = args.map(({ value }) => value);
  if (name === 'approve' || name === 'increaseAllowance') {
    const all = typeof second === 'bigint' && second >= practicallyAll;
    return second === 0n
      ? []
      : [
          `${written(first ?? null)} may then spend ${all ? 'all of these tokens, without limit' : 'these tokens'}.`,
        ];
  }
  if (name === 'setApprovalForAll' && second === true) {
    return [`${written(first ?? null)} may then move every token of this contract that you own.`];
  }
  return [];
}

/** Leaves of nested values, each under its path. */
function leaves(value: TypedValue, path: string): Line[] {
  if (typeof value !== 'object') return [line(path, cut(String(value)))];
  const entries: readonly (readonly [string, TypedValue])[] = Array.isArray(value)
    ? (value as readonly TypedValue[]).map((each, index) => [`${path}[${String(index)}]`, each] as const)
    : Object.entries(value as TypedObject).map(
        ([name, each]) => [path === '' ? name : `${path}.${name}`, each] as const,
      );
  return entries
    .slice(0, mostParts)
    .flatMap(([name, each]) => leaves(each, name))
    .slice(0, mostParts);
}

export function describeTypedData(data: TypedData): Description {
  const { primaryType, domain, message, domainHash, messageHash, digest } = data;
  const application = domain['name'];
  const { chainId } = domain;
  const warnings: string[] = [];
  if (
    /^(Permit|DaiPermit|PermitSingle|PermitBatch|PermitTransferFrom|PermitBatchTransferFrom)$/.test(
      primaryType,
    )
  ) {
    warnings.push('A permit lets another spend tokens, without any further transaction of yours.');
  }
  if (chainId === undefined) warnings.push('It names no chain: it may hold on every one.');
  return {
    title: `Sign ${primaryType}${typeof application === 'string' ? ` for ${cut(application)}` : ''}`,
    lines: [
      ...(typeof chainId === 'bigint' ? [line('Network', chainOf(chainId).name)] : []),
      ...leaves(domain, '').filter(({ label }) => label !== 'chainId'),
    ],
    parts: [{ title: primaryType, lines: leaves(message, '') }],
    warnings,
    // The names are those of ERC-8213.
    digests: [
      line('EIP-712 digest', `0x${toHex(digest)}`),
      line('Domain hash', `0x${toHex(domainHash)}`),
      line('Message hash', `0x${toHex(messageHash)}`),
    ],
  };
}

export const describeAuthorization = ({ address, chainId, nonce, digest }: Authorization): Description => ({
  title: `Let your account run the code of ${address}`,
  lines: [line('Network', chainId === 0n ? anyChain : chainOf(chainId).name), line('Nonce', nonce)],
  parts: [],
  warnings: ['The contract’s code becomes your account’s own: it can spend all that the account has.'],
  digests: [line('Digest', `0x${toHex(digest)}`)],
});

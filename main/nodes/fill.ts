/** Completes the nonce, gas and fees of a transaction by its node, as far as that can be believed. */
import { hexOfNumber, type Wish } from '../chains/ethereum/requests.ts';
import { rpcCodes, RpcError } from '../lib/web/json-rpc.ts';
import type { ChainNode } from './node.ts';

/** Of what a node says, where the caller names nothing itself. */
const most = { gas: 100_000_000n, feePerGas: 10_000_000_000_000n, nonce: 1n << 53n };

/** @throws RpcError where the node refuses, or says what is not believed. */
export async function nonceOf(node: ChainNode, address: string): Promise<bigint> {
  const nonce = await node.number('eth_getTransactionCount', [address, 'pending']);
  if (nonce < most.nonce) return nonce;
  throw absurd('nonce', nonce);
}

/** Completes gas and fees by the node. @throws RpcError where the node refuses, or says what no one would pay. */
export async function fill(node: ChainNode, wish: Wish): Promise<Wish> {
  const { from, to, value, data, accessList } = wish;
  const call = { from, ...(to !== '' && { to }), value: hexOfNumber(value), data, accessList };
  const gas =
    wish.gas ?? (await node.number('eth_estimateGas', [accessList.length > 0 ? call : without(call)]));
  if (wish.gas === undefined && gas > most.gas) throw absurd('gas', gas);
  if (
    wish.gasPrice !== undefined ||
    (wish.maxFeePerGas !== undefined && wish.maxPriorityFeePerGas !== undefined)
  ) {
    return { ...wish, gas };
  }
  const block = (await node.ask('eth_getBlockByNumber', ['latest', false])) as {
    baseFeePerGas?: unknown;
  } | null;
  const base = block?.baseFeePerGas;
  const type = wish.type ?? (typeof base === 'string' ? 'TYPE_2' : 'LEGACY');
  if (type !== 'TYPE_2') {
    const gasPrice = reasonable(await node.number('eth_gasPrice', []));
    return { ...wish, gas, gasPrice, type: type === 'LEGACY' && accessList.length > 0 ? 'TYPE_1' : type };
  }
  if (typeof base !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(base)) {
    throw new RpcError(rpcCodes.internal, 'the node says no base fee: give gasPrice');
  }
  const tip = wish.maxPriorityFeePerGas ?? reasonable(await node.number('eth_maxPriorityFeePerGas', []));
  const maxFeePerGas = wish.maxFeePerGas ?? reasonable(2n * BigInt(base) + tip);
  return { ...wish, gas, type, maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
}

const without = ({ accessList: _, ...rest }: Record<string, unknown>): Record<string, unknown> => rest;

function reasonable(fee: bigint): bigint {
  if (fee <= most.feePerGas) return fee;
  throw absurd('fee for a unit of gas', fee);
}

const absurd = (what: string, number: bigint): RpcError =>
  new RpcError(
    rpcCodes.internal,
    `the node says a ${what} of ${String(number)}, which is not believed: give your own`,
  );

/** What policies may read of Ethereum's transactions. */
import { encodeAddress } from '../../crypto/addresses.ts';
import { toHex } from '../../crypto/encodings.ts';
import { byName } from '../arguments.ts';
import type { FactOf } from '../facts.ts';
import type { Interfaces } from '../interfaces.ts';
import { readCall } from './abi.ts';
import type { EthereumTransaction } from './read.ts';

/**
 * What a call says is there where an interface of its contract is kept and reads it.
 * @param publicKey The signer's, compressed: whoever signs is the sender.
 */
export function ethereumFact(
  { type, to, data, value, gas, chainId, nonce, ...fees }: EthereumTransaction,
  publicKey: Uint8Array | undefined,
  interfaces: Interfaces,
): FactOf<'eth.tx'> {
  const abi = to === '' ? undefined : interfaces.abi(to);
  const read = abi && readCall(abi, data);
  const call = read?.ok ? read.value : undefined;
  return {
    type,
    from: publicKey && encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', publicKey),
    to,
    data: `0x${toHex(data)}`,
    value,
    gas,
    // Of a transaction with a fee market it is the most that a unit of gas may cost.
    gas_price: fees.gasPrice ?? fees.maxFeePerGas,
    chain_id: chainId,
    nonce,
    max_fee_per_gas: fees.maxFeePerGas,
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas,
    max_fee_per_blob_gas: fees.maxFeePerBlobGas,
    function_name: call?.name,
    function_signature: call?.selector,
    contract_call_args: call && byName(call.args),
  };
}

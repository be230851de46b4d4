/** Accounts, tokens and calls of Tron, as a description names them. */
import { encodeAddress } from '../addresses/addresses.ts';
import { decodeBase58, encodeBase58Check } from '../../crypto/encodings.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import type { Context } from '../chain.ts';
import type { Writer } from '../description.ts';
import type { AddressForm, Call } from '../ethereum/abi.ts';
import { readStandardCall, type Words } from '../ethereum/standard-calls.ts';
import { utf8 } from '../reading.ts';
import { ownWords, strangerWords } from '../known.ts';
import { tokenAmount, tokenAt } from '../tokens.ts';
import type { Naming } from './contracts.ts';
import type { TronContract } from './read.ts';

/** The account of the key that signs. */
const senderOf = ({ key }: Context): string | undefined =>
  key?.curve === 'CURVE_SECP256K1'
    ? encodeAddress('ADDRESS_FORMAT_TRON', 'CURVE_SECP256K1', key.publicKey)
    : undefined;

export function namingOf(context: Context, writer: Writer): Naming {
  const sender = senderOf(context);
  return {
    account(address) {
      const own = context.ours(address);
      if (own !== undefined) return ownWords(own, address, writer);
      if (address === sender) return `your account ${address}`;
      return address === '' ? 'no account' : strangerWords(address, context, writer);
    },
    isOurs: (address) => address === '' || address === sender || context.ours(address) !== undefined,
    name(hex) {
      const text = utf8(Buffer.from(hex, 'hex'));
      return text === undefined ? `0x${hex}` : `“${writer.text(text)}”`;
    },
    text: (text) => `“${writer.text(text)}”`,
  };
}

/** @param contract The contract that is called. */
export const wordsOf = ({ account }: Naming, context: Context, contract: string): Words => {
  const tokenOf = (address: string) => tokenAt('tron', address);
  return {
    account,
    amount(units, address) {
      const token = tokenOf(address);
      return token === undefined
        ? `${String(units)} units of the token ${address}`
        : tokenAmount(token, units);
    },
    token: (address) => tokenOf(address)?.symbol ?? `the token ${address}`,
    knows: (address) => tokenOf(address) !== undefined,
    contract,
    sender: senderOf(context),
  };
};

/** Contracts hold the last 20 bytes of an address. Tools that put 41 before them write what is not read here. */
const addresses: AddressForm = {
  write: (address) => encodeBase58Check(concatBytes(Uint8Array.of(0x41), address)),
  read: (text) => decodeBase58('address', text, 25).subarray(1, 21),
};

/** A call of a contract. */
export interface TronCall {
  readonly contract: string;
  readonly data: Uint8Array;
  /** Read as standards have it, where they have its function. */
  readonly call: Call | undefined;
}

/** @returns undefined where a contract is none of a call, or gives the contract no data. */
export function callOf({ type, known }: TronContract): TronCall | undefined {
  if (type !== 'TriggerSmartContract' || !known.ok) return undefined;
  const { data, contract_address: contract } = known.value.fields;
  if (typeof data !== 'string' || typeof contract !== 'string' || data === '') return undefined;
  const bytes = new Uint8Array(Buffer.from(data, 'hex'));
  return { contract, data: bytes, call: readStandardCall(bytes, addresses) };
}

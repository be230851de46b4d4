/** Bitcoin's transactions to be signed, made with bitcoinjs-lib, truthful or not. */
import * as bitcoinjs from 'bitcoinjs-lib';
import * as tiny from 'tiny-secp256k1';
import type { Context, Opened } from '../../main/chains/chain.ts';
import { bitcoin } from '../../main/chains/bitcoin/chain.ts';
import { encodeAddress, type AddressFormat } from '../../main/chains/addresses/addresses.ts';
import { curves } from '../../main/crypto/keys/curves.ts';
import { holderNamed } from './law.ts';

bitcoinjs.initEccLib(tiny);

export const { regtest } = bitcoinjs.networks;

export const kinds = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'] as const;
export type Kind = (typeof kinds)[number];

export interface TestKey {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly address: (kind: Kind) => string;
}

export function keyOf(seed: number): TestKey {
  const privateKey = new Uint8Array(32).fill(seed);
  const publicKey = curves.CURVE_SECP256K1.publicKey(privateKey);
  return {
    privateKey,
    publicKey,
    address: (kind) =>
      encodeAddress(`ADDRESS_FORMAT_BITCOIN_REGTEST_${kind}` as AddressFormat, 'CURVE_SECP256K1', publicKey),
  };
}

/** The script that the library makes of what it was given. */
export function made(script: Uint8Array | undefined): Uint8Array {
  if (script === undefined) throw new Error('the library makes no script');
  return script;
}

export const dataScript = (text: string): Uint8Array =>
  made(bitcoinjs.payments.embed({ data: [Buffer.from(text)] }).output);

export const scriptOf = (address: string): Uint8Array => bitcoinjs.address.toOutputScript(address, regtest);

export interface Coin {
  readonly script: Uint8Array;
  readonly value: bigint;
  /** The transaction that it comes from. */
  readonly previous: bitcoinjs.Transaction;
}

let coins = 0;

/** A coin of its own transaction, as its second output. */
export function coinOf(script: Uint8Array, value: bigint): Coin {
  const previous = new bitcoinjs.Transaction();
  coins += 1;
  previous.addInput(new Uint8Array(32).fill(9), coins);
  previous.addOutput(scriptOf(keyOf(0x7f).address('P2WPKH')), 1n);
  previous.addOutput(script, value);
  return { script, value, previous };
}

type Fields = Parameters<bitcoinjs.Psbt['updateInput']>[1];

export interface Target {
  readonly script: Uint8Array;
  readonly value: bigint;
}

export interface Source {
  readonly coin: Coin;
  /** True if the previous transaction is in the PSBT. */
  readonly proven?: boolean;
  /** The PSBT's claim about the coin, true or not. */
  readonly claim?: Target;
  readonly sequence?: number;
  readonly more?: Fields;
}

export function psbtOf(sources: readonly Source[], targets: readonly Target[], lockTime = 0): bitcoinjs.Psbt {
  const psbt = new bitcoinjs.Psbt({ network: regtest });
  psbt.setLocktime(lockTime);
  for (const { coin, proven = true, claim, sequence } of sources) {
    const { script, value } = claim ?? coin;
    psbt.addInput({
      hash: coin.previous.getId(),
      index: 1,
      ...(sequence === undefined ? {} : { sequence }),
      ...(proven ? { nonWitnessUtxo: coin.previous.toBuffer() } : {}),
      // Taproot's signatures need no previous transaction, and bitcoinjs-lib takes them from a claim alone.
      ...(!proven || claim !== undefined || script[0] === 0x51 ? { witnessUtxo: { script, value } } : {}),
    });
  }
  for (const target of targets) psbt.addOutput({ ...target });
  // Past the library's own checks: it writes no contradictions.
  sources.forEach(({ more }, index) => Object.assign(psbt.data.inputs[index] ?? {}, more));
  return psbt;
}

/** @param ours Names by address. */
export const contextOf = (
  publicKey: Uint8Array | undefined,
  ours: Readonly<Record<string, string>> = {},
): Context => ({
  key: publicKey && {
    curve: 'CURVE_SECP256K1',
    publicKey,
    format: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
  },
  interfaces: { abi: () => undefined, idl: () => undefined },
  ours: (address) => (ours[address] === undefined ? undefined : holderNamed(ours[address])),
});

export function openBitcoin(bytes: Uint8Array, context: Context): Opened {
  const opened = bitcoin.open(bytes, context);
  if (!opened.ok) throw new Error(opened.problem);
  return opened.value;
}

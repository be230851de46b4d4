/** Transactions that others have published, with what is known of them. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { getBase58Decoder } from '@solana/kit';
import { TronWeb } from 'tronweb';
import { hexToBytes, keccak256, recoverAddress, serializeTransaction, toHex as viemHex } from 'viem';
import type { Hex, TransactionSerializable } from 'viem';
import { describe, expect, test } from 'vitest';
import vectors from '../../test/vectors/transactions.json' with { type: 'json' };
import { curves } from '../crypto/keys/curves.ts';
import { verifyEd25519 } from '../crypto/keys/ed25519.ts';
import { toHex } from '../crypto/encodings.ts';
import { readBitcoin } from './bitcoin/read.ts';
import { readEthereum } from './ethereum/read.ts';
import { readKnown } from './solana/programs.ts';
import { encodeMessage, readSolana, signedSolana, signersOf } from './solana/read.ts';
import { digestOf, readTron } from './tron/read.ts';
import type { Read } from './reading.ts';

function valueOf<T>(read: Read<T>): T {
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}
const base64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
const hexBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

describe('Ethereum', () => {
  const types = { '0x1': 'eip2930', '0x2': 'eip1559', '0x3': 'eip4844', '0x4': 'eip7702' } as const;
  const named = vectors.ethereum.transactions.map(
    (each) => [types[each.type as keyof typeof types], each] as const,
  );

  test.each(named)(
    '%s: the digest recovers the sender, the signed bytes have the hash',
    async (type, published) => {
      const { from, hash, r, s, yParity, input, ...fields } = published;
      const number = (text: string | undefined) => (text === undefined ? undefined : BigInt(text));
      const unsigned = serializeTransaction({
        ...fields,
        type,
        data: input as Hex,
        chainId: Number(fields.chainId),
        nonce: Number(fields.nonce),
        gas: number(fields.gas),
        value: number(fields.value),
        gasPrice: number(fields.gasPrice),
        maxFeePerGas: number(fields.maxFeePerGas),
        maxPriorityFeePerGas: number(fields.maxPriorityFeePerGas),
        maxFeePerBlobGas: number(fields.maxFeePerBlobGas),
        authorizationList: fields.authorizationList?.map((each) => ({
          ...each,
          chainId: Number(each.chainId),
          nonce: Number(each.nonce),
          yParity: Number(each.yParity),
        })),
      } as unknown as TransactionSerializable);
      const { transaction, digest, withSignature } = valueOf(readEthereum(hexToBytes(unsigned)));
      expect(transaction).toMatchObject({
        chainId: BigInt(fields.chainId),
        nonce: BigInt(fields.nonce),
        gas: BigInt(fields.gas),
        value: BigInt(fields.value),
        to: expect.stringMatching(new RegExp(fields.to, 'i')) as string,
      });
      const signature = { r: r as Hex, s: s as Hex, yParity: Number(yParity) };
      expect((await recoverAddress({ hash: viemHex(digest), signature })).toLowerCase()).toBe(from);
      const signed = withSignature({ r: r.slice(2), s: s.slice(2), v: `0${yParity.slice(2)}` });
      expect(keccak256(signed)).toBe(hash);
    },
  );
});

test('Solana: the message is what the sender signed', () => {
  const { id, from, to, lamports, transaction: published } = vectors.solana;
  const bytes = base64(published);
  const { message } = valueOf(readSolana(bytes));
  const [signer, ...others] = signersOf(message);
  if (signer === undefined) throw new Error('nobody signs');
  expect([signer.key, ...others]).toEqual([from]);
  const known = message.instructions.map((each) => readKnown(each));
  expect(known).toMatchObject([
    { value: { effect: { transfer: { from: { key: from }, to: { key: to }, amount: BigInt(lamports) } } } },
  ]);
  const signature = bytes.slice(1, 65);
  expect(getBase58Decoder().decode(signature)).toBe(id);
  expect(verifyEd25519(toHex(bytes.slice(69, 101)), signature, encodeMessage(message))).toBe(true);
  const [r, s] = [toHex(signature.slice(0, 32)), toHex(signature.slice(32))];
  const unsigned = valueOf(readSolana(bytes.slice().fill(0, 1, 65)));
  expect(toHex(signedSolana(unsigned, signer, { r, s, v: '00' }))).toBe(toHex(bytes));
});

test('Tron: the id, and the signature', () => {
  const { id, privateKey, owner, to, amount, rawData, signature } = vectors.tron;
  const read = valueOf(readTron(hexBytes(rawData)));
  const digest = digestOf(read);
  expect(toHex(digest)).toBe(id);
  const fields = {
    owner_address: TronWeb.address.fromHex(owner),
    to_address: TronWeb.address.fromHex(to),
    amount: BigInt(amount),
  };
  expect(valueOf(read.transaction).contracts).toMatchObject([
    { type: 'TransferContract', known: { value: { fields } } },
  ]);
  const ours = curves.CURVE_SECP256K1.sign(hexBytes(privateKey), digest);
  const [r, s, v] = [signature.slice(0, 64), signature.slice(64, 128), signature.slice(128)];
  // Of the two values that s may have, the published one is the larger: ours is always the smaller.
  const smaller = secp256k1.Point.Fn.neg(BigInt(`0x${s}`));
  expect(ours).toEqual({ r, s: smaller.toString(16).padStart(64, '0'), v: v === '00' ? '01' : '00' });
});

describe('Bitcoin', () => {
  const named = (each: { bip: number; case: string }): string => `BIP-${String(each.bip)}, ${each.case}`;

  test.each(vectors.bitcoin.valid.map((each) => [named(each), each] as const))('reads %s', (_, published) => {
    const { transaction } = valueOf(readBitcoin(base64(published.psbt)));
    expect(transaction.inputs.map(({ spent }) => spent?.value.toString() ?? null)).toEqual(published.inputs);
    expect(transaction.outputs.map(({ value }) => String(value))).toEqual(published.outputs);
  });

  test.each(vectors.bitcoin.invalid.map((each) => [named(each), each] as const))(
    'refuses %s',
    (_, { psbt }) => {
      const read = readBitcoin(base64(psbt));
      expect(read.ok ? 'read' : read.problem).toContain('expected a Bitcoin transaction as a PSBT');
    },
  );
});

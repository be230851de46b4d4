/** Solana's transactions for tests, made by @solana/kit. */
import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getBase58Decoder,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Address,
  type Instruction,
} from '@solana/kit';
import type { Context } from '../../main/chains/chain.ts';
import type { Idl } from '../../main/chains/solana/idl.ts';
import { ed25519PublicKey } from '../../main/crypto/keys/ed25519.ts';

const decoder = getBase58Decoder();

export const seed = new Uint8Array(32).fill(7);
export const payer = address(decoder.decode(ed25519PublicKey(seed)));
export const keyOf = (fill: number): Address => address(decoder.decode(new Uint8Array(32).fill(fill)));
export const lifetime = { blockhash: blockhash(keyOf(99)), lastValidBlockHeight: 1n };

export const programs = {
  system: address('11111111111111111111111111111111'),
  token: address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  token2022: address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
  computeBudget: address('ComputeBudget111111111111111111111111111111'),
  associatedToken: address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
  memo: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
  stake: address('Stake11111111111111111111111111111111111111'),
  vote: address('Vote111111111111111111111111111111111111111'),
  ed25519: address('Ed25519SigVerify111111111111111111111111111'),
};
export const clock = address('SysvarC1ock11111111111111111111111111111111');

const littleEndian = (value: bigint, length: number): number[] =>
  Array.from({ length }, (_, at) => Number((value >> BigInt(8 * at)) & 255n));
export const u32 = (value: number): number[] => littleEndian(BigInt(value), 4);
export const u64 = (value: bigint): number[] => littleEndian(value, 8);
/** Bincode's text. */
export const text = (value: string): number[] => [...u64(BigInt(value.length)), ...Buffer.from(value)];

/** The payer signs and may be changed; every other account may be changed, unless it is named as one that also signs. */
export const instruction = (
  program: Address,
  accounts: readonly Address[],
  data: readonly number[],
  signers: readonly Address[] = [payer],
): Instruction => ({
  programAddress: program,
  accounts: accounts.map((each) => ({
    address: each,
    role: signers.includes(each)
      ? AccountRole.WRITABLE_SIGNER
      : Object.values<Address>(programs).includes(each) || each === clock
        ? AccountRole.READONLY
        : AccountRole.WRITABLE,
  })),
  data: Uint8Array.from(data),
});

export const transfer = (from: Address, to: Address, lamports: bigint): Instruction =>
  instruction(programs.system, [from, to], [...u32(2), ...u64(lamports)], [from]);

/** @param table Accounts that are looked up in a table, where an instruction names them. */
export function transaction(
  instructions: readonly Instruction[],
  {
    version = 0,
    table = [],
    feePayer = payer,
  }: {
    readonly version?: 'legacy' | 0;
    readonly table?: readonly Address[];
    readonly feePayer?: Address;
  } = {},
): Uint8Array {
  const message = pipe(
    createTransactionMessage({ version }),
    (each) => setTransactionMessageFeePayer(feePayer, each),
    (each) => setTransactionMessageLifetimeUsingBlockhash(lifetime, each),
    (each) => appendTransactionMessageInstructions([...instructions], each),
  );
  const compressed =
    table.length === 0
      ? message
      : compressTransactionMessageUsingAddressLookupTables(message as typeof message & { version: 0 }, {
          [keyOf(200)]: [...table],
        });
  return new Uint8Array(getTransactionEncoder().encode(compileTransaction(compressed)));
}

/** Of the key that is the payer. */
export const context = (
  known: { readonly idl?: (program: string) => Idl | undefined; readonly ours?: Context['ours'] } = {},
): Context => ({
  key: { curve: 'CURVE_ED25519', publicKey: ed25519PublicKey(seed), format: 'ADDRESS_FORMAT_SOLANA' },
  interfaces: { abi: () => undefined, idl: known.idl ?? (() => undefined) },
  ours: known.ours ?? (() => undefined),
});

/**
 * Solana's programs that every wallet meets. Where a program ignores bytes after the end, they are kept apart as `excess`;
 * where it refuses them, so does this. The layouts are those of Agave and of the programs' own repositories
 * (solana-program on GitHub).
 */
import { toHex } from '../../crypto/encodings.ts';
import { attempt, littleEndian, unreadable, type Read } from '../reading.ts';
import { Reader, type Effect, type KnownInstruction, type Program } from './instructions.ts';
import type { SolanaInstruction } from './read.ts';
import { stake } from './stake-program.ts';
import { system } from './system-program.ts';
import { associatedToken, token, token2022, token2022Program, tokenProgram } from './token-programs.ts';

export const systemProgram = '11111111111111111111111111111111';
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111';

/** Borsh, of which Agave's `try_from_slice_unchecked` allows bytes after the end. */
const computeBudget: Program = {
  name: 'Compute Budget',
  discriminator: 1,
  instructions: {
    1: [
      'RequestHeapFrame',
      (read) => limit(`Let programs use ${String(read.whole('bytes', 4))} bytes of memory`),
    ],
    2: [
      'SetComputeUnitLimit',
      (read) => limit(`Use at most ${String(read.whole('units', 4))} compute units`),
    ],
    3: [
      'SetComputeUnitPrice',
      (read) => limit(`Pay ${String(read.whole('micro_lamports', 8))} microlamports for each compute unit`),
    ],
    4: [
      'SetLoadedAccountsDataSizeLimit',
      (read) => limit(`Load at most ${String(read.whole('bytes', 4))} bytes of accounts`),
    ],
  },
};

const limit = (title: string): Effect => ({ title: () => title, quiet: true });

/** Refuses bytes that are not text. */
const memo: Program = {
  name: 'Memo',
  discriminator: 0,
  instructions: {
    0: [
      'Memo',
      (read) => {
        read.restAsText('text');
        return { title: () => 'Memo', quiet: true };
      },
    ],
  },
};

/** Programs that check signatures: their first byte is how many, and each costs as much as one of the transaction. */
const precompile = (name: string): Program => ({
  name,
  discriminator: 0,
  instructions: {
    0: [
      'Verify',
      (read) => {
        const count = read.whole('signatures', 1);
        read.rest('data');
        return { title: () => `Check ${String(count)} signatures of ${name}`, quiet: true };
      },
    ],
  },
});

/** A program whose name is known and whose instructions are not read. */
const unread = (name: string): Program => ({ name, discriminator: 0, instructions: {} });

const precompiles: Readonly<Record<string, Program>> = {
  Ed25519SigVerify111111111111111111111111111: precompile('Ed25519'),
  KeccakSecp256k11111111111111111111111111111: precompile('secp256k1'),
  Secp256r1SigVerify1111111111111111111111111: precompile('secp256r1'),
};

const programs: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    [systemProgram]: system,
    [tokenProgram]: token,
    [token2022Program]: token2022,
    [computeBudgetProgram]: computeBudget,
    ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL: associatedToken,
    MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr: memo,
    Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo: memo,
    Stake11111111111111111111111111111111111111: stake,
    ...precompiles,
    Vote111111111111111111111111111111111111111: unread('Vote Program'),
    BPFLoader1111111111111111111111111111111111: unread('Deprecated Loader'),
    BPFLoader2111111111111111111111111111111111: unread('Loader'),
    BPFLoaderUpgradeab1e11111111111111111111111: unread('Upgradeable Loader'),
    LoaderV411111111111111111111111111111111111: unread('Loader v4'),
    AddressLookupTab1e1111111111111111111111111: unread('Address Lookup Table'),
    Config1111111111111111111111111111111111111: unread('Config Program'),
  }),
);

/**
 * Programs for which Agave allows no more than 3,000 compute units an instruction where none are asked for: those of
 * `solana-builtins-default-costs`.
 */
const builtins: readonly string[] = [
  systemProgram,
  computeBudgetProgram,
  'Vote111111111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
];

export const isBuiltin = (program: string): boolean => builtins.includes(program);

export const programName = (program: string): string | undefined => programs.get(program)?.name;

export const isTokenProgram = (program: string): boolean =>
  program === tokenProgram || program === token2022Program;

/** Counts the signatures that an instruction has checked, as Agave does: by the first byte, or none. */
export const checkedSignatures = ({ program, data }: SolanaInstruction): bigint =>
  Object.hasOwn(precompiles, program.key) ? BigInt(data[0] ?? 0) : 0n;

/**
 * @returns undefined for another program, or one of which no instruction is read; a problem for data that the program
 *   does not take, or that is not read here.
 */
export function readKnown(instruction: SolanaInstruction): Read<KnownInstruction> | undefined {
  const program = programs.get(instruction.program.key);
  if (program === undefined || Object.keys(program.instructions).length === 0) return undefined;
  const { data } = instruction;
  return attempt(() => {
    const length = data.length === 0 && program.whenEmpty !== undefined ? 0 : program.discriminator;
    const reader = new Reader(instruction, length);
    const number = length < program.discriminator ? (program.whenEmpty ?? 0) : numberOf(data, length);
    const found = program.instructions[number];
    if (found === undefined)
      unreadable(`the ${program.name} has no instruction ${String(number)} that is read here`);
    const [name, read] = found;
    const effect = read(reader);
    const excess = reader.end();
    if (program.strict === true && excess.length > 0) {
      unreadable(`the data has ${String(excess.length)} bytes after its end, which the program refuses`);
    }
    return {
      name,
      discriminator: toHex(data.subarray(0, length)),
      args: reader.args,
      accounts: reader.accounts,
      excess,
      effect,
    };
  });
}

const numberOf = (data: Uint8Array, length: number): number => Number(littleEndian(data.subarray(0, length)));

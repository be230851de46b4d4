/** Solana's programs that every wallet meets: what their instructions do, as far as their data says. */
import { encodeBase58, toHex } from '../../crypto/encodings.ts';
import { decimal } from '../amounts.ts';
import { littleEndian, utf8 } from '../reading.ts';
import type { SolanaInstruction, SolanaTransaction } from './read.ts';

export const systemProgram = '11111111111111111111111111111111';
const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const tokenPrograms: readonly string[] = ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', token2022Program];
const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111';

/** Names of programs, for people. */
const programNames: Readonly<Record<string, string>> = {
  [systemProgram]: 'System Program',
  TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA: 'Token Program',
  [token2022Program]: 'Token-2022 Program',
  [computeBudgetProgram]: 'Compute Budget',
  ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL: 'Associated Token Account',
  MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr: 'Memo',
  Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo: 'Memo',
  Stake11111111111111111111111111111111111111: 'Stake Program',
  Vote111111111111111111111111111111111111111: 'Vote Program',
  BPFLoaderUpgradeab1e11111111111111111111111: 'Upgradeable Loader',
  AddressLookupTab1e1111111111111111111111111: 'Address Lookup Table',
};

export const programName = (program: string): string | undefined =>
  Object.hasOwn(programNames, program) ? programNames[program] : undefined;

export interface Transfer {
  readonly from: string;
  readonly to: string;
  /** In lamports. */
  readonly amount: bigint;
}

export interface TokenTransfer {
  /** Token accounts, which belong to wallets. */
  readonly from: string;
  readonly to: string;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  readonly owner: string;
  /** Those who sign for an owner that is a multisig. */
  readonly signers: readonly string[];
  /** Undefined where the instruction does not say which token it is. */
  readonly mint: string | undefined;
  readonly decimals: number | undefined;
}

export const transfersOf = ({ instructions }: SolanaTransaction): Transfer[] =>
  instructions.flatMap((instruction) => transferOf(instruction) ?? []);

export const tokenTransfersOf = ({ instructions }: SolanaTransaction): TokenTransfer[] =>
  instructions.flatMap((instruction) => tokenTransferOf(instruction) ?? []);

/** Transfers that the System Program is called for directly, with a seed or without. */
export function transferOf({ program, accounts, data }: SolanaInstruction): Transfer | undefined {
  if (program !== systemProgram || data.length < 12) return undefined;
  const kind = littleEndian(data.subarray(0, 4));
  const to = kind === 2n ? accounts[1] : kind === 11n ? accounts[2] : undefined;
  const [from] = accounts;
  if (from === undefined || to === undefined) return undefined;
  return { from: from.key, to: to.key, amount: littleEndian(data.subarray(4, 12)) };
}

/** Transfer, TransferChecked and TransferCheckedWithFee. */
export function tokenTransferOf({ program, accounts, data }: SolanaInstruction): TokenTransfer | undefined {
  if (!tokenPrograms.includes(program)) return undefined;
  const keys = accounts.map(({ key }) => key);
  const [kind, second] = data;
  if (kind === 3 && data.length >= 9) {
    const [from, to, owner, ...signers] = keys;
    if (from === undefined || to === undefined || owner === undefined) return undefined;
    const amount = littleEndian(data.subarray(1, 9));
    return { from, to, amount, owner, signers, mint: undefined, decimals: undefined };
  }
  const withFee = program === token2022Program && kind === 26 && second === 1;
  const start = withFee ? 2 : 1;
  if ((kind !== 12 && !withFee) || data.length < start + 9) return undefined;
  const [from, mint, to, owner, ...signers] = keys;
  if (from === undefined || mint === undefined || to === undefined || owner === undefined) return undefined;
  return {
    from,
    to,
    amount: littleEndian(data.subarray(start, start + 8)),
    owner,
    signers,
    mint,
    decimals: data[start + 8],
  };
}

/** What an instruction does, in a few words, with what it says. */
export interface KnownInstruction {
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
  /** What a person should know before signing it. */
  readonly warning?: string;
}

const sol = (lamports: bigint): string => `${decimal(lamports, 9)} SOL`;

/** @returns undefined for what is not one of the programs above, or not one of their instructions. */
export function knownInstruction(instruction: SolanaInstruction): KnownInstruction | undefined {
  const { program, accounts, data } = instruction;
  const transfer = transferOf(instruction);
  if (transfer) {
    const { from, to, amount } = transfer;
    return {
      title: `Send ${sol(amount)} to ${to}`,
      facts: [
        ['From', from],
        ['To', to],
        ['Amount', sol(amount)],
      ],
    };
  }
  const tokens = tokenTransferOf(instruction);
  if (tokens) return describeTokenTransfer(tokens);
  const account = (index: number): string => accounts[index]?.key ?? 'an account that is not named';
  if (program === systemProgram) return systemInstruction(data, account);
  if (tokenPrograms.includes(program)) return tokenInstruction(data, account);
  if (program === computeBudgetProgram) return computeBudget(data);
  switch (programName(program)) {
    case 'Associated Token Account':
      return {
        title: `Create the token account of ${account(2)}`,
        facts: [
          ['Token account', account(1)],
          ['Token', account(3)],
        ],
      };
    case 'Memo': {
      const text = utf8(data);
      return text === undefined ? undefined : { title: 'Memo', facts: [['Text', text]] };
    }
    default:
      return undefined;
  }
}

function describeTokenTransfer(transfer: TokenTransfer): KnownInstruction {
  const { from, to, amount, owner, mint, decimals } = transfer;
  const written =
    decimals === undefined ? `${String(amount)} smallest units` : `${decimal(amount, decimals)} tokens`;
  return {
    title: `Send ${written} to the token account ${to}`,
    facts: [
      ['From', from],
      ['Owner', owner],
      ['To', to],
      ['Amount', written],
      ['Token', mint ?? 'Not named: it is what the token accounts hold'],
    ],
  };
}

function systemInstruction(
  data: Uint8Array,
  account: (index: number) => string,
): KnownInstruction | undefined {
  const kind = data.length < 4 ? undefined : Number(littleEndian(data.subarray(0, 4)));
  switch (kind) {
    case 0: {
      if (data.length < 52) return undefined;
      const lamports = littleEndian(data.subarray(4, 12));
      return {
        title: `Create the account ${account(1)} with ${sol(lamports)}`,
        facts: [
          ['Pays', account(0)],
          ['Amount', sol(lamports)],
          ['Owned by program', encodeBase58(data.subarray(20, 52))],
        ],
      };
    }
    case 1:
      return data.length < 36
        ? undefined
        : {
            title: `Give the account ${account(0)} to the program ${encodeBase58(data.subarray(4, 36))}`,
            facts: [],
            warning: 'An account that is given to a program is no longer yours to spend from.',
          };
    case 4:
      return { title: `Advance the nonce of ${account(0)}`, facts: [['Authority', account(2)]] };
    case 5: {
      if (data.length < 12) return undefined;
      const lamports = littleEndian(data.subarray(4, 12));
      return {
        title: `Withdraw ${sol(lamports)} from the nonce account ${account(0)} to ${account(1)}`,
        facts: [['Authority', account(4)]],
      };
    }
    default:
      return undefined;
  }
}

function tokenInstruction(
  data: Uint8Array,
  account: (index: number) => string,
): KnownInstruction | undefined {
  switch (data[0]) {
    case 4:
    case 13: {
      if (data.length < 9) return undefined;
      const delegate = data[0] === 4 ? account(1) : account(2);
      const amount = littleEndian(data.subarray(1, 9));
      return {
        title: `Let ${delegate} spend from the token account ${account(0)}`,
        facts: [['Up to', `${String(amount)} smallest units`]],
        warning: `${delegate} may spend these tokens without asking again.`,
      };
    }
    case 5:
      return { title: `Let nobody else spend from the token account ${account(0)}`, facts: [] };
    case 6:
      return {
        title: `Change who controls ${account(0)}`,
        facts: [
          [
            'New authority',
            data[2] === 1 && data.length >= 35 ? encodeBase58(data.subarray(3, 35)) : 'nobody',
          ],
        ],
        warning: 'Whoever controls a token account can take all that is in it.',
      };
    case 8:
    case 15:
      return data.length < 9
        ? undefined
        : {
            title: `Burn ${String(littleEndian(data.subarray(1, 9)))} smallest units of ${account(1)}`,
            facts: [['From', account(0)]],
          };
    case 9:
      return {
        title: `Close the token account ${account(0)}`,
        facts: [['What it holds in SOL goes to', account(1)]],
      };
    case 17:
      return { title: `Bring the token account ${account(0)} up to its SOL`, facts: [] };
    default:
      return undefined;
  }
}

function computeBudget(data: Uint8Array): KnownInstruction | undefined {
  const [kind] = data;
  if (kind === 2 && data.length === 5) {
    return { title: `Use at most ${String(littleEndian(data.subarray(1)))} compute units`, facts: [] };
  }
  if (kind === 3 && data.length === 9) {
    return {
      title: `Pay ${String(littleEndian(data.subarray(1)))} microlamports for each compute unit`,
      facts: [],
    };
  }
  return kind === undefined ? undefined : { title: 'Set a limit', facts: [['Data', toHex(data)]] };
}

/** The largest fee for priority that the instructions allow, in lamports; undefined where they set none. */
export function priorityFee({ instructions }: SolanaTransaction): bigint | undefined {
  const budget = instructions
    .filter(({ program }) => program === computeBudgetProgram)
    .map(({ data }) => data);
  const price = budget.find((data) => data[0] === 3 && data.length === 9);
  if (price === undefined) return undefined;
  const limit = budget.find((data) => data[0] === 2 && data.length === 5);
  // Without a limit the chain allows 200,000 units for each instruction, and never more than 1,400,000.
  const others = BigInt(instructions.length - budget.length);
  const units = limit === undefined ? 200_000n * others : littleEndian(limit.subarray(1));
  const capped = units > 1_400_000n ? 1_400_000n : units;
  return (capped * littleEndian(price.subarray(1)) + 999_999n) / 1_000_000n;
}

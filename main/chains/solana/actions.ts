/** The instructions of a transaction, each read once: by the vault's own tables, or by the interface that is kept. */
import { encodeAddress } from '../addresses/addresses.ts';
import { Unknown } from '../../policy/language/types.ts';
import type { Context } from '../chain.ts';
import { readCalled, type CalledInstruction } from './idl.ts';
import type { KnownInstruction, TokenTransfer } from './instructions.ts';
import {
  checkedSignatures,
  computeBudgetProgram,
  isBuiltin,
  isTokenProgram,
  readKnown,
  systemProgram,
} from './programs.ts';
import { signersOf, type SolanaInstruction, type SolanaMessage } from './read.ts';

export interface SolanaAction extends SolanaInstruction {
  /** By the vault's own tables. */
  readonly known: KnownInstruction | undefined;
  /** By the interface that is kept of the program; its arguments may be unreadable. */
  readonly called: CalledInstruction | undefined;
  /** Why it cannot be read; undefined where one of the two reads all of it. */
  readonly problem: string | undefined;
}

/** In lamports. */
export interface SolanaMoney {
  readonly maxFee: bigint | Unknown;
  /** Leaves the key that signs, at most, the fee included. */
  readonly outflow: bigint | Unknown;
}

export interface SolanaReading {
  readonly message: SolanaMessage;
  readonly actions: readonly SolanaAction[];
  readonly money: SolanaMoney;
  /** Why the network refuses the transaction, where it is known to. */
  readonly refusals: readonly string[];
}

export function readActions(message: SolanaMessage, context: Context): SolanaReading {
  const actions = message.instructions.map((instruction) => readAction(instruction, context));
  const twice = repeatedLimits(actions);
  const maxFee = maxFeeOf(message, actions, twice);
  return {
    message,
    actions,
    money: { maxFee, outflow: outflowOf(message, actions, maxFee, context) },
    refusals: twice.map((name) => `${name} is there twice`),
  };
}

function readAction(instruction: SolanaInstruction, { interfaces }: Context): SolanaAction {
  const known = readKnown(instruction);
  const idl = interfaces.idl(instruction.program.key);
  const called = idl && readCalled(idl, instruction);
  const problem =
    known?.ok === true || called?.args.ok === true
      ? undefined
      : (known?.problem ??
        called?.args.problem ??
        (idl === undefined
          ? 'no interface of the program is kept'
          : 'the interface of the program has no such instruction'));
  return { ...instruction, known: known?.ok === true ? known.value : undefined, called, problem };
}

/** The key that signs, as an account. */
export const ownAddressOf = ({ key }: Context): string | undefined =>
  key?.curve === 'CURVE_ED25519'
    ? encodeAddress('ADDRESS_FORMAT_SOLANA', 'CURVE_ED25519', key.publicKey)
    : undefined;

/** An instruction of the program that cannot be read may be a transfer: the list of transfers is unknown then. */
export const unreadTransfers = (actions: readonly SolanaAction[], ofTokens: boolean): Unknown | undefined => {
  const unread = actions.find(
    ({ known, program: { key } }) =>
      known === undefined && (ofTokens ? isTokenProgram(key) : key === systemProgram),
  );
  return (
    unread && new Unknown(`an instruction cannot be read: ${unread.problem ?? 'its program is not known'}`)
  );
};

export const tokenTransfersOf = (actions: readonly SolanaAction[]): readonly TokenTransfer[] =>
  actions.flatMap(({ known }) => known?.effect.tokens ?? []);

/** Agave 3: `DEFAULT_LAMPORTS_PER_SIGNATURE`, for signatures of the transaction and those that programs check. */
const lamportsPerSignature = 5000n;
/** Agave: units that an instruction may use where none are asked for, and the most that a transaction may (SIMD-170). */
const unitsPerInstruction = 200_000n;
const unitsPerBuiltin = 3000n;
const mostUnits = 1_400_000n;
const microLamports = 1_000_000n;

function maxFeeOf(
  message: SolanaMessage,
  actions: readonly SolanaAction[],
  twice: readonly string[],
): bigint | Unknown {
  const budget = actions.filter(({ program }) => program.key === computeBudgetProgram);
  const unread = budget.find(({ known }) => known === undefined);
  if (unread !== undefined) {
    return new Unknown(`an instruction of the Compute Budget cannot be read: ${unread.problem ?? ''}`);
  }
  if (twice.length > 0) return new Unknown('the Compute Budget has two instructions of one kind');
  const signatures = actions.reduce(
    (count, action) => count + checkedSignatures(action),
    BigInt(signersOf(message).length),
  );
  const price = limitOf(budget, 'SetComputeUnitPrice') ?? 0n;
  const asked = limitOf(budget, 'SetComputeUnitLimit');
  const units =
    asked ??
    actions.reduce(
      (sum, { program }) => sum + (isBuiltin(program.key) ? unitsPerBuiltin : unitsPerInstruction),
      0n,
    );
  const priority = (units < mostUnits ? units : mostUnits) * price;
  return signatures * lamportsPerSignature + (priority + microLamports - 1n) / microLamports;
}

const limitOf = (budget: readonly SolanaAction[], name: string): bigint | undefined => {
  const value = budget.find(({ known }) => known?.name === name)?.known?.args[0]?.value;
  return typeof value === 'bigint' ? value : undefined;
};

/** Instructions of the Compute Budget that are there twice, by name. */
function repeatedLimits(actions: readonly SolanaAction[]): readonly string[] {
  const names = actions.flatMap(({ known, program }) =>
    known !== undefined && program.key === computeBudgetProgram ? [known.name] : [],
  );
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function outflowOf(
  { accounts: [payer] }: SolanaMessage,
  actions: readonly SolanaAction[],
  maxFee: bigint | Unknown,
  context: Context,
): bigint | Unknown {
  const own = ownAddressOf(context);
  if (own === undefined) return new Unknown('the key that signs is not known');
  let sum = 0n;
  if (payer?.key === own) {
    if (maxFee instanceof Unknown) return maxFee;
    sum += maxFee;
  }
  for (const action of actions) {
    const lost = lostIn(action, own);
    if (lost instanceof Unknown) return lost;
    sum += lost;
  }
  return sum;
}

/** Only a program that gets the key as a signer can take lamports of it, or of what it controls. */
function lostIn({ known, problem, accounts }: SolanaAction, own: string): bigint | Unknown {
  if (problem !== undefined) return new Unknown(`an instruction cannot be read: ${problem}`);
  const signs = accounts.some(({ key, signer }) => key === own && signer);
  if (known === undefined) {
    return signs ? new Unknown('a program gets the key as a signer, and may spend all it has') : 0n;
  }
  const { out, handsOver } = known.effect;
  if (handsOver?.key === own) return new Unknown('the account of the key is given away');
  if (!signs || out === undefined || out.to?.key === own) return 0n;
  return out.lamports ?? new Unknown('an instruction moves all that an account has, which is not known here');
}

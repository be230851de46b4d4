/**
 * Instructions of known programs, read once from their data and their accounts: fields in the program's order, and what
 * they do with money and rights.
 */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { decodeBase58, encodeBase58, toHex } from '../../crypto/encodings.ts';
import { decimal } from '../amounts.ts';
import { Cursor, littleEndianBytes, unreadable, utf8 } from '../reading.ts';
import type { SolanaAccount, SolanaInstruction } from './read.ts';
import { defined } from '../../lib/defined.ts';

export interface NamedAccount {
  readonly name: string;
  /** Undefined where the instruction has fewer accounts than its program takes. */
  readonly account: SolanaAccount | undefined;
}

interface SaidValue {
  readonly name: string;
  readonly value: bigint | string | null;
  /** Of money, and of an account's key. */
  readonly unit?: 'lamports' | 'key';
}

export interface TokenTransfer {
  /** Token accounts, which belong to wallets. */
  readonly from: SolanaAccount;
  readonly to: SolanaAccount;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  readonly owner: SolanaAccount;
  /** Those who sign for an owner that is a multisig. */
  readonly signers: readonly SolanaAccount[];
  /** Undefined where the instruction does not say which token it is. */
  readonly mint: SolanaAccount | undefined;
  readonly decimals: number | undefined;
}

/** Writes an account for people, and says whose it is. */
export type Naming = (account: SolanaAccount | string) => string;
/** Writes an amount of a token for people. */
export type Pricing = (
  amount: bigint,
  mint: SolanaAccount | undefined,
  decimals: number | undefined,
) => string;

export interface Effect {
  readonly title: (name: Naming, tokens: Pricing) => string;
  /** True where the title is of little interest beside others. */
  readonly quiet?: boolean;
  readonly warnings?: (name: Naming) => readonly string[];
  /** Lamports that leave an account which signs: all that it has, where the amount is undefined. */
  readonly out?: { readonly to?: SolanaAccount; readonly lamports: bigint | undefined };
  /** An account that a program, or another key, controls from then on. */
  readonly handsOver?: SolanaAccount;
  /** A transfer of lamports, as the vendor describes it. */
  readonly transfer?: { readonly from: SolanaAccount; readonly to: SolanaAccount; readonly amount: bigint };
  readonly tokens?: TokenTransfer;
}

export interface KnownInstruction {
  readonly name: string;
  /** In hex. */
  readonly discriminator: string;
  readonly args: readonly SaidValue[];
  readonly accounts: readonly NamedAccount[];
  /** Bytes after the end, which the program ignores. */
  readonly excess: Uint8Array;
  readonly effect: Effect;
}

type AccountsOf<Names extends readonly string[]> = { readonly [Place in keyof Names]: SolanaAccount };

/** Takes what a program takes of an instruction, in the program's order, and writes it again. */
export class Reader {
  readonly args: SaidValue[] = [];
  accounts: readonly NamedAccount[] = [];
  readonly #instruction: SolanaInstruction;
  readonly #cursor: Cursor;
  readonly #written: Uint8Array[];

  constructor(instruction: SolanaInstruction, discriminator: number) {
    this.#instruction = instruction;
    this.#cursor = new Cursor(instruction.data, 'the data');
    this.#written = [this.#cursor.take(discriminator)];
  }

  /** @returns bytes after the end; those that were read are the same when they are written. */
  end(): Uint8Array {
    const written = joinBytes(this.#written);
    const excess = this.#cursor.rest();
    if (Buffer.compare(concatBytes(written, excess), this.#instruction.data) !== 0) {
      unreadable('the data is not written the way that the program does');
    }
    return excess;
  }

  /** The accounts that the program takes, by index. */
  named<Names extends readonly string[]>(...names: Names): AccountsOf<Names> {
    const { accounts } = this.#instruction;
    if (accounts.length < names.length) {
      unreadable(`expected at least ${String(names.length)} accounts, got ${String(accounts.length)}`);
    }
    this.accounts = names.map((name, index) => ({ name, account: accounts[index] }));
    return accounts.slice(0, names.length) as unknown as AccountsOf<Names>;
  }

  /**
   * As `named`, where a sysvar and what comes with it may be left out.
   * @returns those before and after.
   */
  namedAround<const Before extends readonly string[], const After extends readonly string[]>(
    before: Before,
    [sysvar, ...more]: readonly [string, ...string[]],
    after: After,
  ): AccountsOf<[...Before, ...After]> {
    const at = this.#instruction.accounts[before.length];
    if (at !== undefined && at.key === undefined)
      unreadable('it is not known here whether an account is a sysvar');
    const left = at?.key === sysvars[sysvar] ? [sysvar, ...more] : [];
    const found = this.named(...before, ...left, ...after);
    return found.filter(
      (_, index) => index < before.length || index >= before.length + left.length,
    ) as unknown as AccountsOf<[...Before, ...After]>;
  }

  /** The accounts after those with a name. */
  get others(): readonly SolanaAccount[] {
    return this.#instruction.accounts.slice(this.accounts.length);
  }

  lamports(): bigint {
    return this.#said('lamports', this.#whole(8), 'lamports');
  }

  whole(name: string, bytes: 1 | 4 | 8): bigint {
    return this.#said(name, this.#whole(bytes));
  }

  signed(name: string): bigint {
    return this.#said(name, BigInt.asIntN(64, this.#whole(8)));
  }

  key(name: string): string {
    return this.#said(name, this.#key(), 'key');
  }

  /** A byte that says which instruction of an extension it is. */
  constant(expected: number): void {
    const number = this.#whole(1);
    if (number !== BigInt(expected))
      unreadable(`instruction ${String(number)} of the extension is not read here`);
  }

  /** One of several, by number. */
  choice(name: string, bytes: 1 | 4, choices: readonly string[]): string {
    const number = Number(this.#whole(bytes));
    return this.#said(
      name,
      choices[number] ?? unreadable(`expected ${name} of 0 to ${String(choices.length - 1)}`),
    );
  }

  optionalKey(name: string): string | null {
    return this.#optional(name, () => this.#key(), 'key');
  }

  optionalWhole(name: string): bigint | null {
    return this.#optional(name, () => this.#whole(8));
  }

  optionalSigned(name: string): bigint | null {
    return this.#optional(name, () => BigInt.asIntN(64, this.#whole(8)));
  }

  /** Bincode's text: its length in 64 bits first. */
  text(name: string): string {
    const length = this.#whole(8);
    const bytes = this.#cursor.take(
      length > BigInt(this.#cursor.left) ? this.#cursor.left + 1 : Number(length),
    );
    return this.#said(name, this.#textOf(bytes));
  }

  /** All that is left, as text. */
  restAsText(name: string): string {
    return this.#said(name, this.#textOf(this.#cursor.rest()));
  }

  /** All that is left, in hex. */
  rest(name: string): void {
    const bytes = this.#cursor.rest();
    this.#written.push(bytes);
    this.#said(name, toHex(bytes));
  }

  #said<Value extends bigint | string | null>(name: string, value: Value, unit?: SaidValue['unit']): Value {
    this.args.push({ name, value, ...defined({ unit }) });
    return value;
  }

  #whole(length: number): bigint {
    const value = this.#cursor.littleEndian(length);
    this.#written.push(littleEndianBytes(value, length));
    return value;
  }

  #key(): string {
    const key = encodeBase58(this.#cursor.take(32));
    this.#written.push(decodeBase58('key', key, 32));
    return key;
  }

  #optional<Value extends bigint | string>(
    name: string,
    read: () => Value,
    unit?: SaidValue['unit'],
  ): Value | null {
    const flag = this.#whole(1);
    if (flag > 1n) unreadable(`expected ${name} to be there or not, got ${String(flag)}`);
    return this.#said<Value | null>(name, flag === 0n ? null : read(), unit);
  }

  #textOf(bytes: Uint8Array): string {
    const text = utf8(bytes) ?? unreadable('expected text of UTF-8');
    this.#written.push(Buffer.from(text, 'utf8'));
    return text;
  }
}

/** Accounts of the network itself that some instructions name. */
const sysvars: Readonly<Record<string, string>> = {
  clock: 'SysvarC1ock11111111111111111111111111111111',
  rent: 'SysvarRent111111111111111111111111111111111',
};

export interface Program {
  readonly name: string;
  /** The number of bytes that say which instruction it is. */
  readonly discriminator: number;
  /** The instruction that empty data stands for. */
  readonly whenEmpty?: number;
  /** True where the program refuses bytes after the end. */
  readonly strict?: boolean;
  /** By number. */
  readonly instructions: Readonly<Record<number, readonly [string, (read: Reader) => Effect]>>;
}

export const sol = (lamports: bigint): string => `${decimal(lamports, 9)} SOL`;

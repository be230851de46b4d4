/**
 * Solana's programs that every wallet meets: what each of their instructions says and does, read once from its data and
 * its accounts. Where a program ignores bytes after the end, they are kept apart as `excess`; where it refuses them, so
 * does this. The layouts are those of Agave and of the programs' own repositories (solana-program on GitHub).
 */
import { concatBytes, joinBytes } from '../../crypto/bytes.ts';
import { decodeBase58, encodeBase58, toHex } from '../../crypto/encodings.ts';
import { decimal } from '../amounts.ts';
import { attempt, Cursor, littleEndian, littleEndianBytes, unreadable, utf8, type Read } from '../reading.ts';
import type { SolanaAccount, SolanaInstruction } from './read.ts';

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
  /** Whether the title is of little interest beside others. */
  readonly quiet?: boolean;
  readonly warnings?: (name: Naming) => readonly string[];
  /** Lamports that leave an account which signs: all that it has, where the amount is undefined. */
  readonly out?: { readonly to?: SolanaAccount; readonly lamports: bigint | undefined };
  /** An account that a program, or another key, controls from then on. */
  readonly handsOver?: SolanaAccount;
  /** A transfer of lamports as the vendor tells it. */
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
class Reader {
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

  /** The accounts that the program takes by their place. */
  named<Names extends readonly string[]>(...names: Names): AccountsOf<Names> {
    const { accounts } = this.#instruction;
    if (accounts.length < names.length) {
      unreadable(`expected at least ${String(names.length)} accounts, got ${String(accounts.length)}`);
    }
    this.accounts = names.map((name, place) => ({ name, account: accounts[place] }));
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
      (_, place) => place < before.length || place >= before.length + left.length,
    ) as unknown as AccountsOf<[...Before, ...After]>;
  }

  /** The accounts after those with a name. */
  get others(): readonly SolanaAccount[] {
    return this.#instruction.accounts.slice(this.accounts.length);
  }

  lamports(name: string): bigint {
    return this.#said(name, this.#whole(8), 'lamports');
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
    this.args.push({ name, value, ...(unit === undefined ? {} : { unit }) });
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

interface Program {
  readonly name: string;
  /** How many bytes say which instruction it is. */
  readonly discriminator: number;
  /** Which instruction no data is. */
  readonly whenEmpty?: number;
  /** Whether it refuses bytes after the end. */
  readonly strict?: boolean;
  /** By number. */
  readonly instructions: Readonly<Record<number, readonly [string, (read: Reader) => Effect]>>;
}

const sol = (lamports: bigint): string => `${decimal(lamports, 9)} SOL`;

export const systemProgram = '11111111111111111111111111111111';

/** `solana-system-interface`, read by Agave with `limited_deserialize`, which allows bytes after the end. */
const system: Program = {
  name: 'System Program',
  discriminator: 4,
  instructions: {
    0: [
      'CreateAccount',
      (read) => {
        const lamports = read.lamports('lamports');
        read.whole('space', 8);
        const owner = read.key('owner');
        const [, created] = read.named('payer', 'new_account');
        return creation(created, lamports, owner);
      },
    ],
    1: [
      'Assign',
      (read) => {
        const owner = read.key('owner');
        const [account] = read.named('account');
        return { ...assignment(account, owner), handsOver: account };
      },
    ],
    2: [
      'Transfer',
      (read) => {
        const amount = read.lamports('lamports');
        const [from, to] = read.named('from', 'to');
        return { ...payment(to, amount), transfer: { from, to, amount } };
      },
    ],
    3: [
      'CreateAccountWithSeed',
      (read) => {
        read.key('base');
        read.text('seed');
        const lamports = read.lamports('lamports');
        read.whole('space', 8);
        const owner = read.key('owner');
        const [, created] = read.named('payer', 'new_account');
        return creation(created, lamports, owner);
      },
    ],
    4: [
      'AdvanceNonceAccount',
      (read) => {
        const [nonce] = read.named('nonce_account', 'recent_blockhashes');
        return { title: (name) => `Advance the nonce of ${name(nonce)}`, quiet: true };
      },
    ],
    5: [
      'WithdrawNonceAccount',
      (read) => {
        const lamports = read.lamports('lamports');
        const [nonce, to] = read.named('nonce_account', 'to', 'recent_blockhashes', 'rent');
        return {
          title: (name) => `Withdraw ${sol(lamports)} from the nonce account ${name(nonce)} to ${name(to)}`,
          out: { to, lamports },
        };
      },
    ],
    6: [
      'InitializeNonceAccount',
      (read) => {
        const authority = read.key('authority');
        const [nonce] = read.named('nonce_account', 'recent_blockhashes', 'rent');
        return { title: (name) => `Let ${name(authority)} control the new nonce account ${name(nonce)}` };
      },
    ],
    7: [
      'AuthorizeNonceAccount',
      (read) => {
        const authority = read.key('new_authority');
        const [nonce] = read.named('nonce_account');
        return {
          title: (name) => `Let ${name(authority)} control the nonce account ${name(nonce)}`,
          warnings: (name) => [`${name(authority)} can take all that is in the nonce account.`],
          out: { lamports: undefined },
        };
      },
    ],
    8: [
      'Allocate',
      (read) => {
        const space = read.whole('space', 8);
        const [account] = read.named('account');
        return {
          title: (name) => `Give the account ${name(account)} ${String(space)} bytes of data`,
          warnings: () => ['A wallet’s account with data cannot send its SOL.'],
          handsOver: account,
        };
      },
    ],
    9: [
      'AllocateWithSeed',
      (read) => {
        read.key('base');
        read.text('seed');
        read.whole('space', 8);
        const owner = read.key('owner');
        const [account] = read.named('account', 'base_account');
        return { ...assignment(account, owner), out: { lamports: undefined } };
      },
    ],
    10: [
      'AssignWithSeed',
      (read) => {
        read.key('base');
        read.text('seed');
        const owner = read.key('owner');
        const [account] = read.named('account', 'base_account');
        return { ...assignment(account, owner), out: { lamports: undefined } };
      },
    ],
    11: [
      'TransferWithSeed',
      (read) => {
        const amount = read.lamports('lamports');
        read.text('from_seed');
        read.key('from_owner');
        const [from, , to] = read.named('from', 'base_account', 'to');
        return { ...payment(to, amount), transfer: { from, to, amount } };
      },
    ],
    12: [
      'UpgradeNonceAccount',
      (read) => {
        const [nonce] = read.named('nonce_account');
        return { title: (name) => `Upgrade the nonce account ${name(nonce)}` };
      },
    ],
    13: [
      'CreateAccountAllowPrefund',
      (read) => {
        const lamports = read.lamports('lamports');
        read.whole('space', 8);
        const owner = read.key('owner');
        const [created] = read.named('new_account');
        return creation(created, lamports, owner);
      },
    ],
  },
};

const payment = (to: SolanaAccount, lamports: bigint): Effect => ({
  title: (name) => `Send ${sol(lamports)} to ${name(to)}`,
  out: { to, lamports },
});

const creation = (created: SolanaAccount, lamports: bigint, owner: string): Effect => ({
  title: (name) =>
    `Create the account ${name(created)} of the program ${programTitle(owner)} with ${sol(lamports)}`,
  out: { to: created, lamports },
  handsOver: created,
});

const assignment = (account: SolanaAccount, owner: string): Effect => ({
  title: (name) => `Give the account ${name(account)} to the program ${programTitle(owner)}`,
  warnings: () => ['An account that is given to a program is no longer yours to spend from.'],
});

/** Kinds of authority, by number. Those of the Token Program are the first four. */
const authorities = [
  'MintTokens',
  'FreezeAccount',
  'AccountOwner',
  'CloseAccount',
  'TransferFeeConfig',
  'WithheldWithdraw',
  'CloseMint',
  'InterestRate',
  'PermanentDelegate',
  'ConfidentialTransferMint',
  'TransferHookProgramId',
  'ConfidentialTransferFeeConfig',
  'MetadataPointer',
  'GroupPointer',
  'GroupMemberPointer',
  'ScaledUiAmount',
  'Pause',
  'PermissionedBurn',
];

const sending = (tokens: TokenTransfer): Effect => {
  const { from, to, amount, mint, decimals } = tokens;
  return {
    title: (name, price) =>
      `Send ${price(amount, mint, decimals)}${mint === undefined ? ` from ${name(from)}` : ''} to the token account ${name(to)}`,
    tokens,
  };
};

const delegation = (
  account: SolanaAccount,
  delegate: SolanaAccount,
  amount: bigint,
  mint?: SolanaAccount,
  decimals?: number,
): Effect => {
  const unlimited = amount === 2n ** 64n - 1n;
  return {
    title: (name, price) =>
      `Let ${name(delegate)} spend ${unlimited ? 'all tokens' : `up to ${price(amount, mint, decimals)}`} of the token account ${name(account)}`,
    warnings: (name) => [
      `${name(delegate)} may spend ${unlimited ? 'all of these tokens' : 'these tokens'} without asking again.`,
    ],
  };
};

const minting = (to: SolanaAccount, amount: bigint, mint: SolanaAccount, decimals?: number): Effect => ({
  title: (name, price) => `Make ${price(amount, mint, decimals)} and put them into ${name(to)}`,
});

const burning = (from: SolanaAccount, amount: bigint, mint: SolanaAccount, decimals?: number): Effect => ({
  title: (name, price) => `Burn ${price(amount, mint, decimals)} of ${name(from)}`,
  warnings: () => ['Tokens that are burned are gone.'],
});

const withdrawal = (what: string, from: SolanaAccount, to: SolanaAccount, lamports?: bigint): Effect => ({
  title: (name) =>
    `${what} ${name(from)} and send ${lamports === undefined ? 'its SOL' : sol(lamports)} to ${name(to)}`,
  out: { to, lamports },
});

/** `spl-token-interface`; the Token Program and Token-2022 both allow bytes after the end. */
const tokenInstructions = (kinds: readonly string[]): Program['instructions'] => ({
  0: ['InitializeMint', (read) => newMint(read, 'rent')],
  1: [
    'InitializeAccount',
    (read) => {
      const [account, , owner] = read.named('account', 'mint', 'owner', 'rent');
      return newTokenAccount(account, owner);
    },
  ],
  2: ['InitializeMultisig', (read) => newMultisig(read, 'rent')],
  3: [
    'Transfer',
    (read) => {
      const amount = read.whole('amount', 8);
      const [from, to, owner] = read.named('source', 'destination', 'owner');
      return sending({ from, to, amount, owner, signers: read.others, mint: undefined, decimals: undefined });
    },
  ],
  4: [
    'Approve',
    (read) => {
      const amount = read.whole('amount', 8);
      const [account, delegate] = read.named('source', 'delegate', 'owner');
      return delegation(account, delegate, amount);
    },
  ],
  5: [
    'Revoke',
    (read) => {
      const [account] = read.named('source', 'owner');
      return { title: (name) => `Let no delegate spend from the token account ${name(account)}` };
    },
  ],
  6: [
    'SetAuthority',
    (read) => {
      const kind = read.choice('authority_type', 1, kinds);
      const key = read.optionalKey('new_authority');
      const [account] = read.named('account', 'authority');
      if (key === null) {
        return {
          title: (name) => `Take away the authority ${kind} over ${name(account)} for good`,
          warnings: () => ['An authority that is taken away never comes back.'],
        };
      }
      return {
        title: (name) => `Give ${name(key)} the authority ${kind} over ${name(account)}`,
        warnings: (name) => [`${name(key)} gets control that may take all that the account has.`],
        out: { lamports: undefined },
      };
    },
  ],
  7: [
    'MintTo',
    (read) => {
      const amount = read.whole('amount', 8);
      const [mint, to] = read.named('mint', 'destination', 'authority');
      return minting(to, amount, mint);
    },
  ],
  8: [
    'Burn',
    (read) => {
      const amount = read.whole('amount', 8);
      const [from, mint] = read.named('account', 'mint', 'authority');
      return burning(from, amount, mint);
    },
  ],
  9: [
    'CloseAccount',
    (read) => {
      const [account, to] = read.named('account', 'destination', 'authority');
      return withdrawal('Close the token account', account, to);
    },
  ],
  10: [
    'FreezeAccount',
    (read) => {
      const [account] = read.named('account', 'mint', 'authority');
      return { title: (name) => `Freeze the token account ${name(account)}` };
    },
  ],
  11: [
    'ThawAccount',
    (read) => {
      const [account] = read.named('account', 'mint', 'authority');
      return { title: (name) => `Thaw the token account ${name(account)}` };
    },
  ],
  12: ['TransferChecked', checkedTransfer],
  13: [
    'ApproveChecked',
    (read) => {
      const [amount, decimals] = checkedAmount(read);
      const [account, mint, delegate] = read.named('source', 'mint', 'delegate', 'owner');
      return delegation(account, delegate, amount, mint, decimals);
    },
  ],
  14: [
    'MintToChecked',
    (read) => {
      const [amount, decimals] = checkedAmount(read);
      const [mint, to] = read.named('mint', 'destination', 'authority');
      return minting(to, amount, mint, decimals);
    },
  ],
  15: [
    'BurnChecked',
    (read) => {
      const [amount, decimals] = checkedAmount(read);
      const [from, mint] = read.named('account', 'mint', 'authority');
      return burning(from, amount, mint, decimals);
    },
  ],
  16: [
    'InitializeAccount2',
    (read) => {
      const owner = read.key('owner');
      const [account] = read.named('account', 'mint', 'rent');
      return newTokenAccount(account, owner);
    },
  ],
  17: [
    'SyncNative',
    (read) => {
      const [account] = read.named('account');
      return { title: (name) => `Bring the token account ${name(account)} up to its SOL` };
    },
  ],
  18: [
    'InitializeAccount3',
    (read) => {
      const owner = read.key('owner');
      const [account] = read.named('account', 'mint');
      return newTokenAccount(account, owner);
    },
  ],
  19: ['InitializeMultisig2', (read) => newMultisig(read)],
  20: ['InitializeMint2', (read) => newMint(read)],
  22: [
    'InitializeImmutableOwner',
    (read) => {
      const [account] = read.named('account');
      return { title: (name) => `Keep the owner of the new token account ${name(account)} for good` };
    },
  ],
  38: [
    'WithdrawExcessLamports',
    (read) => {
      const [from, to] = read.named('source', 'destination', 'authority');
      return withdrawal('Take the SOL that is not needed out of', from, to);
    },
  ],
  45: [
    'UnwrapLamports',
    (read) => {
      const amount = read.optionalWhole('amount');
      const [from, to] = read.named('source', 'destination', 'authority');
      return withdrawal('Unwrap SOL of', from, to, amount ?? undefined);
    },
  ],
});

function newMint(read: Reader, ...rent: readonly string[]): Effect {
  read.whole('decimals', 1);
  const authority = read.key('mint_authority');
  read.optionalKey('freeze_authority');
  const [mint] = read.named('mint', ...rent);
  return { title: (name) => `Set up the token ${name(mint)}, which ${name(authority)} makes` };
}

function newMultisig(read: Reader, ...rent: readonly string[]): Effect {
  const needed = read.whole('needed', 1);
  const [account] = read.named('account', ...rent);
  return {
    title: (name) => `Set up the multisig ${name(account)}, for which ${String(needed)} sign`,
  };
}

const newTokenAccount = (account: SolanaAccount, owner: SolanaAccount | string): Effect => ({
  title: (name) => `Set up the token account ${name(account)} of ${name(owner)}`,
});

function checkedAmount(read: Reader): readonly [bigint, number] {
  return [read.whole('amount', 8), Number(read.whole('decimals', 1))];
}

function checkedTransfer(read: Reader): Effect {
  const [amount, decimals] = checkedAmount(read);
  const [from, mint, to, owner] = read.named('source', 'mint', 'destination', 'owner');
  return sending({ from, to, amount, owner, signers: read.others, mint, decimals });
}

const token: Program = {
  name: 'Token Program',
  discriminator: 1,
  instructions: tokenInstructions(authorities.slice(0, 4)),
};

/** Of its extensions only the transfer with a fee is read. */
const token2022: Program = {
  name: 'Token-2022 Program',
  discriminator: 1,
  instructions: {
    ...tokenInstructions(authorities),
    26: [
      'TransferCheckedWithFee',
      (read) => {
        read.constant(1);
        const [amount, decimals] = checkedAmount(read);
        read.whole('fee', 8);
        const [from, mint, to, owner] = read.named('source', 'mint', 'destination', 'owner');
        return sending({ from, to, amount, owner, signers: read.others, mint, decimals });
      },
    ],
  },
};

const stakeAuthorities = ['Staker', 'Withdrawer'];

/** `solana-stake-interface`, read with bincode, which allows bytes after the end. Sysvars may be there or not. */
const stake: Program = {
  name: 'Stake Program',
  discriminator: 4,
  instructions: {
    0: [
      'Initialize',
      (read) => {
        read.key('staker');
        const withdrawer = read.key('withdrawer');
        read.signed('lockup_unix_timestamp');
        read.whole('lockup_epoch', 8);
        read.key('lockup_custodian');
        const [account] = read.named('stake');
        return newStake(account, withdrawer);
      },
    ],
    1: [
      'Authorize',
      (read) => {
        const key = read.key('new_authority');
        const kind = read.choice('stake_authorize', 4, stakeAuthorities);
        const [account] = read.namedAround(['stake'], ['clock'], ['authority']);
        return stakeAuthority(account, kind, key);
      },
    ],
    2: [
      'DelegateStake',
      (read) => {
        const [account, vote] = read.namedAround(
          ['stake', 'vote'],
          ['clock', 'stake_history', 'unused'],
          ['authority'],
        );
        return { title: (name) => `Delegate the stake ${name(account)} to the vote account ${name(vote)}` };
      },
    ],
    3: [
      'Split',
      (read) => {
        const lamports = read.lamports('lamports');
        const [from, to] = read.named('stake', 'new_stake');
        return {
          title: (name) => `Split ${sol(lamports)} of the stake ${name(from)} into the stake ${name(to)}`,
        };
      },
    ],
    4: [
      'Withdraw',
      (read) => {
        const lamports = read.lamports('lamports');
        const [from, to] = read.namedAround(
          ['stake', 'recipient'],
          ['clock', 'stake_history'],
          ['authority'],
        );
        return {
          title: (name) => `Withdraw ${sol(lamports)} from the stake ${name(from)} to ${name(to)}`,
          out: { to, lamports },
        };
      },
    ],
    5: [
      'Deactivate',
      (read) => {
        const [account] = read.namedAround(['stake'], ['clock'], ['authority']);
        return { title: (name) => `Deactivate the stake ${name(account)}` };
      },
    ],
    6: ['SetLockup', (read) => lockup(read, true)],
    7: [
      'Merge',
      (read) => {
        const [to, from] = read.namedAround(
          ['destination', 'source'],
          ['clock', 'stake_history'],
          ['authority'],
        );
        return { title: (name) => `Merge the stake ${name(from)} into the stake ${name(to)}` };
      },
    ],
    8: [
      'AuthorizeWithSeed',
      (read) => {
        const key = read.key('new_authority');
        const kind = read.choice('stake_authorize', 4, stakeAuthorities);
        read.text('authority_seed');
        read.key('authority_owner');
        const [account] = read.namedAround(['stake', 'base'], ['clock'], []);
        return stakeAuthority(account, kind, key);
      },
    ],
    9: [
      'InitializeChecked',
      (read) => {
        const [account, , withdrawer] = read.namedAround(['stake'], ['rent'], ['staker', 'withdrawer']);
        return newStake(account, withdrawer);
      },
    ],
    10: [
      'AuthorizeChecked',
      (read) => {
        const kind = read.choice('stake_authorize', 4, stakeAuthorities);
        const [account, , key] = read.namedAround(['stake'], ['clock'], ['authority', 'new_authority']);
        return stakeAuthority(account, kind, key);
      },
    ],
    11: [
      'AuthorizeCheckedWithSeed',
      (read) => {
        const kind = read.choice('stake_authorize', 4, stakeAuthorities);
        read.text('authority_seed');
        read.key('authority_owner');
        const [account, , key] = read.namedAround(['stake', 'base'], ['clock'], ['new_authority']);
        return stakeAuthority(account, kind, key);
      },
    ],
    12: ['SetLockupChecked', (read) => lockup(read, false)],
    14: [
      'DeactivateDelinquent',
      (read) => {
        const [account] = read.named('stake', 'delinquent_vote', 'reference_vote');
        return {
          title: (name) => `Deactivate the stake ${name(account)} of a vote account that does not vote`,
        };
      },
    ],
    16: ['MoveStake', (read) => movedStake(read, 'Move staked')],
    17: ['MoveLamports', (read) => movedStake(read, 'Move unstaked')],
  },
};

const newStake = (account: SolanaAccount, withdrawer: SolanaAccount | string): Effect => ({
  title: (name) => `Set up the stake ${name(account)}, which ${name(withdrawer)} can withdraw`,
});

const stakeAuthority = (account: SolanaAccount, kind: string, key: SolanaAccount | string): Effect => ({
  title: (name) => `Make ${name(key)} the ${kind.toLowerCase()} of the stake ${name(account)}`,
  warnings: (name) => [
    kind === 'Withdrawer'
      ? `${name(key)} can take all that is in the stake account.`
      : `${name(key)} decides to which validator the stake is delegated.`,
  ],
  ...(kind === 'Withdrawer' ? { out: { lamports: undefined } } : {}),
});

function lockup(read: Reader, custodian: boolean): Effect {
  read.optionalSigned('unix_timestamp');
  read.optionalWhole('epoch');
  if (custodian) read.optionalKey('custodian');
  const [account] = read.named('stake');
  return {
    title: (name) => `Set until when the stake ${name(account)} is locked`,
    warnings: () => ['A locked stake cannot be withdrawn without its custodian.'],
  };
}

function movedStake(read: Reader, what: string): Effect {
  const lamports = read.lamports('lamports');
  const [from, to] = read.named('source', 'destination', 'authority');
  return {
    title: (name) => `${what} ${sol(lamports)} from the stake ${name(from)} to the stake ${name(to)}`,
  };
}

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

const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** 165 bytes and the 128 of each account at 6,960 lamports, which is the most since rent has a price (SIMD-0437). */
const tokenAccountRent = (165n + 128n) * 6960n;

/** `spl-associated-token-account`: Borsh, of which `try_from_slice` refuses bytes after the end. */
const associatedToken: Program = {
  name: 'Associated Token Account',
  discriminator: 1,
  whenEmpty: 0,
  strict: true,
  instructions: {
    0: ['Create', (read) => newAssociated(read, '')],
    1: ['CreateIdempotent', (read) => newAssociated(read, ' if there is none')],
    2: [
      'RecoverNested',
      (read) => {
        const [nested, , to, , , wallet] = read.named(
          'nested_account',
          'nested_mint',
          'destination',
          'owner_account',
          'owner_mint',
          'wallet',
          'token_program',
        );
        return {
          title: (name) =>
            `Move all tokens of the nested token account ${name(nested)} to the token account ${name(to)} and its SOL to ${name(wallet)}`,
          out: { to: wallet, lamports: undefined },
        };
      },
    ],
  },
};

/** The account of a Token-2022 mint is as large as the mint says, which is not known here. */
function newAssociated(read: Reader, when: string): Effect {
  const [, account, wallet, , , program] = read.named(
    'payer',
    'token_account',
    'wallet',
    'mint',
    'system_program',
    'token_program',
  );
  return {
    title: (name) => `Create the token account ${name(account)} of ${name(wallet)}${when}`,
    out: { to: account, lamports: program.key === tokenProgram ? tokenAccountRent : undefined },
  };
}

/** Refuses what is no text. */
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

export const programTitle = (program: string): string => {
  const name = programs.get(program)?.name;
  return name === undefined ? program : `${name} (${program})`;
};

export const isTokenProgram = (program: string): boolean =>
  program === tokenProgram || program === token2022Program;

/** How many signatures an instruction has checked, as Agave counts them: by the first byte, or none. */
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

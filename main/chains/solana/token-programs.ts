/** The Token Program, Token-2022, and the program of their associated accounts. */
import { sol, type Effect, type Program, type Reader, type TokenTransfer } from './instructions.ts';
import type { SolanaAccount } from './read.ts';

export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

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

/** Accounts that follow without signing are passed over, or are those of a transfer hook. */
const signersIn = ({ others }: Reader): readonly SolanaAccount[] => others.filter(({ signer }) => signer);

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
      return sending({
        from,
        to,
        amount,
        owner,
        signers: signersIn(read),
        mint: undefined,
        decimals: undefined,
      });
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
  return sending({ from, to, amount, owner, signers: signersIn(read), mint, decimals });
}

export const token: Program = {
  name: 'Token Program',
  discriminator: 1,
  instructions: tokenInstructions(authorities.slice(0, 4)),
};

/** Of its extensions only the transfer with a fee is read. */
export const token2022: Program = {
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
        return sending({ from, to, amount, owner, signers: signersIn(read), mint, decimals });
      },
    ],
  },
};

/** 165 bytes and the 128 of each account at 6,960 lamports, which is the most since rent has a price (SIMD-0437). */
const tokenAccountRent = (165n + 128n) * 6960n;

/** `spl-associated-token-account`: Borsh, of which `try_from_slice` refuses bytes after the end. */
export const associatedToken: Program = {
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

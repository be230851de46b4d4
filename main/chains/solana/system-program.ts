/** The System Program: accounts, transfers of lamports, and nonces. */
import { sol, type Effect, type Program } from './instructions.ts';
import type { SolanaAccount } from './read.ts';

/** `solana-system-interface`, read by Agave with `limited_deserialize`, which allows bytes after the end. */
export const system: Program = {
  name: 'System Program',
  discriminator: 4,
  instructions: {
    0: [
      'CreateAccount',
      (read) => {
        const lamports = read.lamports();
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
        const amount = read.lamports();
        const [from, to] = read.named('from', 'to');
        return { ...payment(to, amount), transfer: { from, to, amount } };
      },
    ],
    3: [
      'CreateAccountWithSeed',
      (read) => {
        read.key('base');
        read.text('seed');
        const lamports = read.lamports();
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
        const lamports = read.lamports();
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
        const amount = read.lamports();
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
        const lamports = read.lamports();
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
  title: (name) => `Create the account ${name(created)} of the program ${name(owner)} with ${sol(lamports)}`,
  out: { to: created, lamports },
  handsOver: created,
});

const assignment = (account: SolanaAccount, owner: string): Effect => ({
  title: (name) => `Give the account ${name(account)} to the program ${name(owner)}`,
  warnings: () => ['An account that is given to a program is no longer yours to spend from.'],
});

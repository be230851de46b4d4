/** The Stake Program. */
import { sol, type Effect, type Program, type Reader } from './instructions.ts';
import type { SolanaAccount } from './read.ts';

const stakeAuthorities = ['Staker', 'Withdrawer'];

/** `solana-stake-interface`, read with bincode, which allows bytes after the end. Sysvars may be there or not. */
export const stake: Program = {
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
        const lamports = read.lamports();
        const [from, to] = read.named('stake', 'new_stake');
        return {
          title: (name) => `Split ${sol(lamports)} of the stake ${name(from)} into the stake ${name(to)}`,
          // An account that signs for itself may not be set up yet. The new account may then be another user's.
          ...(from.signer ? { out: { to, lamports } } : {}),
        };
      },
    ],
    4: [
      'Withdraw',
      (read) => {
        const lamports = read.lamports();
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
  const lamports = read.lamports();
  const [from, to] = read.named('source', 'destination', 'authority');
  return {
    title: (name) => `${what} ${sol(lamports)} from the stake ${name(from)} to the stake ${name(to)}`,
  };
}

/** Policies to begin with. `…` stands for what is filled in. */

import type { Draft } from './policies.ts';

export interface PolicyTemplate {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly draft: Pick<Draft, 'policyName' | 'effect' | 'condition' | 'consensus'>;
}

export const policyTemplates: readonly PolicyTemplate[] = [
  {
    id: 'sign-with-wallet',
    title: 'One user signs with one wallet',
    about: 'A script or a person may sign with the accounts of a single wallet, and do nothing else.',
    draft: {
      policyName: 'Sign with a wallet',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN' && wallet.id == '…'",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'pay-known',
    title: 'Payments to known addresses',
    about: 'Ethereum transactions to the receivers that you list, each below an amount in wei.',
    draft: {
      policyName: 'Pay known receivers',
      effect: 'EFFECT_ALLOW',
      condition: "eth.tx.chain_id == 1 && eth.tx.to in ['…'] && eth.tx.value <= 1000000000000000000",
      consensus: "approvers.any(user, user.tags.contains('…'))",
    },
  },
  {
    id: 'budget',
    title: 'A budget a day',
    about: 'Each account may send so much in 24 hours, counted exactly however many requests come at once.',
    draft: {
      policyName: 'Budget of a day',
      effect: 'EFFECT_ALLOW',
      condition: "RollingSum(eth.tx.value, '24h', wallet_account.address) <= 1000000000000000000",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'rate',
    title: 'No more than so many signatures an hour',
    about: 'Denies what goes beyond it, whichever policy would allow it.',
    draft: {
      policyName: 'At most 100 signatures an hour',
      effect: 'EFFECT_DENY',
      condition: "activity.action == 'SIGN' && RollingCount('1h', submitter.id) > 100",
      consensus: '',
    },
  },
  {
    id: 'two-people',
    title: 'Two people for an export',
    about: 'Wallets and keys leave the vault only when two users agree, one of them with a tag.',
    draft: {
      policyName: 'Two people export',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'EXPORT'",
      consensus: "approvers.count() >= 2 && approvers.any(user, user.tags.contains('…'))",
    },
  },
  {
    id: 'user-manager',
    title: 'Somebody manages users',
    about: 'A user may add, change and delete users and their credentials, but touch no key.',
    draft: {
      policyName: 'Manage users',
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource in ['USER', 'CREDENTIAL']",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'no-deletion',
    title: 'Nothing is deleted',
    about: 'Denies every deletion of wallets and private keys, whichever policy would allow it.',
    draft: {
      policyName: 'No deletions',
      effect: 'EFFECT_DENY',
      condition: "activity.action == 'DELETE' && activity.resource in ['WALLET', 'PRIVATE_KEY']",
      consensus: '',
    },
  },
];

/** Policies to begin with. `…` stands for what is filled in. */

import type { Draft } from './policies.ts';
import { t } from './text.ts';

export interface PolicyTemplate {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly draft: Pick<Draft, 'policyName' | 'effect' | 'condition' | 'consensus'>;
}

export const policyTemplates: readonly PolicyTemplate[] = [
  {
    id: 'sign-with-wallet',
    title: t('One user signs with one wallet'),
    about: t('A script or a person may sign with the accounts of a single wallet, and do nothing else.'),
    draft: {
      policyName: t('Sign with a wallet'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'SIGN' && wallet.id == '…'",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'pay-known',
    title: t('Payments to known addresses'),
    about: t('Ethereum transactions to the receivers that you list, each below an amount in wei.'),
    draft: {
      policyName: t('Pay known receivers'),
      effect: 'EFFECT_ALLOW',
      condition: "eth.tx.chain_id == 1 && eth.tx.to in ['…'] && eth.tx.value <= 1000000000000000000",
      consensus: "approvers.any(user, user.tags.contains('…'))",
    },
  },
  {
    id: 'budget',
    title: t('A budget a day'),
    about: t(
      'Each account may send so much in 24 hours, counted exactly however many requests come at once.',
    ),
    draft: {
      policyName: t('Budget of a day'),
      effect: 'EFFECT_ALLOW',
      condition: "RollingSum(eth.tx.value, '24h', wallet_account.address) <= 1000000000000000000",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'rate',
    title: t('No more than so many signatures an hour'),
    about: t('Denies what goes beyond it, whichever policy would allow it.'),
    draft: {
      policyName: t('At most 100 signatures an hour'),
      effect: 'EFFECT_DENY',
      condition: "activity.action == 'SIGN' && RollingCount('1h', submitter.id) > 100",
      consensus: '',
    },
  },
  {
    id: 'two-people',
    title: t('Two people for an export'),
    about: t('Wallets and keys leave the vault only when two users agree, one of them with a tag.'),
    draft: {
      policyName: t('Two people export'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'EXPORT'",
      consensus: "approvers.count() >= 2 && approvers.any(user, user.tags.contains('…'))",
    },
  },
  {
    id: 'user-manager',
    title: t('Somebody manages users'),
    about: t('A user may add, change and delete users and their credentials, but touch no key.'),
    draft: {
      policyName: t('Manage users'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource in ['USER', 'CREDENTIAL']",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'no-deletion',
    title: t('Nothing is deleted'),
    about: t('Denies every deletion of wallets and private keys, whichever policy would allow it.'),
    draft: {
      policyName: t('No deletions'),
      effect: 'EFFECT_DENY',
      condition: "activity.action == 'DELETE' && activity.resource in ['WALLET', 'PRIVATE_KEY']",
      consensus: '',
    },
  },
];

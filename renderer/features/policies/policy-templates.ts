/** Policies to begin with. `…` stands for what is filled in. */

import { plainPayment, transferOfUsdc } from '../../../main/lib/policies/payments.ts';
import type { Draft } from './policy-queries.ts';
import { t } from '../../app/i18n/text.ts';

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
    about: t(
      'A script or a person may sign anything with the accounts of a single wallet, and do nothing else.',
    ),
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
    about: t(
      'Payments in ether to the receivers that you list, each at most an amount in wei, its fee included. Tokens and calls of contracts are not among them.',
    ),
    draft: {
      policyName: t('Pay known receivers'),
      effect: 'EFFECT_ALLOW',
      condition: `eth.tx.chain_id == 1 && eth.tx.to in ['…'] && ${plainPayment} && eth.tx.outflow <= 1000000000000000000`,
      consensus: "approvers.any(user, user.tags.contains('…'))",
    },
  },
  {
    id: 'budget',
    title: t('Daily budget'),
    about: t(
      'Each key may send so much ether in 24 hours, fees included, counted exactly however many requests come at once. Tokens and calls of contracts are not among it.',
    ),
    draft: {
      policyName: t('Daily budget'),
      effect: 'EFFECT_ALLOW',
      condition: `eth.tx.chain_id == 1 && eth.tx.to != '' && ${plainPayment} && RollingSum(eth.tx.outflow, '24h', signing_key.public_key) <= 1000000000000000000`,
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'token-budget',
    title: t('Daily budget of a token'),
    about: t(
      'Each key may send so many USDC in 24 hours, and spend so much ether on fees. To name the receivers, add a condition on eth.tx.contract_call_args.',
    ),
    draft: {
      policyName: t('Daily budget of USDC'),
      effect: 'EFFECT_ALLOW',
      condition: `eth.tx.chain_id == 1 && ${transferOfUsdc} && RollingSum(eth.tx.contract_call_args['amount'], '24h', signing_key.public_key, eth.tx.to) <= 1000000000 && RollingSum(eth.tx.max_fee, '24h', signing_key.public_key, eth.tx.to) <= 20000000000000000`,
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'rate',
    title: t('Hourly signature limit'),
    about: t(
      'Denies each user further signatures, whichever policy would allow them. Each payload of a batch counts.',
    ),
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
    about: t('Two users together may export wallets and keys, one of them with a tag.'),
    draft: {
      policyName: t('Two people export'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'EXPORT'",
      consensus: "approvers.count() >= 2 && approvers.any(user, user.tags.contains('…'))",
    },
  },
  {
    id: 'user-manager',
    title: t('Somebody adds users'),
    about: t(
      'A user may add users without tags. Adding tags or credentials to users is not among it: with those, it could act in their name.',
    ),
    draft: {
      policyName: t('Add users'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'CREATE_USERS' && activity.params.user_tags.count() == 0",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'no-deletion',
    title: t('Nothing is deleted'),
    about: t(
      'Denies every deletion of wallets, private keys and sub-organizations, whichever policy would allow it.',
    ),
    draft: {
      policyName: t('No deletions'),
      effect: 'EFFECT_DENY',
      condition:
        "activity.action == 'DELETE' && activity.resource in ['WALLET', 'PRIVATE_KEY', 'ORGANIZATION']",
      consensus: '',
    },
  },
];

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
    about: t('A user may sign anything with one wallet’s accounts, and do nothing else.'),
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
      'Ether payments to listed receivers, each up to an amount in wei, fee included. No tokens or contract calls.',
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
      'Each key may send up to an amount of ether in 24 hours, fees included. No tokens or contract calls.',
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
    title: t('Daily token budget'),
    about: t(
      'Each key may send an amount of USDC in 24 hours and pay limited fees. To limit receivers, add a condition on eth.tx.contract_call_args.',
    ),
    draft: {
      policyName: t('Daily USDC budget'),
      effect: 'EFFECT_ALLOW',
      condition: `eth.tx.chain_id == 1 && ${transferOfUsdc} && RollingSum(eth.tx.contract_call_args['amount'], '24h', signing_key.public_key, eth.tx.to) <= 1000000000 && RollingSum(eth.tx.max_fee, '24h', signing_key.public_key, eth.tx.to) <= 20000000000000000`,
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'rate',
    title: t('Hourly signature limit'),
    about: t('Denies signatures above the limit, per user. Each payload of a batch counts.'),
    draft: {
      policyName: t('At most 100 signatures an hour'),
      effect: 'EFFECT_DENY',
      condition: "activity.action == 'SIGN' && RollingCount('1h', submitter.id) > 100",
      consensus: '',
    },
  },
  {
    id: 'two-people',
    title: t('Two people for exports'),
    about: t('Two users together may export wallets and keys; one needs a tag.'),
    draft: {
      policyName: t('Two people export'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'EXPORT'",
      consensus: "approvers.count() >= 2 && approvers.any(user, user.tags.contains('…'))",
    },
  },
  {
    id: 'user-manager',
    title: t('One user adds users'),
    about: t('A user may create users without tags, but not add tags or credentials to users.'),
    draft: {
      policyName: t('Add users'),
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'CREATE_USERS' && activity.params.user_tags.count() == 0",
      consensus: "approvers.any(user, user.id == '…')",
    },
  },
  {
    id: 'no-deletion',
    title: t('No deletions'),
    about: t('Denies deleting wallets, private keys and sub-organizations.'),
    draft: {
      policyName: t('No deletions'),
      effect: 'EFFECT_DENY',
      condition:
        "activity.action == 'DELETE' && activity.resource in ['WALLET', 'PRIVATE_KEY', 'ORGANIZATION']",
      consensus: '',
    },
  },
];

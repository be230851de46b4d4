/** Policies to begin with. Their forms leave open what their user chooses. */

import { openForm } from '../../../main/lib/policies/policy-form.ts';
import type { Agreement, PolicyForm } from '../../../main/lib/policies/policy-form.ts';
import { deedChoices, newPayment, noUsers, textsOf } from './builder/policy-building.ts';
import type { Draft } from './draft.ts';
import { t } from '../../app/i18n/text.ts';

export interface PolicyTemplate {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly form: PolicyForm;
  /** The form as the language; `…` stands for what is filled in. */
  readonly draft: Pick<Draft, 'policyName' | 'effect' | 'condition' | 'consensus'>;
}

const oneUser: Agreement = { count: 1, of: noUsers };
const oneOfTag: Agreement = { count: 1, of: { kind: 'tag', id: '' } };
const deedsOf = (id: string) => deedChoices.find((each) => each.id === id)?.deeds ?? openForm.deeds;
const ether = 10n ** 18n;

const templates: readonly Omit<PolicyTemplate, 'draft'>[] = [
  {
    id: 'pay-budget',
    title: t('Payments within a daily budget'),
    about: t('A user pays listed addresses from a wallet. Above the budget, others can agree.'),
    form: {
      ...openForm,
      agreements: [oneUser],
      keys: { kind: 'wallets', ids: [] },
      payment: {
        ...newPayment,
        limits: [{ amount: String(ether), window: '24h', by: ['wallet'] }],
      },
    },
  },
  {
    id: 'sign-with-wallet',
    title: t('One user signs with one wallet'),
    about: t('A user may sign anything with one wallet’s accounts, and do nothing else.'),
    form: {
      ...openForm,
      agreements: [oneUser],
      deeds: deedsOf('sign'),
      keys: { kind: 'wallets', ids: [] },
    },
  },
  {
    id: 'ask-me',
    title: t('Ask me'),
    about: t('A user’s signatures wait for your approval: once, for ten minutes, or for today.'),
    form: { ...openForm, agreements: [oneUser, oneUser], deeds: deedsOf('sign') },
  },
  {
    id: 'pay-known',
    title: t('Payments to known addresses'),
    about: t('Ether to listed receivers, each payment up to a limit. No tokens or contract calls.'),
    form: {
      ...openForm,
      agreements: [oneOfTag],
      payment: {
        ...newPayment,
        limits: [{ amount: String(ether), window: null, by: [] }],
      },
    },
  },
  {
    id: 'budget',
    title: t('Daily budget'),
    about: t('Each key may send an amount of ether in 24 hours, fees included. No tokens or contract calls.'),
    form: {
      ...openForm,
      agreements: [oneUser],
      payment: {
        ...newPayment,
        receivers: null,
        limits: [{ amount: String(ether), window: '24h', by: ['key'] }],
      },
    },
  },
  {
    id: 'token-budget',
    title: t('Daily token budget'),
    about: t('Each key may send an amount of USDC in 24 hours and pay limited fees.'),
    form: {
      ...openForm,
      agreements: [oneUser],
      payment: {
        chainId: '1',
        token: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        receivers: null,
        limits: [{ amount: '1000000000', window: '24h', by: ['key', 'receiver'] }],
        fees: [{ amount: String(ether / 50n), window: '24h', by: ['key', 'receiver'] }],
      },
    },
  },
  {
    id: 'rate',
    title: t('Hourly signature limit'),
    about: t('Denies signatures above the limit, per user. Each payload of a batch counts.'),
    form: {
      ...openForm,
      effect: 'EFFECT_DENY',
      deeds: deedsOf('sign'),
      signatures: { count: '100', window: '1h', by: ['requester'] },
    },
  },
  {
    id: 'two-people',
    title: t('Two people for exports'),
    about: t('Two users together may export wallets and keys; one needs a tag.'),
    form: {
      ...openForm,
      agreements: [{ count: 2, of: { kind: 'anyone' } }, oneOfTag],
      deeds: deedsOf('export'),
    },
  },
  {
    id: 'user-manager',
    title: t('One user adds users'),
    about: t('A user may create users without tags, but not add tags or credentials to users.'),
    form: { ...openForm, agreements: [oneUser], deeds: deedsOf('create-users') },
  },
  {
    id: 'no-deletion',
    title: t('No deletions'),
    about: t('Denies deleting wallets, private keys and sub-organizations.'),
    form: { ...openForm, effect: 'EFFECT_DENY', deeds: deedsOf('delete') },
  },
];

export const policyTemplates: readonly PolicyTemplate[] = templates.map((template) => ({
  ...template,
  draft: { policyName: template.title, ...textsOf(template.form) },
}));

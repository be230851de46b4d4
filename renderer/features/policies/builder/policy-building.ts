/** A policy's form while it is filled in: lists may be empty, and an amount may be missing. */
import { budgetHolders, openForm, writePolicy } from '../../../../main/lib/policies/policy-form.ts';
import type {
  Agreement,
  BudgetHolder,
  Deeds,
  Keys,
  Limit,
  Payment,
  People,
  PolicyForm,
} from '../../../../main/lib/policies/policy-form.ts';
import type { Answer } from '../../../../main/operations/api.ts';
import { blank } from '../draft.ts';
import type { Draft } from '../draft.ts';
import { t } from '../../../app/i18n/text.ts';

export type Asset = Answer<'get_policy_language'>['policyLanguage']['assets'][number];

export const anyone: Agreement = { count: 1, of: { kind: 'anyone' } };
export const noUsers: People = { kind: 'users', ids: [] };
const noDeeds: Deeds = openForm.deeds;

export interface Deed {
  readonly id: string;
  readonly label: string;
  readonly deeds: Deeds;
}

/** The deeds that the form offers beside payments: each covers what its label names, and nothing else. */
export const deedChoices: readonly Deed[] = [
  { id: 'sign', label: t('Sign anything'), deeds: { ...noDeeds, actions: ['SIGN'] } },
  {
    id: 'export',
    label: t('Export wallets and keys'),
    deeds: { ...noDeeds, actions: ['EXPORT'], resources: ['WALLET', 'PRIVATE_KEY'] },
  },
  {
    id: 'create-keys',
    label: t('Create wallets and keys'),
    deeds: { ...noDeeds, kinds: ['CREATE_WALLET', 'CREATE_WALLET_ACCOUNTS', 'CREATE_PRIVATE_KEYS'] },
  },
  {
    id: 'delete',
    label: t('Delete wallets, keys and sub-organizations'),
    deeds: {
      ...noDeeds,
      kinds: ['DELETE_WALLETS', 'DELETE_WALLET_ACCOUNTS', 'DELETE_PRIVATE_KEYS', 'DELETE_SUB_ORGANIZATION'],
    },
  },
  {
    id: 'create-users',
    label: t('Create users without tags'),
    deeds: { ...noDeeds, kinds: ['CREATE_USERS'], untagged: true },
  },
  { id: 'everything', label: t('Do everything'), deeds: noDeeds },
];

/** The choice that a form shows; undefined for other deeds, which the sentence spells out. */
export const deedOf = ({ payment, deeds }: PolicyForm): string | undefined =>
  payment !== null && !deeds.untagged
    ? 'pay'
    : deedChoices.find((choice) => JSON.stringify(choice.deeds) === JSON.stringify(deeds))?.id;

export const firstLimit: Limit = { amount: '', window: '24h', by: ['wallet'] };

export const newPayment: Payment = {
  chainId: '1',
  token: null,
  receivers: [],
  limits: [firstLimit],
  fees: [],
};

/** A new policy begins as the commonest: a user pays listed addresses within a budget. */
export const newBuilding: PolicyForm = {
  ...openForm,
  agreements: [{ count: 1, of: noUsers }],
  keys: { kind: 'wallets', ids: [] },
  payment: newPayment,
};

export const assetOf = (
  assets: readonly Asset[],
  { chainId, token }: Pick<Payment, 'chainId' | 'token'>,
): Asset | undefined =>
  assets.find(
    (asset) =>
      asset.chainId === chainId && asset.token?.toLowerCase() === (token ?? undefined)?.toLowerCase(),
  );

/** @returns digits of the smallest unit; undefined for anything but a positive number with at most so many decimals. */
export function unitsOf(text: string, decimals: number): string | undefined {
  const [, whole = '', fraction = ''] = /^([0-9]{1,60})(?:\.([0-9]+))?$/.exec(text.trim()) ?? [];
  if (whole === '' || fraction.length > decimals) return undefined;
  const units = BigInt(whole + fraction.padEnd(decimals, '0'));
  return units > 0n && units < 2n ** 256n ? String(units) : undefined;
}

/** A whole number of smallest units as a decimal, to the last digit. */
export function decimalOf(units: string, decimals: number): string {
  const digits = units.padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const fraction = digits.slice(cut).replace(/0+$/, '');
  return `${digits.slice(0, cut)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Groups digits by thousands, as `1 000 000`. */
export const grouped = (digits: string): string => digits.replaceAll(/\B(?=(\d{3})+$)/g, ' ');

const isAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text);

/** The lines of a list of addresses that are none. */
export const wrongAddresses = (receivers: readonly string[]): readonly string[] =>
  receivers.filter((receiver) => !isAddress(receiver));

/** Addresses that people take for one another: they differ, and begin and end alike. */
export function alikeAddresses(receivers: readonly string[]): readonly string[] {
  const ends = (address: string): string => `${address.slice(2, 6)} ${address.slice(-4)}`.toLowerCase();
  return receivers.filter((one) =>
    receivers.some((other) => other.toLowerCase() !== one.toLowerCase() && ends(other) === ends(one)),
  );
}

/** Lists the missing parts of a form, a line each. */
export function missingOf({
  agreements,
  requesters,
  keys,
  payment,
  signatures,
}: PolicyForm): readonly string[] {
  const people = [...agreements.map(({ of }) => of), ...(requesters === null ? [] : [requesters])];
  const limits = payment === null ? [] : [...payment.limits, ...payment.fees];
  return [
    people.some(
      (of) => (of.kind === 'users' && of.ids.length === 0) || (of.kind === 'tag' && of.id === ''),
    ) && t('Choose the users or a tag.'),
    ((keys.kind === 'wallets' || keys.kind === 'privateKeys') && keys.ids.length === 0) ||
    (keys.kind === 'privateKeyTag' && keys.id === '')
      ? t('Choose the wallets or keys.')
      : false,
    payment?.receivers?.length === 0 && t('Enter the receivers.'),
    (payment?.receivers ?? []).some((each) => !isAddress(each)) &&
      t('Correct the addresses of the receivers.'),
    limits.some(({ amount }) => amount === '') && t('Enter the limit.'),
    signatures?.count === '' && t('Enter the number of signatures.'),
  ].filter((line) => typeof line === 'string');
}

/** Writes a form as the language; `…` stands for what is missing. */
export function textsOf(form: PolicyForm): Pick<Draft, 'effect' | 'condition' | 'consensus' | 'time'> {
  const list = (ids: readonly string[]) => (ids.length === 0 ? [blank] : ids);
  const people = (of: People): People =>
    of.kind === 'users' ? { ...of, ids: list(of.ids) } : { ...of, id: of.id === '' ? blank : of.id };
  const filled = (limits: readonly Limit[]) =>
    limits.map((limit) => ({ ...limit, amount: limit.amount === '' ? blank : limit.amount }));
  const { requesters, agreements, keys, payment, signatures } = form;
  return writePolicy({
    ...form,
    requesters: requesters === null ? null : people(requesters),
    agreements: agreements.map(({ count, of }) => ({ count, of: of.kind === 'anyone' ? of : people(of) })),
    keys: filledKeys(keys, list),
    payment:
      payment === null
        ? null
        : {
            ...payment,
            // A quote would end the text.
            receivers:
              payment.receivers === null
                ? null
                : list(payment.receivers.map((each) => each.replaceAll("'", blank))),
            limits: filled(payment.limits),
            fees: filled(payment.fees),
          },
    signatures:
      signatures === null
        ? null
        : { ...signatures, count: signatures.count === '' ? blank : signatures.count },
  });
}

function filledKeys(keys: Keys, list: (ids: readonly string[]) => readonly string[]): Keys {
  if (keys.kind === 'any') return keys;
  return keys.kind === 'privateKeyTag'
    ? { ...keys, id: keys.id === '' ? blank : keys.id }
    : { ...keys, ids: list(keys.ids) };
}

/** The form that stands for a policy above a limit: the same payments without limits, and others agree. */
export const aboveLimit = (form: PolicyForm, agreement: Agreement): PolicyForm => ({
  ...form,
  agreements: [...form.agreements, agreement],
  payment: form.payment === null ? null : { ...form.payment, limits: [] },
});

/**
 * The groups that a sentence names as those who ask and agree: more than one, where the sentence has several. One group of
 * several people is not among them twice.
 */
export function groupsOf({ requesters, agreements }: PolicyForm): readonly Agreement[] {
  if (requesters === null) return agreements.filter(({ count, of }) => !(of.kind === 'anyone' && count <= 1));
  const isAsking = ({ count, of }: Agreement): boolean =>
    count === 1 && JSON.stringify(of) === JSON.stringify(requesters);
  return [{ count: 1, of: requesters }, ...agreements.filter((each) => !isAsking(each))];
}

/** True where one person may be in several of the groups: the approval of one then counts for each. */
export function mayBeSeveral(form: PolicyForm): boolean {
  const groups = groupsOf(form).map(({ of }) => of);
  return groups.some((one, index) => groups.slice(index + 1).some((other) => mayShare(one, other)));
}

function mayShare(one: Agreement['of'], other: Agreement['of']): boolean {
  if (one.kind !== 'users' || other.kind !== 'users') return true;
  return one.ids.some((id) => other.ids.includes(id));
}

/** Names the holder of each budget, after its time. A transfer of a token is addressed to the token's contract, not to its receiver. */
export const holderLabel = (holder: BudgetHolder, payment: Payment | null): string =>
  holder === 'receiver' && isOfToken(payment) ? t('for each token') : holderLabels[holder];

const holderLabels: Readonly<Record<BudgetHolder, string>> = {
  wallet: t('from each wallet'),
  key: t('from each key'),
  requester: t('by each user'),
  receiver: t('to each receiver'),
};

/** The same, to choose from. */
export const holderChoice = (holder: BudgetHolder, payment: Payment | null): string =>
  holder === 'receiver' && isOfToken(payment) ? t('each token') : holderChoices[holder];

const holderChoices: Readonly<Record<BudgetHolder, string>> = {
  wallet: t('each wallet'),
  key: t('each key'),
  requester: t('each user'),
  receiver: t('each receiver'),
};

const isOfToken = (payment: Payment | null): boolean => payment !== null && payment.token !== null;

export const holderNames = Object.keys(budgetHolders) as readonly BudgetHolder[];

/** Durations that the form offers. */
export const windows: Readonly<Record<string, string>> = {
  '1h': t('in any hour'),
  '24h': t('in any 24 hours'),
  '7d': t('in any 7 days'),
  '30d': t('in any 30 days'),
};

export const windowLabel = (window: string): string => windows[window] ?? t('in any {{window}}', { window });

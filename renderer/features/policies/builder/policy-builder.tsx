/** The form that a policy is built with. It changes a form, and leaves the writing to others. */
import type { ReactNode } from 'react';
import { Button, Checkbox, Group, Select, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { anyone, assetOf, deedChoices, deedOf, firstLimit, newPayment, noUsers } from './policy-building.ts';
import type { Asset } from './policy-building.ts';
import {
  KeysField,
  LimitField,
  PeopleField,
  ReceiversField,
  RequestersField,
} from './policy-builder-fields.tsx';
import type { KnownNames } from '../policy-names.tsx';
import { HoursFields } from './policy-hours-fields.tsx';
import type {
  Agreement,
  Keys,
  Limit,
  Payment,
  PolicyForm,
} from '../../../../main/lib/policies/policy-form.ts';
import { openForm } from '../../../../main/lib/policies/policy-form.ts';
import { t } from '../../../app/i18n/text.ts';
import './policy-builder.css';

export interface BuilderProps {
  readonly form: PolicyForm;
  readonly onChange: (form: PolicyForm) => void;
  /** The users who must agree to payments above the limits; undefined for a policy that exists. */
  readonly above: Agreement | null | undefined;
  readonly onAbove: (above: Agreement | null) => void;
  readonly names: KnownNames;
  readonly assets: readonly Asset[];
  readonly tried: boolean;
}

export function PolicyBuilder(props: BuilderProps): ReactNode {
  const { form, onChange, names, tried } = props;
  const { effect, requesters, agreements, deeds, payment } = form;
  const allows = effect === 'EFFECT_ALLOW';
  const set = (change: Partial<PolicyForm>) => {
    onChange({ ...form, ...change });
  };
  const deed = deedOf(form);
  const [first = anyone, ...others] = agreements;
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label={t('Effect')}
        style={{ alignSelf: 'start' }}
        value={effect}
        onChange={(value) => {
          if (value === effect) return;
          // A denial names requesters, and is about no payment in particular.
          if (value === 'EFFECT_DENY') {
            set({
              effect: value,
              requesters: first.of.kind === 'anyone' ? null : first.of,
              agreements: [],
              payment: null,
              deeds: payment === null ? deeds : { ...openForm.deeds, actions: ['SIGN'] },
            });
          } else {
            set({
              effect: value,
              requesters: null,
              agreements: [requesters === null ? anyone : { count: 1, of: requesters }],
            });
          }
        }}
        data={[
          { value: 'EFFECT_ALLOW', label: t('Allow') },
          { value: 'EFFECT_DENY', label: t('Deny') },
        ]}
      />
      {allows && (
        <PeopleField
          label={t('Who')}
          value={first}
          names={names}
          tried={tried}
          onChange={(value) => {
            set({ agreements: [value, ...others] });
          }}
        />
      )}
      {(!allows || requesters !== null) && (
        <RequestersField
          label={allows ? t('Requested by') : t('Who')}
          value={requesters}
          names={names}
          tried={tried}
          onChange={(value) => {
            set({ requesters: value });
          }}
        />
      )}
      <Select
        label={allows ? t('May') : t('May not')}
        data={[
          ...(allows ? [{ value: 'pay', label: t('Send coins or tokens') }] : []),
          ...deedChoices.map(({ id, label }) => ({ value: id, label })),
          ...(deed === undefined ? [{ value: 'other', label: t('As the sentence says') }] : []),
        ]}
        value={deed ?? 'other'}
        allowDeselect={false}
        onChange={(id) => {
          const chosen = deedChoices.find((each) => each.id === id);
          if (id === 'pay') set({ deeds: openForm.deeds, payment: payment ?? newPayment });
          else if (chosen !== undefined) {
            const usesKeys = ['sign', 'export'].includes(chosen.id);
            set({
              deeds: chosen.deeds,
              payment: null,
              ...(!usesKeys && { keys: openForm.keys, signatures: null }),
            });
          }
        }}
      />
      {(payment !== null || form.keys.kind !== 'any' || ['sign', 'export'].includes(deed ?? '')) && (
        <KeysField
          value={form.keys}
          names={names}
          tried={tried}
          onChange={(keys) => {
            set({ keys, payment: payment === null ? null : fitting(payment, keys) });
          }}
        />
      )}
      {payment !== null && <PaymentFields {...props} payment={payment} />}
      {form.signatures !== null && (
        <TextInput
          label={t('Signatures')}
          description={t('The sentence says how they are counted.')}
          inputMode="numeric"
          value={form.signatures.count}
          error={form.signatures.count === '' && t('Enter the number of signatures.')}
          onChange={(event) => {
            const count = event.currentTarget.value.replaceAll(/\D/g, '').slice(0, 12);
            if (form.signatures !== null) set({ signatures: { ...form.signatures, count } });
          }}
        />
      )}
      {allows &&
        others.map((agreement, index) => (
          <Group key={index} align="end" gap="xs" wrap="nowrap">
            <div style={{ flex: 1 }}>
              <PeopleField
                label={t('Must agree')}
                value={agreement}
                names={names}
                tried={tried}
                onChange={(value) => {
                  set({ agreements: [first, ...others.map((each, at) => (at === index ? value : each))] });
                }}
              />
            </div>
            <Button
              variant="default"
              onClick={() => {
                set({ agreements: [first, ...others.filter((_, at) => at !== index)] });
              }}
            >
              {t('Remove')}
            </Button>
          </Group>
        ))}
      {form.hours !== null && (
        <HoursFields
          value={form.hours}
          onChange={(hours) => {
            set({ hours });
          }}
        />
      )}
      <Group gap="xs">
        {allows && (
          <Add
            label={t('Approval by others')}
            onAdd={() => {
              set({ agreements: [first, ...others, { count: 1, of: noUsers }] });
            }}
          />
        )}
        {deed === 'sign' && form.signatures === null && (
          <Add
            label={t('Signature limit')}
            onAdd={() => {
              set({ signatures: { count: '100', window: '1h', by: ['requester'] } });
            }}
          />
        )}
        {form.hours === null ? (
          <Add
            label={t('Hours')}
            onAdd={() => {
              const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
              set({ hours: { days: '1-5', hour: 9, minute: 0, length: '8h', zone } });
            }}
          />
        ) : (
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => {
              set({ hours: null });
            }}
          >
            {t('Remove the hours')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** A private key has no wallet: a budget for each wallet becomes one for each key. */
function fitting(payment: Payment, keys: Keys): Payment {
  if (keys.kind === 'wallets') return payment;
  const fit = (limits: readonly Limit[]) =>
    limits.map((each) => ({ ...each, by: each.by.map((holder) => (holder === 'wallet' ? 'key' : holder)) }));
  return { ...payment, limits: fit(payment.limits), fees: fit(payment.fees) };
}

const Add = ({ label, onAdd }: { readonly label: string; readonly onAdd: () => void }): ReactNode => (
  <Button
    variant="default"
    size="compact-sm"
    leftSection={<IconPlus size={14} aria-hidden />}
    onClick={onAdd}
  >
    {label}
  </Button>
);

function PaymentFields({
  form,
  onChange,
  payment,
  above,
  onAbove,
  names,
  assets,
  tried,
}: BuilderProps & { readonly payment: Payment }): ReactNode {
  const { limits, fees } = payment;
  const asset = assetOf(assets, payment);
  const coin = assetOf(assets, { ...payment, token: null });
  const set = (change: Partial<Payment>) => {
    onChange({ ...form, payment: { ...payment, ...change } });
  };
  const keyOf = ({ chainId, token }: Pick<Payment, 'chainId' | 'token'>) =>
    `${chainId}/${(token ?? '').toLowerCase()}`;
  const offered = assets.filter((each) => each.exactFees || keyOf(each) === keyOf(payment));
  const limit = firstLimit;
  const defaultBy: Limit['by'] = form.keys.kind === 'wallets' ? ['wallet'] : ['key'];
  const changed = (list: readonly Limit[], index: number, value: Limit | null): readonly Limit[] =>
    list.flatMap((each, at) => (at === index ? (value ?? []) : each));
  return (
    <>
      <Select
        label={t('Coin or token')}
        searchable
        openOnFocus={false}
        data={[
          ...offered.map((each) => ({
            value: keyOf(each),
            label: t('{{symbol}} on {{network}}', { symbol: each.symbol, network: each.network }),
          })),
          ...(asset === undefined ? [{ value: keyOf(payment), label: t('As the sentence says') }] : []),
        ]}
        value={keyOf(payment)}
        allowDeselect={false}
        onChange={(key) => {
          const chosen = offered.find((each) => keyOf(each) === key);
          if (chosen === undefined || key === keyOf(payment)) return;
          // An amount in another unit is another amount: it is entered again.
          const open = (list: readonly Limit[]) => list.map((each) => ({ ...each, amount: '' }));
          set({
            chainId: chosen.chainId,
            token: chosen.token,
            limits: open(limits),
            fees: chosen.token === null ? [] : fees.length > 0 ? open(fees) : [{ ...limit, by: defaultBy }],
          });
        }}
      />
      <ReceiversField
        value={payment.receivers}
        tried={tried}
        onChange={(receivers) => {
          set({ receivers });
        }}
      />
      {limits.map((each, index) => (
        <LimitField
          key={`${keyOf(payment)} ${String(index)} ${String(limits.length)}`}
          label={t('Up to')}
          value={each}
          payment={payment}
          asset={asset}
          tried={tried}
          onChange={(value) => {
            set({ limits: changed(limits, index, value) });
          }}
          onRemove={() => {
            set({ limits: changed(limits, index, null) });
          }}
        />
      ))}
      {fees.map((each, index) => (
        <LimitField
          key={`${keyOf(payment)} fee ${String(index)} ${String(fees.length)}`}
          label={t('Fees up to')}
          value={each}
          payment={payment}
          asset={coin}
          tried={tried}
          onChange={(value) => {
            set({ fees: changed(fees, index, value) });
          }}
          onRemove={() => {
            set({ fees: changed(fees, index, null) });
          }}
        />
      ))}
      <Group gap="xs">
        <Add
          label={t('Limit')}
          onAdd={() => {
            set({
              limits: [
                ...limits,
                limits.length === 0 ? { ...limit, by: defaultBy } : { amount: '', window: null, by: [] },
              ],
            });
          }}
        />
        {payment.token !== null && (
          <Add
            label={t('Limit of fees')}
            onAdd={() => {
              set({ fees: [...fees, { ...limit, by: defaultBy }] });
            }}
          />
        )}
      </Group>
      {above !== undefined && limits.length > 0 && (
        <>
          <Checkbox
            label={t('Above the limit, others must agree')}
            description={t('Creates a second policy.')}
            checked={above !== null}
            onChange={(event) => {
              onAbove(event.currentTarget.checked ? { count: 1, of: noUsers } : null);
            }}
          />
          {above !== null && (
            <PeopleField
              label={t('Above the limit')}
              value={above}
              names={names}
              tried={tried}
              onChange={onAbove}
            />
          )}
        </>
      )}
    </>
  );
}

/** Fields of the form that a policy is built with. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ActionIcon, MultiSelect, NumberInput, Select, Text, Textarea, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import {
  alikeAddresses,
  anyone,
  decimalOf,
  grouped,
  holderChoice,
  holderNames,
  noUsers,
  unitsOf,
  windowLabel,
  windows,
  wrongAddresses,
} from './policy-building.ts';
import type { Asset } from './policy-building.ts';
import type { KnownNames } from '../policy-names.tsx';
import { NamedAddress } from '../../addresses/named-address.tsx';
import { sameAddress } from '../../../../main/lib/text/look-alikes.ts';
import { Grouped } from '../../../ui/identifier.tsx';
import type { Named } from '../../../ui/text/names.ts';
import { shorten } from '../../../ui/text/short.ts';
import { visibleName } from '../../../../main/lib/text/visible-text.ts';
import type {
  Agreement,
  BudgetHolder,
  Keys,
  Limit,
  Payment,
  People,
} from '../../../../main/lib/policies/policy-form.ts';
import { t } from '../../../app/i18n/text.ts';
import { useApiQuery } from '../../../app/rpc/vault.tsx';

const options = (named: readonly Named[]) => named.map(({ id, label }) => ({ value: id, label }));
/** Ids that are not known any longer stay chosen. */
const withUnknown = (named: readonly Named[], ids: readonly string[]) => [
  ...options(named),
  ...ids
    .filter((id) => id !== '' && named.every((each) => each.id !== id))
    .map((id) => ({ value: id, label: t('unknown, …{{end}}', { end: id.slice(-4) }) })),
];

interface IdsProps {
  readonly label: string;
  readonly ids: readonly string[];
  readonly named: readonly Named[];
  readonly error: string | undefined;
  readonly onChange: (ids: readonly string[]) => void;
}

function IdsField({ label, ids, named, error, onChange }: IdsProps): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <MultiSelect
      label={label}
      data={withUnknown(named, ids)}
      value={[...ids]}
      onChange={(chosen) => {
        onChange(chosen);
        setOpen(false);
      }}
      searchable
      // A list that scrolls would take the focus at the Tab key, so it is open only while a name is picked.
      openOnFocus={false}
      dropdownOpened={open}
      onDropdownOpen={() => {
        setOpen(true);
      }}
      onDropdownClose={() => {
        setOpen(false);
      }}
      onKeyDown={({ key }) => {
        if (key === 'Tab') setOpen(false);
      }}
      error={ids.length === 0 && error}
      placeholder={ids.length === 0 ? t('Choose') : undefined}
      comboboxProps={{ transitionProps: { duration: 0 } }}
      nothingFoundMessage={t('Nothing found')}
    />
  );
}

interface PeopleProps {
  readonly label: string;
  readonly value: Agreement;
  readonly names: KnownNames;
  /** True if a user who tries to save sees what is missing. */
  readonly tried: boolean;
  readonly onChange: (value: Agreement) => void;
}

export function PeopleField({ label, value: { count, of }, names, tried, onChange }: PeopleProps): ReactNode {
  const error = tried ? t('Choose the users or a tag.') : undefined;
  const kinds = [
    { value: 'users', label: t('Users') },
    { value: 'tag', label: t('Users with a tag') },
    { value: 'anyone', label: t('Any user') },
  ];
  return (
    <div className="kh-line">
      <Select
        label={label}
        data={kinds}
        value={of.kind}
        allowDeselect={false}
        onChange={(kind) => {
          if (kind === of.kind) return;
          onChange(
            kind === 'anyone' ? anyone : { count: 1, of: kind === 'tag' ? { kind: 'tag', id: '' } : noUsers },
          );
        }}
      />
      <div>
        {of.kind === 'users' && (
          <IdsField
            label={t('{{label}}: users', { label })}
            ids={of.ids}
            named={names.user}
            error={error}
            onChange={(ids) => {
              onChange({ count, of: { kind: 'users', ids } });
            }}
          />
        )}
        {of.kind === 'tag' && (
          <Select
            label={t('{{label}}: tag', { label })}
            data={withUnknown(names.userTag, [of.id])}
            value={of.id === '' ? null : of.id}
            error={of.id === '' && error}
            onChange={(id) => {
              onChange({ count, of: { kind: 'tag', id: id ?? '' } });
            }}
          />
        )}
        {(of.kind !== 'users' || of.ids.length > 1 || count > 1) && (
          <NumberInput
            label={t('How many of them')}
            min={1}
            max={100}
            allowDecimal={false}
            clampBehavior="strict"
            value={count}
            onChange={(number) => {
              onChange({ count: typeof number === 'number' && number >= 1 ? number : 1, of });
            }}
          />
        )}
      </div>
    </div>
  );
}

/** The users whose requests a policy is about. */
export function RequestersField({
  value,
  onChange,
  ...props
}: Omit<PeopleProps, 'value' | 'onChange'> & {
  readonly value: People | null;
  readonly onChange: (value: People | null) => void;
}): ReactNode {
  return (
    <PeopleField
      {...props}
      value={value === null ? anyone : { count: 1, of: value }}
      onChange={({ of }) => {
        onChange(of.kind === 'anyone' ? null : of);
      }}
    />
  );
}

export function KeysField({
  value,
  names,
  tried,
  onChange,
}: {
  readonly value: Keys;
  readonly names: KnownNames;
  readonly tried: boolean;
  readonly onChange: (value: Keys) => void;
}): ReactNode {
  const error = tried ? t('Choose the wallets or keys.') : undefined;
  return (
    <div className="kh-line">
      <Select
        label={t('With')}
        data={[
          { value: 'wallets', label: t('Wallets') },
          { value: 'privateKeys', label: t('Private keys') },
          { value: 'privateKeyTag', label: t('Private keys with a tag') },
          { value: 'any', label: t('Any wallet or key') },
        ]}
        value={value.kind}
        allowDeselect={false}
        onChange={(kind) => {
          if (kind === value.kind) return;
          if (kind === 'any') onChange({ kind });
          else if (kind === 'privateKeyTag') onChange({ kind, id: '' });
          else onChange({ kind: kind === 'wallets' ? 'wallets' : 'privateKeys', ids: [] });
        }}
      />
      {(value.kind === 'wallets' || value.kind === 'privateKeys') && (
        <IdsField
          label={value.kind === 'wallets' ? t('Names of wallets') : t('Names of keys')}
          ids={value.ids}
          named={value.kind === 'wallets' ? names.wallet : names.key}
          error={error}
          onChange={(ids) => {
            onChange({ ...value, ids });
          }}
        />
      )}
      {value.kind === 'privateKeyTag' && (
        <Select
          label={t('Tag of keys')}
          data={withUnknown(names.keyTag, [value.id])}
          value={value.id === '' ? null : value.id}
          error={value.id === '' && error}
          onChange={(id) => {
            onChange({ kind: 'privateKeyTag', id: id ?? '' });
          }}
        />
      )}
    </div>
  );
}

export function ReceiversField({
  value,
  tried,
  onChange,
}: {
  readonly value: readonly string[] | null;
  readonly tried: boolean;
  readonly onChange: (value: readonly string[] | null) => void;
}): ReactNode {
  const [text, setText] = useState((value ?? []).join('\n'));
  const list = value ?? [];
  const known = (useApiQuery('list_known_addresses').data?.knownAddresses ?? []).filter(
    ({ address }) => wrongAddresses([address]).length === 0,
  );
  const left = known.filter(({ address }) => !list.some((each) => sameAddress(each, address)));
  const type = (next: string) => {
    setText(next);
    onChange(linesOf(next));
  };
  const wrong = wrongAddresses(list);
  const alike = alikeAddresses(list);
  const problem =
    wrong.length > 0
      ? t('No address: {{text}}. An address has 0x and 40 hexadecimal digits.', { text: wrong[0] ?? '' })
      : tried && list.length === 0
        ? t('Enter the receivers.')
        : undefined;
  return (
    <div className="kh-line">
      <Select
        label={t('To')}
        data={[
          { value: 'listed', label: t('Listed addresses') },
          { value: 'any', label: t('Any address') },
        ]}
        value={value === null ? 'any' : 'listed'}
        allowDeselect={false}
        onChange={(kind) => {
          onChange(kind === 'any' ? null : linesOf(text));
        }}
      />
      {value !== null && (
        <div>
          <Textarea
            label={t('Addresses')}
            description={t('One per line.')}
            autosize
            minRows={2}
            spellCheck={false}
            value={text}
            error={problem}
            className="kh-addresses"
            onChange={(event) => {
              type(event.currentTarget.value);
            }}
          />
          {left.length > 0 && (
            <AddressBookSelect
              known={left}
              onChoose={(address) => {
                type([...list, address].join('\n'));
              }}
            />
          )}
          {known.length > left.length && (
            <ul className="kh-receivers" aria-label={t('Names of receivers')}>
              {list.map((address) => (
                <li key={address}>
                  <NamedAddress address={address} />
                </li>
              ))}
            </ul>
          )}
          {alike.length > 0 && (
            <Text size="sm" role="alert">
              {t('These addresses begin and end alike. Compare them:')}
              {alike.map((address) => (
                <span key={address} style={{ display: 'block' }}>
                  <Grouped text={address} />
                </span>
              ))}
            </Text>
          )}
        </div>
      )}
    </div>
  );
}

/** Options that are shown at once. Typing finds the others: an address book may have 1,000. */
const mostShown = 50;

/** Adds an address of the address book, found by its name or by how the address begins. */
function AddressBookSelect({
  known,
  onChoose,
}: {
  readonly known: readonly { readonly address: string; readonly name: string }[];
  readonly onChoose: (address: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLowerCase();
  const fitting = known.filter(
    ({ address, name }) =>
      name.toLowerCase().includes(wanted) ||
      address.toLowerCase().startsWith(wanted.replace(/^(?!0x)/, '0x')),
  );
  return (
    <Select
      label={t('Add from the address book')}
      description={
        fitting.length > mostShown
          ? t('Showing the first {{count}}. Type part of a name or address.', {
              count: mostShown,
            })
          : undefined
      }
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage={t('Nothing found')}
      // They fit already.
      filter={({ options }) => options}
      data={fitting.slice(0, mostShown).map(({ address, name }) => ({
        value: address,
        label: `${visibleName(name)} · ${shorten(address)}`,
      }))}
      value={null}
      placeholder={t('Choose')}
      mt="xs"
      onChange={(address) => {
        if (address === null) return;
        onChoose(address);
        setTyped('');
      }}
    />
  );
}

const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** Holders of a budget, alone or together. */
const heldBy: readonly (readonly BudgetHolder[])[] = [...holderNames.map((holder) => [holder]), []];

export function LimitField({
  label,
  value,
  payment,
  asset,
  tried,
  onChange,
  onRemove,
}: {
  readonly label: string;
  readonly value: Limit;
  readonly payment: Payment;
  readonly asset: Asset | undefined;
  readonly tried: boolean;
  readonly onChange: (value: Limit) => void;
  readonly onRemove: () => void;
}): ReactNode {
  const decimals = asset?.decimals ?? 0;
  const [text, setText] = useState(value.amount === '' ? '' : decimalOf(value.amount, decimals));
  const symbol = asset?.symbol ?? t('smallest units');
  const by = JSON.stringify(value.by);
  const holders = [...heldBy, ...(heldBy.some((each) => JSON.stringify(each) === by) ? [] : [value.by])];
  return (
    <div className="kh-line">
      <TextInput
        label={t('{{label}} ({{symbol}})', { label, symbol })}
        description={
          value.amount === ''
            ? undefined
            : t('= {{units}} {{unit}}', {
                units: grouped(value.amount),
                unit: asset?.token === null ? 'wei' : t('smallest units'),
              })
        }
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        inputMode="decimal"
        value={text}
        error={
          value.amount === '' &&
          (text.trim() === ''
            ? tried && t('Enter the limit.')
            : t('Enter a number above 0 with at most {{number}} decimals and a point.', {
                number: String(decimals),
              }))
        }
        onChange={(event) => {
          setText(event.currentTarget.value);
          onChange({ ...value, amount: unitsOf(event.currentTarget.value, decimals) ?? '' });
        }}
      />
      <div className="kh-limit">
        <Select
          label={t('Per')}
          data={[
            { value: '', label: t('for each payment') },
            ...[...new Set([...Object.keys(windows), ...(value.window === null ? [] : [value.window])])].map(
              (window) => ({ value: window, label: windowLabel(window) }),
            ),
          ]}
          value={value.window ?? ''}
          allowDeselect={false}
          onChange={(window) => {
            onChange({
              ...value,
              window: window === '' ? null : window,
              by: window === '' ? [] : value.window === null ? ['wallet'] : value.by,
            });
          }}
        />
        {value.window !== null && (
          <Select
            label={t('Counted for')}
            data={holders.map((each) => ({
              value: JSON.stringify(each),
              label:
                each.length === 0
                  ? t('all together')
                  : each.map((holder) => holderChoice(holder, payment)).join(' '),
            }))}
            value={by}
            allowDeselect={false}
            onChange={(chosen) => {
              onChange({ ...value, by: JSON.parse(chosen ?? '[]') as readonly BudgetHolder[] });
            }}
          />
        )}
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={t('Remove: {{label}}', { label })}
          onClick={onRemove}
        >
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </div>
    </div>
  );
}

/** Names of users, tags, wallets and keys in place of their ids. */
import type { ReactNode } from 'react';
import { mark, visibleText } from '../../../main/lib/text/visible-text.ts';
import { labelled } from '../../ui/text/names.ts';
import type { Named } from '../../ui/text/names.ts';
import { useKnownIds } from './policy-queries.ts';
import { locale } from '../../app/i18n/language.ts';
import { t } from '../../app/i18n/text.ts';
import '../../ui/identifier.css';
import '../../ui/text/exact.css';

export type NameKind = 'user' | 'userTag' | 'wallet' | 'key' | 'keyTag';

export type KnownNames = Readonly<Record<NameKind, readonly Named[]>>;

export function useKnownNames(): KnownNames {
  const ids = useKnownIds();
  return {
    user: labelled(ids['User.id'] ?? []),
    userTag: labelled(ids['User.tags'] ?? []),
    wallet: labelled(ids['Wallet.id'] ?? []),
    key: labelled(ids['PrivateKey.id'] ?? []),
    keyTag: labelled(ids['PrivateKey.tags'] ?? []),
  };
}

/** A name as a pill. An id without a name is shown by its end. */
export function NamePill({
  kind,
  id,
  names,
}: {
  readonly kind: NameKind;
  readonly id: string;
  readonly names: KnownNames;
}): ReactNode {
  const known = names[kind].find((each) => each.id === id);
  return (
    <span className="kh-policy-name" data-known={known !== undefined}>
      {known?.label ?? t('unknown, …{{end}}', { end: id.slice(-4) })}
    </span>
  );
}

const lists = {
  and: new Intl.ListFormat(locale, { type: 'conjunction' }),
  or: new Intl.ListFormat(locale, { type: 'disjunction' }),
};

/** `A, B, and C` of elements. */
export function listed(items: readonly ReactNode[], how: keyof typeof lists): ReactNode {
  return lists[how]
    .formatToParts(items.map((_, index) => String(index)))
    .map(({ type, value }, index) => (
      <span key={index}>{type === 'element' ? items[Number(value)] : value}</span>
    ));
}

/** One group, so that a split keeps the ids at its odd places. */
const uuid = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/g;

/** True for an expression that a person reads better with names. */
export const hasIds = (text: string): boolean => text.search(uuid) !== -1;

/** A part of the policy language, in its order and with all of its characters. */
export function Code({ text }: { readonly text: string }): ReactNode {
  return <span className="kh-mono kh-in-order">{visibleCode(text)}</span>;
}

const visibleCode = (text: string): string => visibleText(text).replaceAll('\n', mark);

/** The parts of an expression: texts, and ids with the pills that say their names. */
export function partsOf(
  text: string,
  names: KnownNames,
): readonly { readonly text: string; readonly pill?: ReactNode }[] {
  const kinds = Object.keys(names) as readonly NameKind[];
  return text.split(uuid).map((part, index) => {
    if (index % 2 === 0) return { text: part };
    const kind = kinds.find((each) => names[each].some(({ id }) => id === part)) ?? 'user';
    return { text: part, pill: <NamePill kind={kind} id={part} names={names} /> };
  });
}

/** An expression with names in place of the ids in it, for reading. */
export function NamedText({ text, names }: { readonly text: string; readonly names: KnownNames }): ReactNode {
  return (
    <span className="kh-mono kh-in-order">
      {partsOf(text, names).map(({ text: part, pill }, index) => (
        <span key={index}>{pill ?? visibleCode(part)}</span>
      ))}
    </span>
  );
}

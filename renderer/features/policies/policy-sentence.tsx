/** A policy as a sentence. It is made of the form that the service read from the policy's expressions. */
import type { ReactNode } from 'react';
import { Grouped } from '../../ui/identifier.tsx';
import {
  assetOf,
  decimalOf,
  deedChoices,
  deedOf,
  grouped,
  groupsOf,
  holderLabel,
  mayBeSeveral,
  windowLabel,
} from './builder/policy-building.ts';
import type { Asset } from './builder/policy-building.ts';
import { listed, NamePill } from './policy-names.tsx';
import type { KnownNames } from './policy-names.tsx';
import type {
  Agreement,
  Limit,
  Payment,
  People,
  PolicyForm,
} from '../../../main/lib/policies/policy-form.ts';
import { NamedAddress } from '../addresses/named-address.tsx';
import { allOf, t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import './builder/policy-builder.css';

interface Props {
  readonly form: PolicyForm;
  readonly names: KnownNames;
  readonly assets: readonly Asset[];
}

export function PolicySentence(props: Props): ReactNode {
  const { form } = props;
  const parts = {
    who: (
      <span>
        <Who {...props} />
      </span>
    ),
    what: (
      <span>
        <What {...props} />
      </span>
    ),
  };
  return (
    <span className="kh-sentence">
      {form.effect === 'EFFECT_ALLOW' ? (
        <Trans i18nKey="Lets <who/> <what/>." components={parts} />
      ) : (
        <Trans i18nKey="Doesn’t let <who/> <what/>. The root quorum still may." components={parts} />
      )}
      {limitsOf(props).map((line, index) => (
        <span key={index}> {line}</span>
      ))}
    </span>
  );
}

function Who({ form, names }: Props): ReactNode {
  const { effect, requesters } = form;
  if (requesters !== null) {
    const of = <OfPeople people={requesters} names={names} />;
    const [, ...others] = groupsOf(form);
    if (others.length === 0) return of;
    const with_ = listed(
      others.map((each, index) => <Agreeing key={index} agreement={each} names={names} />),
      'and',
    );
    return (
      <Trans
        i18nKey="<who/>, when approved by <others/>,"
        components={{ who: <span>{of}</span>, others: <span>{with_}</span> }}
      />
    );
  }
  const needed = groupsOf(form);
  if (needed.length === 0) return effect === 'EFFECT_ALLOW' ? t('any user') : t('any other user');
  const all = listed(
    needed.map((each, index) => <Agreeing key={index} agreement={each} names={names} />),
    'and',
  );
  if (needed.length === 1) return all;
  return <Trans i18nKey="<who/> together" components={{ who: <span>{all}</span> }} />;
}

function Agreeing({
  agreement: { count, of },
  names,
}: {
  readonly agreement: Agreement;
  readonly names: KnownNames;
}): ReactNode {
  if (of.kind === 'anyone') return t('any {{number}} users', { number: String(count) });
  const people = <OfPeople people={of} names={names} />;
  if (count === 1) return people;
  return (
    <Trans
      i18nKey="{{number}} of (<people/>)"
      values={{ number: String(count) }}
      components={{ people: <span>{people}</span> }}
    />
  );
}

function OfPeople({ people, names }: { readonly people: People; readonly names: KnownNames }): ReactNode {
  if (people.kind === 'tag') {
    return (
      <Trans
        i18nKey="users with the tag <name/>"
        components={{ name: <NamePill kind="userTag" id={people.id} names={names} /> }}
      />
    );
  }
  return listed(
    people.ids.map((id) => <NamePill key={id} kind="user" id={id} names={names} />),
    'or',
  );
}

function What(props: Props): ReactNode {
  const { form, names } = props;
  const { keys, payment } = form;
  return (
    <>
      {payment === null ? <Doing {...props} /> : <Paying {...props} payment={payment} />}
      {keys.kind !== 'any' && (
        <>
          {' '}
          <Trans
            i18nKey="with <keys/>"
            components={{
              keys: (
                <span>
                  {keys.kind === 'privateKeyTag' ? (
                    <Trans
                      i18nKey="private keys with the tag <name/>"
                      components={{ name: <NamePill kind="keyTag" id={keys.id} names={names} /> }}
                    />
                  ) : (
                    listed(
                      keys.ids.map((id) => (
                        <NamePill
                          key={id}
                          kind={keys.kind === 'wallets' ? 'wallet' : 'key'}
                          id={id}
                          names={names}
                        />
                      )),
                      'or',
                    )
                  )}
                </span>
              ),
            }}
          />
        </>
      )}
    </>
  );
}

/** Other deeds are named as the language names them. */
function Doing({ form }: Props): ReactNode {
  const { deeds } = form;
  const known = deedChoices.find(({ id }) => id === deedOf(form));
  if (known?.id === 'everything') {
    // A person who is not let do everything may do some of it.
    return form.effect === 'EFFECT_ALLOW' ? t('do everything') : t('do anything');
  }
  if (known !== undefined) return known.label.charAt(0).toLowerCase() + known.label.slice(1);
  const said = [
    deeds.actions !== null && t('actions: {{list}}', { list: allOf(deeds.actions) }),
    deeds.resources !== null && t('on: {{list}}', { list: allOf(deeds.resources) }),
    deeds.kinds !== null && t('activities: {{list}}', { list: allOf(deeds.kinds) }),
    deeds.untagged && t('for new users without tags'),
  ].filter((each) => each !== false);
  return t('do this ({{what}})', { what: said.join('; ') });
}

function Paying({ assets, payment }: Props & { readonly payment: Payment }): ReactNode {
  const asset = assetOf(assets, payment);
  const { chainId, token, receivers } = payment;
  const coin = assetOf(assets, { chainId, token: null });
  const network = coin?.network ?? t('chain {{chainId}}', { chainId });
  return (
    <>
      {asset === undefined && token !== null ? (
        <Trans
          i18nKey="send the token <address/> on {{network}}"
          values={{ network }}
          components={{ address: <Grouped text={token} /> }}
        />
      ) : (
        t('send {{symbol}} on {{network}}', { symbol: asset?.symbol ?? t('coins'), network })
      )}{' '}
      {receivers === null ? (
        t('to any address')
      ) : (
        <Trans
          i18nKey="only to <receivers/>"
          components={{
            receivers: (
              <span>
                {listed(
                  receivers.map((each) => <NamedAddress key={each} address={each} />),
                  'or',
                )}
              </span>
            ),
          }}
        />
      )}
    </>
  );
}

function limitsOf({ form, assets }: Props): readonly ReactNode[] {
  const { payment, signatures, hours, effect } = form;
  const lines: ReactNode[] = [];
  if (mayBeSeveral(form)) lines.push(t('One person may count for several of these, also the one who asks.'));
  if (payment !== null) {
    const asset = assetOf(assets, payment);
    const coin = assetOf(assets, { ...payment, token: null });
    if (payment.limits.length === 0) lines.push(t('The amount is not limited.'));
    for (const limit of payment.limits) {
      const most = limitText(limit, asset, payment);
      lines.push(
        payment.token === null
          ? t('At most {{most}}, fees included.', { most })
          : t('At most {{most}}.', { most }),
      );
    }
    if (payment.token !== null && payment.fees.length === 0) lines.push(t('Fees are not limited.'));
    for (const limit of payment.fees)
      lines.push(t('Fees: at most {{most}}.', { most: limitText(limit, coin, payment) }));
  }
  if (signatures !== null) {
    const { count, window, by } = signatures;
    const values = { number: grouped(count), when: whenText(window, by, payment) };
    lines.push(
      effect === 'EFFECT_ALLOW'
        ? t('At most {{number}} signatures {{when}}.', values)
        : t('This applies above {{number}} signatures {{when}}.', values),
    );
  }
  if (hours !== null) {
    const { days, hour, minute, length, zone } = hours;
    lines.push(
      t('In force {{days}} from {{start}} for {{length}} ({{zone}}).', {
        days: dayText(days),
        start: `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`,
        length,
        zone,
      }),
    );
  }
  return lines;
}

const whenText = (window: string, by: Limit['by'], payment: Payment | null): string =>
  [windowLabel(window), ...by.map((holder) => holderLabel(holder, payment))].join(' ') +
  (by.length === 0 ? ` ${t('altogether')}` : '');

/** An amount with its unit, and the smallest unit beside. */
export function amountText(amount: string, asset: Asset | undefined): string {
  if (asset === undefined) return t('{{units}} smallest units', { units: grouped(amount) });
  const { decimals, symbol } = asset;
  return t('{{amount}} {{symbol}} ({{units}} {{unit}})', {
    amount: decimalOf(amount, decimals),
    symbol,
    units: grouped(amount),
    unit: asset.token === null ? 'wei' : t('smallest units'),
  });
}

const limitText = ({ amount, window, by }: Limit, asset: Asset | undefined, payment: Payment): string =>
  `${amountText(amount, asset)} ${window === null ? t('for each payment') : whenText(window, by, payment)}`;

export const dayChoices: Readonly<Record<string, string>> = {
  '*': t('every day'),
  '1-5': t('Monday to Friday'),
  '0,6': t('Saturday and Sunday'),
};

const dayText = (days: string): string => dayChoices[days] ?? t('on days {{days}} of the week', { days });

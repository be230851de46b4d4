import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { hasText, SearchedList } from '../../ui/lists/searched-list.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import type { Asset } from './builder/policy-building.ts';
import { NamedText, useKnownNames } from './policy-names.tsx';
import type { KnownNames } from './policy-names.tsx';
import { expressionsOf, useLanguage, usePolicyChecks } from './policy-queries.ts';
import type { Policy, PolicyCheck } from './policy-queries.ts';
import { PolicySentence } from './policy-sentence.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import '../../ui/rows.css';
import './policy-editor.css';

/** Up to here each says all that it does. More are rows of one height, with the beginning of it. */
const mostInFull = 50;

interface Listed {
  readonly policy: Policy;
  /** Among all of them, by which its check is found. */
  readonly index: number;
}

function isFound({ policy }: Listed, text: string): boolean {
  const { condition, consensus, time } = expressionsOf(policy);
  return hasText([policy.policyName, policy.policyId, policy.notes, condition, consensus, time], text);
}

/** Policies by name. */
export function PolicyList({ policies }: { readonly policies: readonly Policy[] }): ReactNode {
  const checks = usePolicyChecks(
    policies.map((policy) => ({ ...expressionsOf(policy), policyId: policy.policyId })),
  );
  const names = useKnownNames();
  const assets = useLanguage()?.assets ?? [];
  const items = useMemo(() => policies.map((policy, index) => ({ policy, index })), [policies]);
  const row = ({ policy, index }: Listed, isShort: boolean): ReactNode => (
    <Row of={policy} check={checks.data?.[index]} names={names} assets={assets} isShort={isShort} />
  );
  return (
    <SearchedList
      items={items}
      idOf={({ policy }) => policy.policyId}
      label={t('Policies')}
      placeholder={t('Name, expression, note or ID')}
      isFound={isFound}
      counted={(count) => t('{{count}} policies', { count })}
      nothingFound={{
        title: t('No matching policy'),
        text: t('No policy has this in its name, expressions, notes or ID.'),
      }}
      height={{ wide: 6.25, narrow: 9 }}
      row={(listed) => row(listed, true)}
      inFull={{ most: mostInFull, row: (listed) => row(listed, false) }}
    />
  );
}

function Row({ of, check, names, assets, isShort }: SaidProps & { readonly isShort: boolean }): ReactNode {
  const isDenial = of.effect === 'EFFECT_DENY';
  const effect = (
    <span className="kh-badge" data-tone={isDenial ? 'denied' : undefined}>
      {isDenial ? t('Denies') : t('Allows')}
    </span>
  );
  return (
    <a href={`#/policies/${of.policyId}`} className="kh-row">
      <span style={{ minWidth: 0 }}>
        <span className={isShort ? 'kh-clamp' : undefined}>
          {/* A long name is cut off, and must not take along what the policy does. */}
          {isShort && effect} <span className="kh-row-name">{visibleName(of.policyName)}</span>{' '}
          {!isShort && effect}
        </span>
        <span className={isShort ? 'kh-row-more kh-policy-short' : 'kh-row-more'}>
          <Said of={of} check={check} names={names} assets={assets} />
        </span>
      </span>
      <span className="kh-row-side">
        <Trans i18nKey="Updated <moment/>" components={{ moment: <RelativeTime at={of.updatedAt} /> }} />
      </span>
    </a>
  );
}

interface SaidProps {
  readonly of: Policy;
  readonly check: PolicyCheck | undefined;
  readonly names: KnownNames;
  readonly assets: readonly Asset[];
}

/** A policy as a sentence; where no form says all of it, all of its text with names for ids. */
function Said({ of, check, names, assets }: SaidProps): ReactNode {
  if (check?.form !== undefined) return <PolicySentence form={check.form} names={names} assets={assets} />;
  const { condition, consensus, time } = expressionsOf(of);
  const others = { [t('Consensus')]: consensus, [t('Time')]: time };
  return (
    <>
      <span className="kh-excerpt">
        <NamedText text={condition.trim() === '' ? t('everything') : condition} names={names} />
      </span>
      {Object.entries(others).map(
        ([label, text]) =>
          text.trim() !== '' && (
            <span key={label}>
              {' '}
              {label}:{' '}
              <span className="kh-excerpt">
                <NamedText text={text} names={names} />
              </span>
            </span>
          ),
      )}
    </>
  );
}

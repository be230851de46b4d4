import { useDeferredValue, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ListSearch } from '../../ui/list-search.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import { Panel } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Empty } from '../../ui/feedback.tsx';
import type { Asset } from './policy-building.ts';
import { NamedText, useKnownNames } from './policy-names.tsx';
import type { KnownNames } from './policy-names.tsx';
import { expressionsOf, useLanguage, usePolicyChecks } from './policy-queries.ts';
import type { Policy, PolicyCheck } from './policy-queries.ts';
import { PolicySentence } from './policy-sentence.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import '../../ui/rows.css';
import './policy-editor.css';

/** Up to here one sees all of them at a glance. */
const fewPolicies = 8;

/** Up to here each says all that it does. More are rows of one height, with the beginning of it. */
const mostInFull = 50;

const nothing = (): void => undefined;

/** Policies by name. The service gives all of them at once; of many, what is in sight is laid out. */
export function PolicyList({ policies }: { readonly policies: readonly Policy[] }): ReactNode {
  const checks = usePolicyChecks(
    policies.map((policy) => ({ ...expressionsOf(policy), policyId: policy.policyId })),
  );
  const names = useKnownNames();
  const assets = useLanguage()?.assets ?? [];
  const [typed, setTyped] = useState('');
  const text = useDeferredValue(typed).trim().toLowerCase();
  const found = useMemo(
    () =>
      policies
        .map((policy, index) => ({ policy, index }))
        .filter(({ policy }) => textsOf(policy).some((each) => each.toLowerCase().includes(text))),
    [policies, text],
  );
  const row = (at: number, isShort: boolean): ReactNode => {
    const each = found[at];
    if (each === undefined) return null;
    return (
      <Row
        of={each.policy}
        check={checks.data?.[each.index]}
        names={names}
        assets={assets}
        isShort={isShort}
      />
    );
  };
  return (
    <>
      {policies.length > fewPolicies && (
        <>
          <ListSearch
            label={t('Policies')}
            placeholder={t('Name, expression, note or ID')}
            typed={typed}
            onType={setTyped}
          />
          <div className="kh-list-foot">
            <span role="status">{t('{{count}} policies', { count: found.length })}</span>
          </div>
        </>
      )}
      <Panel kind="plain">
        {found.length === 0 && (
          <Empty
            title={t('No matching policy')}
            action={
              <Button
                variant="default"
                onClick={() => {
                  setTyped('');
                }}
              >
                {t('Show all')}
              </Button>
            }
          >
            <p>{t('No policy has this in its name, expressions, notes or ID.')}</p>
          </Empty>
        )}
        {found.length > mostInFull && (
          <LongRows
            key={text}
            count={found.length}
            label={t('Policies')}
            height={{ wide: 6.25, narrow: 9 }}
            isComplete
            onShow={nothing}
            row={(at) => row(at, true)}
          />
        )}
        {found.length > 0 && found.length <= mostInFull && (
          <ul className="kh-rows" aria-label={t('Policies')}>
            {found.map(({ policy }, at) => (
              <li key={policy.policyId}>{row(at, false)}</li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

/** The searchable texts of a policy. */
const textsOf = (policy: Policy): readonly string[] => {
  const { condition, consensus, time } = expressionsOf(policy);
  return [policy.policyName, policy.policyId, policy.notes, condition, consensus, time];
};

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

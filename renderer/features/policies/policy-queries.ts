/** Policies as the window knows them, and what the service says of drafts of them. */

import { useMutation } from '@tanstack/react-query';
import type { UseMutationResult } from '@tanstack/react-query';
import type { KnownIds, PolicyField, PolicyLanguage } from './policy-completion.ts';
import type { PrivateKey, Tag, User, Wallet } from './resources.ts';
import { allOf, t } from './text.ts';
import type { Timestamp } from './time.ts';
import { ask, useAsk, useBridge } from './vault.tsx';

export type Effect = 'EFFECT_ALLOW' | 'EFFECT_DENY';

export interface Policy {
  readonly policyId: string;
  readonly policyName: string;
  readonly effect: Effect;
  readonly condition: string;
  readonly consensus: string;
  readonly time?: string;
  readonly notes: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** What is written in the form of a policy. */
export interface Draft {
  readonly policyName: string;
  readonly effect: Effect;
  readonly condition: string;
  readonly consensus: string;
  readonly time: string;
  readonly notes: string;
}

export const emptyDraft: Draft = {
  policyName: '',
  effect: 'EFFECT_ALLOW',
  condition: '',
  consensus: '',
  time: '',
  notes: '',
};

export interface PolicyProblem {
  readonly field: PolicyField;
  readonly message: string;
  readonly from: number;
  readonly to: number;
}

export interface PolicyWarning {
  readonly field?: PolicyField;
  readonly message: string;
  readonly from?: number;
  readonly to?: number;
}

export interface PolicyCheck {
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyWarning[];
}

export type Outcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_REQUIRES_CONSENSUS'
  | 'OUTCOME_DENY_EXPLICIT'
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_ERROR'
  | 'OUTCOME_TIME_INACTIVE';

export interface Decision {
  readonly outcome: Outcome;
  readonly decidedBy:
    'DECIDER_ROOT_QUORUM' | 'DECIDER_POLICIES' | 'DECIDER_OWN_CREDENTIALS' | 'DECIDER_NOTHING';
  readonly policyIds: readonly string[];
}

interface Rule {
  readonly policyId: string;
  readonly policyName: string;
  readonly effect: Effect;
  readonly draft: boolean;
}

export interface TestedActivity {
  readonly activityId: string;
  readonly type: string;
  readonly createdAt: Timestamp;
  readonly before: Decision;
  readonly after: Decision;
  readonly changed: boolean;
}

export interface PolicyTest {
  readonly tested: number;
  readonly newlyAllowed: number;
  readonly newlyDenied: number;
  readonly newlyWaiting: number;
  readonly activities: readonly TestedActivity[];
  readonly policies: readonly (Rule & {
    readonly held: number;
    readonly decided: number;
    readonly clauses: readonly {
      readonly text: string;
      readonly from: number;
      readonly held: number;
      readonly failed: number;
      readonly faults: number;
    }[];
  })[];
}

export interface Explanation extends Decision {
  readonly policies: readonly (Rule & {
    readonly outcome?: Outcome;
    readonly broken?: string;
    readonly expressions: readonly {
      readonly field: PolicyField;
      readonly value?: boolean;
      readonly fault?: { readonly message: string };
      readonly parts: readonly {
        readonly from: number;
        readonly to: number;
        readonly text: string;
        readonly values: readonly string[];
        readonly times: number;
      }[];
    }[];
  })[];
}

/** Whom a question leaves out of the root quorum, and how far back it looks. */
export interface TestOptions {
  readonly limit: number;
  readonly withoutRootQuorum: boolean;
}

/** A draft as questions take it; without an id it stands beside the policies in force. */
export const asDraft = ({ policyName, notes: _, ...expressions }: Draft, policyId: string | undefined) => ({
  ...expressions,
  ...(policyId === undefined ? {} : { policyId }),
  ...(policyName.trim() === '' ? {} : { policyName: policyName.trim() }),
});

export function useTest(): UseMutationResult<
  PolicyTest,
  Error,
  { readonly policies: readonly object[] } & TestOptions
> {
  const bridge = useBridge();
  return useMutation({
    mutationFn: async ({ limit, policies, withoutRootQuorum }) =>
      (
        await ask<{ policyTest: PolicyTest }>(bridge, 'test_policies', {
          limit,
          policies,
          withoutRootQuorum,
        })
      ).policyTest,
  });
}

/** Undefined until the service has told it. */
export const useLanguage = (): PolicyLanguage | undefined =>
  useAsk<{ policyLanguage: PolicyLanguage }>('get_policy_language').data?.policyLanguage;

/** What of this vault an expression may name by its id. */
export function useKnownIds(): KnownIds {
  const users = useAsk<{ users: readonly User[] }>('list_users').data?.users ?? [];
  const wallets = useAsk<{ wallets: readonly Wallet[] }>('list_wallets').data?.wallets ?? [];
  const keys = useAsk<{ privateKeys: readonly PrivateKey[] }>('list_private_keys').data?.privateKeys ?? [];
  const userTags = useAsk<{ userTags: readonly Tag[] }>('list_user_tags').data?.userTags ?? [];
  const keyTags =
    useAsk<{ privateKeyTags: readonly Tag[] }>('list_private_key_tags').data?.privateKeyTags ?? [];
  const ofTags = (tags: readonly Tag[]) => tags.map(({ tagId, tagName }) => ({ id: tagId, name: tagName }));
  return {
    'User.id': users.map(({ userId, userName }) => ({ id: userId, name: userName })),
    'User.tags': ofTags(userTags),
    'Credential.user_id': users.map(({ userId, userName }) => ({ id: userId, name: userName })),
    'Wallet.id': wallets.map(({ walletId, walletName }) => ({ id: walletId, name: walletName })),
    'ActivityParams.wallet_id': wallets.map(({ walletId, walletName }) => ({
      id: walletId,
      name: walletName,
    })),
    'PrivateKey.id': keys.map(({ privateKeyId, privateKeyName }) => ({
      id: privateKeyId,
      name: privateKeyName,
    })),
    'PrivateKey.tags': ofTags(keyTags),
  };
}

/** Outcomes of a decision, in words. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome) {
    case 'OUTCOME_ALLOW':
      return t('allowed');
    case 'OUTCOME_REQUIRES_CONSENSUS':
      return t('waits for approvals');
    default:
      return t('denied');
  }
}

/** Outcomes of one policy, in words: what does not apply denies nothing. */
export const policyOutcomes: Readonly<Record<Outcome, string>> = {
  OUTCOME_ALLOW: t('allows it'),
  OUTCOME_REQUIRES_CONSENSUS: t('waits for approvals'),
  OUTCOME_DENY_EXPLICIT: t('denies it'),
  OUTCOME_DENY_IMPLICIT: t('does not apply'),
  OUTCOME_ERROR: t('cannot be evaluated'),
  OUTCOME_TIME_INACTIVE: t('was not in force'),
};

/** A decision and who decided, in a sentence. */
export function describeDecision(
  { outcome, decidedBy, policyIds }: Decision,
  nameOf: (policyId: string) => string,
): string {
  const allowed = outcome === 'OUTCOME_ALLOW';
  const waits = outcome === 'OUTCOME_REQUIRES_CONSENSUS';
  switch (decidedBy) {
    case 'DECIDER_ROOT_QUORUM':
      if (allowed) return t('Allowed by the root quorum.');
      return waits ? t('Waits for approvals by the root quorum.') : t('Denied by the root quorum.');
    case 'DECIDER_OWN_CREDENTIALS':
      return t('Allowed, since it is about the user’s own credentials.');
    case 'DECIDER_NOTHING':
      return t('Denied, since nothing allows it.');
    case 'DECIDER_POLICIES': {
      const policies = allOf(policyIds.map((policyId) => `“${nameOf(policyId)}”`));
      if (allowed) return t('Allowed by {{policies}}.', { policies });
      return waits
        ? t('Waits for approvals, as {{policies}} asks.', { policies })
        : t('Denied by {{policies}}.', { policies });
    }
  }
}

/** In a template, what its user fills in. */
export const blank = '…';

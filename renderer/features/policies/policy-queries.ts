/** Policies as the window knows them, and what the service says of drafts of them. */

import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query';
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type { Answer, QueryParameters } from '../../../main/operations/api.ts';
import type { Draft } from './draft.ts';
import type { CompletionIds } from './policy-completion.ts';
import type { WindowRpc } from '../../../preload/contract.ts';
import type { Tag } from '../../app/rpc/resources.ts';
import { allOf, t } from '../../app/i18n/text.ts';
import { apiQueryKey, queryApi, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';

export type Policy = Answer<'get_policy'>['policy'];

export type PolicyCheck = Answer<'check_policies'>['policyChecks'][number];
export type PolicyProblem = PolicyCheck['problems'][number];
export type PolicyWarning = PolicyCheck['warnings'][number];
export type PolicyTest = Answer<'test_policies'>['policyTest'];
export type TestedActivity = PolicyTest['activities'][number];
export type Explanation = Answer<'explain_policies'>['policyExplanation'];
export type Decision = TestedActivity['before'];

/** Of one policy; that of a decision is one of these. */
export type PolicyOutcome = NonNullable<Explanation['policies'][number]['outcome']>;

/** As questions take drafts. */
export type AskedDraft = NonNullable<QueryParameters<'test_policies'>['policies']>[number];

/** Whom a question leaves out of the root quorum, and how far back it looks. */
export interface TestOptions {
  readonly limit: number;
  readonly withoutRootQuorum: boolean;
}

/** A draft as questions take it; without an id it stands beside the policies in force. */
export const asDraft = (
  { policyName, notes: _, ...expressions }: Draft,
  policyId: string | undefined,
): AskedDraft => ({
  ...expressions,
  ...(policyId === undefined ? {} : { policyId }),
  ...(policyName.trim() === '' ? {} : { policyName: policyName.trim() }),
});

export function useTest(): UseMutationResult<
  PolicyTest,
  Error,
  { readonly policies: readonly AskedDraft[] } & TestOptions
> {
  const rpc = useRpc();
  return useMutation({
    mutationFn: async ({ limit, policies, withoutRootQuorum }) =>
      (
        await queryApi(rpc, 'test_policies', {
          limit,
          policies,
          withoutRootQuorum,
        })
      ).policyTest,
  });
}

type Asked = QueryParameters<'check_policies'>['policies'];

export const checkOf = async (rpc: WindowRpc, policies: Asked): Promise<readonly PolicyCheck[]> =>
  (await queryApi(rpc, 'check_policies', { policies })).policyChecks;

/** The part of a policy that decides. */
export const expressionsOf = ({
  effect,
  condition,
  consensus,
  time,
}: Pick<Policy, 'effect' | 'condition' | 'consensus' | 'time'>): Expressions => ({
  effect,
  condition,
  consensus,
  time: time ?? '',
});
export type Expressions = Pick<Draft, 'effect' | 'condition' | 'consensus' | 'time'>;

/** The checks of drafts. Until they arrive, those of the drafts before are shown, and are marked as placeholders. */
export function usePolicyChecks(policies: Asked | undefined): UseQueryResult<readonly PolicyCheck[]> {
  const rpc = useRpc();
  return useQuery({
    queryKey: [...apiQueryKey('check_policies', { policies }), 'kept'],
    // Without drafts there is nothing to ask.
    queryFn: policies === undefined || policies.length === 0 ? skipToken : () => checkOf(rpc, policies),
    placeholderData: keepPreviousData,
  });
}

/** Undefined until the service has told it. */
export const useLanguage = (): Answer<'get_policy_language'>['policyLanguage'] | undefined =>
  useApiQuery('get_policy_language').data?.policyLanguage;

/** Resources of this vault that an expression may name by id. */
export function useKnownIds(): CompletionIds {
  const users = useApiQuery('list_users').data?.users ?? [];
  const wallets = useApiQuery('list_wallets').data?.wallets ?? [];
  const keys = useApiQuery('list_private_keys').data?.privateKeys ?? [];
  const userTags = useApiQuery('list_user_tags').data?.userTags ?? [];
  const keyTags = useApiQuery('list_private_key_tags').data?.privateKeyTags ?? [];
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
export function describeOutcome(outcome: PolicyOutcome): string {
  switch (outcome) {
    case 'OUTCOME_ALLOW':
      return t('allowed');
    case 'OUTCOME_REQUIRES_CONSENSUS':
      return t('requires approval');
    default:
      return t('denied');
  }
}

/** Outcomes of one policy, in words: what does not apply denies nothing. */
export const policyOutcomes: Readonly<Record<PolicyOutcome, string>> = {
  OUTCOME_ALLOW: t('allows'),
  OUTCOME_REQUIRES_CONSENSUS: t('requires approval'),
  OUTCOME_DENY_EXPLICIT: t('denies'),
  OUTCOME_DENY_IMPLICIT: t('doesn’t apply'),
  OUTCOME_ERROR: t('couldn’t be evaluated'),
  OUTCOME_TIME_INACTIVE: t('not in force'),
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
      return waits ? t('Requires approval by the root quorum.') : t('Denied by the root quorum.');
    case 'DECIDER_OWN_CREDENTIALS':
      return t('Allowed: the user’s own credentials.');
    case 'DECIDER_NOTHING':
      return t('Denied: no policy allows this.');
    case 'DECIDER_POLICIES': {
      const policies = allOf(policyIds.map((policyId) => `“${nameOf(policyId)}”`));
      if (allowed) return t('Allowed by {{policies}}.', { policies });
      return waits
        ? t('Requires approval: {{policies}}.', { policies })
        : t('Denied by {{policies}}.', { policies });
    }
  }
}

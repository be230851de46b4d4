/** Sub-organizations as the window sees them: as their parent's owner, who reads them. */

import { useInfiniteQuery } from '@tanstack/react-query';
import type { Answer } from '../../../main/operations/api.ts';
import { t } from '../../app/i18n/text.ts';
import { queryApi, apiQueryKey, useApiQuery, useRpc } from '../../app/rpc/vault.tsx';

export type OrganizationData = Answer<'get_organization'>['organizationData'];

/** The search fields for sub-organizations, as the service names them. */
export const searches = [
  { value: 'NAME', label: t('Name') },
  { value: 'USERNAME', label: t('Name of a user') },
  { value: 'EMAIL', label: t('Email of a user') },
  { value: 'PHONE_NUMBER', label: t('Phone number of a user') },
  { value: 'PUBLIC_KEY', label: t('API key of a user') },
  { value: 'WALLET_ACCOUNT_ADDRESS', label: t('Address of a wallet account') },
] as const;

export interface Search {
  readonly by: (typeof searches)[number]['value'];
  /** Empty for all sub-organizations. */
  readonly text: string;
}

const pageSize = 10;

/** Ids of sub-organizations, page by page, in the order of creation. */
export function useSubOrganizationIds({ by, text }: Search) {
  const rpc = useRpc();
  const filter = text === '' ? {} : { filterType: by, filterValue: text };
  return useInfiniteQuery({
    queryKey: apiQueryKey('list_suborgs', filter),
    queryFn: ({ pageParam: after }) =>
      queryApi(rpc, 'list_suborgs', {
        ...filter,
        paginationOptions: { limit: String(pageSize), after },
      }),
    initialPageParam: '',
    getNextPageParam: ({ organizationIds }) =>
      organizationIds.length < pageSize ? undefined : organizationIds.at(-1),
  });
}

export const useSubOrganization = (organizationId: string) =>
  useApiQuery('get_organization', { organizationId });

/**
 * True if this window alone may act in an organization: its key is of a root user who needs no other vote.
 */
export const isOurs = ({ users, rootQuorum }: OrganizationData, windowKey: string | null): boolean =>
  rootQuorum.threshold === 1 &&
  users.some(
    ({ userId, apiKeys }) =>
      rootQuorum.userIds.includes(userId) &&
      apiKeys.some(({ credential }) => credential.publicKey === windowKey),
  );

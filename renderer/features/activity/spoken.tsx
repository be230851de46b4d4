import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { visibleLine, visibleName } from '../../../main/lib/text/visible-text.ts';
import type { ActivityDescription, SpokenPart } from '../../app/rpc/resources.ts';
import { useIsOwners } from '../../app/owners-window.ts';
import { apiQueryKey, queryApi, useRpc } from '../../app/rpc/vault.tsx';
import { shorten } from '../../ui/text/short.ts';
import { withAddresses } from '../../ui/text/addresses.tsx';
import './spoken.css';

/** Screens of named things. */
const screens: Readonly<Record<string, (part: SpokenPart) => string>> = {
  WALLET: ({ id = '' }) => `/wallets/${id}`,
  WALLET_ACCOUNT: ({ id = '', address = '' }) => `/wallets/${id}/accounts/${encodeURIComponent(address)}`,
  PRIVATE_KEY: ({ id = '' }) => `/private-keys/${id}`,
  SECRET: ({ id = '' }) => `/secrets/${id}`,
  USER: ({ id = '' }) => `/users/${id}`,
  POLICY: ({ id = '' }) => `/policies/${id}`,
};

interface Props {
  readonly parts: readonly SpokenPart[];
  /** Names lead to their screens. A row that is a link itself has none. */
  readonly links?: boolean;
}

/** A sentence of the service, with its names as pills. The service speaks English. */
export function Spoken({ parts, links = false }: Props): ReactNode {
  const isOwners = useIsOwners();
  return (
    <span translate="no">
      {parts.map((part, index) => {
        if (part.kind === undefined) return <bdi key={index}>{withAddresses(visibleLine(part.text))}</bdi>;
        const screen = screens[part.kind];
        return links && isOwners && part.id !== undefined && screen !== undefined ? (
          <Link key={index} href={screen(part)} className="kh-pill">
            <Name of={part} />
          </Link>
        ) : (
          <span key={index} className="kh-pill">
            <Name of={part} />
          </span>
        );
      })}
    </span>
  );
}

/** The address tells an account from others of its wallet. */
const Name = ({ of: { text, address } }: { readonly of: SpokenPart }): ReactNode => (
  <>
    {visibleName(text)}
    {address !== undefined && <span className="kh-mono kh-pill-address"> {shorten(address)}</span>}
  </>
);

type Described = Omit<ActivityDescription, 'activityId'>;

const mostAtOnce = 100;

/** Descriptions of activities, by their ids; those that are not here yet are absent. */
export function useDescriptions(activityIds: readonly string[]): ReadonlyMap<string, Described> {
  const rpc = useRpc();
  const { data } = useQuery({
    queryKey: apiQueryKey('describe_activities', { activityIds }),
    queryFn: async () => {
      const described = new Map<string, Described>();
      for (let from = 0; from < activityIds.length; from += mostAtOnce) {
        const page = activityIds.slice(from, from + mostAtOnce);
        const { descriptions } = await queryApi(rpc, 'describe_activities', { activityIds: page });
        for (const each of descriptions) described.set(each.activityId, each);
      }
      return described;
    },
    enabled: activityIds.length > 0,
    // Rows keep their words while more come.
    placeholderData: (before) => before,
  });
  return data ?? none;
}

const none: ReadonlyMap<string, Described> = new Map();

import { memo } from 'react';
import type { ReactNode } from 'react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { hasText, SearchedList } from '../../ui/lists/searched-list.tsx';
import type { Tag, User } from '../../app/rpc/resources.ts';
import { RowTime } from '../../ui/lists/row-time.tsx';
import { TagBadges } from '../tags/tag-badges.tsx';
import { taggedHeight, useTagged, type Tagged } from '../tags/tag-filter.tsx';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';

const tagIdsOf = ({ userTags }: User): readonly string[] => userTags;

const isFound = ({ of, tags }: Tagged<User>, text: string): boolean =>
  hasText([of.userName, of.userId, of.userEmail ?? '', ...tags.map(({ tagName }) => tagName)], text);

/** Users by name and tag. */
export function UserList({
  users,
  ownId,
}: {
  readonly users: readonly User[];
  readonly ownId: string | undefined;
}): ReactNode {
  const { rows, filter, hasTags } = useTagged('user', users, tagIdsOf);
  return (
    <SearchedList
      items={rows}
      idOf={({ of }) => of.userId}
      label={t('Users')}
      placeholder={t('Name, email, ID or tag')}
      isFound={isFound}
      filter={filter}
      counted={(count) => t('{{count}} users', { count })}
      nothingFound={{ title: t('No matching user'), text: t('No user matches all filters.') }}
      height={taggedHeight(hasTags)}
      row={({ of, tags }) => <Row of={of} tags={tags} isOwn={of.userId === ownId} />}
    />
  );
}

/** It stays as it is while the list moves. */
const Row = memo(function Row({
  of,
  tags,
  isOwn,
}: {
  readonly of: User;
  readonly tags: readonly Tag[];
  readonly isOwn: boolean;
}): ReactNode {
  return (
    <a href={`#/users/${of.userId}`} className="kh-row">
      <span>
        <span className="kh-clamp">
          <span className="kh-row-name">{visibleName(of.userName)}</span>{' '}
          {isOwn && <span className="kh-badge">{t('You')}</span>}
        </span>
        <span className="kh-clamp kh-row-more">{summary(of)}</span>
        <TagBadges tags={tags} />
      </span>
      <span className="kh-row-side">
        <RowTime at={of.createdAt} say={(when) => t('Created {{when}}', { when })} />
      </span>
    </a>
  );
});

const summary = ({ userEmail = '', apiKeys, authenticators }: User): string =>
  [
    userEmail,
    t('{{count}} API keys', { count: apiKeys.length }),
    authenticators.length === 0 ? '' : t('{{count}} passkeys', { count: authenticators.length }),
  ]
    .filter((part) => part !== '')
    .join(' · ');

import { memo, useDeferredValue, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Select } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ListSearch } from '../../ui/list-search.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import { Panel } from '../../ui/page.tsx';
import type { Tag, User } from '../../app/rpc/resources.ts';
import { RowTime } from '../../ui/row-time.tsx';
import { Empty } from '../../ui/feedback.tsx';
import { TagBadges } from '../tags/tag-badges.tsx';
import { useTags } from '../tags/tag-queries.ts';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';

/** Up to here one sees all of them at a glance. */
const fewUsers = 8;

/** The searchable texts of a user: the name, the id, the email address, the tags. */
const textsOf = (user: User, tags: readonly Tag[]): readonly string[] => [
  user.userName,
  user.userId,
  user.userEmail ?? '',
  ...tags.map(({ tagName }) => tagName),
];

const nothing = (): void => undefined;

/** Users by name and tag. The service gives all of them at once; what is in sight is laid out. */
export function UserList({
  users,
  ownId,
}: {
  readonly users: readonly User[];
  readonly ownId: string | undefined;
}): ReactNode {
  const tags = useTags('user').list;
  const [typed, setTyped] = useState('');
  const [tagId, setTagId] = useState<string | null>(null);
  const text = useDeferredValue(typed).trim().toLowerCase();
  const rows = useMemo(
    () => users.map((user) => ({ user, tags: tags.filter((tag) => user.userTags.includes(tag.tagId)) })),
    [users, tags],
  );
  const found = useMemo(
    () =>
      rows.filter(
        (row) =>
          (tagId === null || row.user.userTags.includes(tagId)) &&
          (text === '' || textsOf(row.user, row.tags).some((each) => each.toLowerCase().includes(text))),
      ),
    [rows, text, tagId],
  );
  const used = tags.filter((tag) => users.some((user) => user.userTags.includes(tag.tagId)));
  return (
    <>
      {users.length > fewUsers && (
        <>
          <ListSearch
            label={t('Users')}
            placeholder={t('Name, email, ID or tag')}
            typed={typed}
            onType={setTyped}
          >
            <Select
              label={t('Tag')}
              placeholder={t('All')}
              clearable
              searchable
              nothingFoundMessage={t('No matching tag')}
              data={used.map((tag) => ({ value: tag.tagId, label: visibleName(tag.tagName) }))}
              value={tagId}
              onChange={setTagId}
            />
          </ListSearch>
          <div className="kh-list-foot">
            <span role="status">{t('{{count}} users', { count: found.length })}</span>
          </div>
        </>
      )}
      <Panel kind="plain">
        {found.length === 0 ? (
          <Empty
            title={t('No matching user')}
            action={
              <Button
                variant="default"
                onClick={() => {
                  setTyped('');
                  setTagId(null);
                }}
              >
                {t('Show all')}
              </Button>
            }
          >
            <p>{t('No user matches all filters.')}</p>
          </Empty>
        ) : (
          <LongRows
            key={`${text} ${tagId ?? ''}`}
            count={found.length}
            label={t('Users')}
            height={used.length > 0 ? { wide: 6.25, narrow: 8.5 } : { wide: 4.75, narrow: 7 }}
            isComplete
            onShow={nothing}
            row={(index) => {
              const row = found[index];
              return row === undefined ? null : (
                <Row of={row.user} tags={row.tags} isOwn={row.user.userId === ownId} />
              );
            }}
          />
        )}
      </Panel>
    </>
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

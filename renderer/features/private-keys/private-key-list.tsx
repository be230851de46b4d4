import { memo, useDeferredValue, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Select } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { curveLabel } from '../accounts/chains.ts';
import { ListSearch } from '../../ui/list-search.tsx';
import { LongRows } from '../../ui/lists/long-rows.tsx';
import { OutsideBadges } from '../../ui/outside-badges.tsx';
import { Panel } from '../../ui/page.tsx';
import type { PrivateKey, Tag } from '../../app/rpc/resources.ts';
import { RowTime } from '../../ui/row-time.tsx';
import { Empty } from '../../ui/feedback.tsx';
import { TagBadges } from '../tags/tag-badges.tsx';
import { useTags } from '../tags/tag-queries.ts';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';

/** Up to here one sees all of them at a glance. */
const fewKeys = 8;

/** The searchable texts of a key: its name, its id, its public key, its addresses, its tags. */
const textsOf = (key: PrivateKey, tags: readonly Tag[]): readonly string[] => [
  key.privateKeyName,
  key.privateKeyId,
  key.publicKey,
  ...key.addresses.map(({ address }) => address),
  ...tags.map(({ tagName }) => tagName),
];

const nothing = (): void => undefined;

/** Private keys by name and tag. The service gives all of them at once; what is in sight is laid out. */
export function PrivateKeyList({ keys }: { readonly keys: readonly PrivateKey[] }): ReactNode {
  const tags = useTags('privateKey').list;
  const [typed, setTyped] = useState('');
  const [tagId, setTagId] = useState<string | null>(null);
  const text = useDeferredValue(typed).trim().toLowerCase();
  const rows = useMemo(
    () => keys.map((key) => ({ key, tags: tags.filter((tag) => key.privateKeyTags.includes(tag.tagId)) })),
    [keys, tags],
  );
  const found = useMemo(
    () =>
      rows.filter(
        (row) =>
          (tagId === null || row.key.privateKeyTags.includes(tagId)) &&
          (text === '' || textsOf(row.key, row.tags).some((each) => each.toLowerCase().includes(text))),
      ),
    [rows, text, tagId],
  );
  const used = tags.filter((tag) => keys.some((key) => key.privateKeyTags.includes(tag.tagId)));
  return (
    <>
      {keys.length > fewKeys && (
        <>
          <ListSearch
            label={t('Private keys')}
            placeholder={t('Name, address, ID or tag')}
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
            <span role="status">{t('{{count}} private keys', { count: found.length })}</span>
          </div>
        </>
      )}
      <Panel kind="plain">
        {found.length === 0 ? (
          <Empty
            title={t('No matching private key')}
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
            <p>{t('No private key matches all filters.')}</p>
          </Empty>
        ) : (
          <LongRows
            key={`${text} ${tagId ?? ''}`}
            count={found.length}
            label={t('Private keys')}
            height={used.length > 0 ? { wide: 6.25, narrow: 8.5 } : { wide: 4.75, narrow: 7 }}
            isComplete
            onShow={nothing}
            row={(index) => {
              const row = found[index];
              return row === undefined ? null : <Row of={row.key} tags={row.tags} />;
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
}: {
  readonly of: PrivateKey;
  readonly tags: readonly Tag[];
}): ReactNode {
  return (
    <a href={`#/private-keys/${of.privateKeyId}`} className="kh-row">
      <span>
        <span className="kh-clamp">
          <span className="kh-row-name">{visibleName(of.privateKeyName)}</span> <OutsideBadges of={of} />
        </span>
        <span className="kh-clamp kh-row-more">
          {curveLabel(of.curve)}
          {of.addresses.length > 0 && <> · {t('{{count}} addresses', { count: of.addresses.length })}</>}
        </span>
        <TagBadges tags={tags} />
      </span>
      <span className="kh-row-side">
        <RowTime at={of.createdAt} say={(when) => t('Created {{when}}', { when })} />
      </span>
    </a>
  );
});

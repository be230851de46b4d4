import { memo } from 'react';
import type { ReactNode } from 'react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { curveLabel } from '../accounts/chains.ts';
import { hasText, SearchedList } from '../../ui/lists/searched-list.tsx';
import { OutsideBadges } from '../../ui/outside-badges.tsx';
import type { PrivateKey, Tag } from '../../app/rpc/resources.ts';
import { RowTime } from '../../ui/lists/row-time.tsx';
import { TagBadges } from '../tags/tag-badges.tsx';
import { taggedHeight, useTagged, type Tagged } from '../tags/tag-filter.tsx';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';

const tagIdsOf = ({ privateKeyTags }: PrivateKey): readonly string[] => privateKeyTags;

const isFound = ({ of, tags }: Tagged<PrivateKey>, text: string): boolean =>
  hasText(
    [
      ...[of.privateKeyName, of.privateKeyId, of.publicKey],
      ...of.addresses.map(({ address }) => address),
      ...tags.map(({ tagName }) => tagName),
    ],
    text,
  );

/** Private keys by name and tag. */
export function PrivateKeyList({ keys }: { readonly keys: readonly PrivateKey[] }): ReactNode {
  const { rows, filter, hasTags } = useTagged('privateKey', keys, tagIdsOf);
  return (
    <SearchedList
      items={rows}
      idOf={({ of }) => of.privateKeyId}
      label={t('Private keys')}
      placeholder={t('Name, address, ID or tag')}
      isFound={isFound}
      filter={filter}
      counted={(count) => t('{{count}} private keys', { count })}
      nothingFound={{ title: t('No matching private key'), text: t('No private key matches all filters.') }}
      height={taggedHeight(hasTags)}
      row={({ of, tags }) => <Row of={of} tags={tags} />}
    />
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

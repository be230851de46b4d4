import { useMemo, useState } from 'react';
import { Select } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { Tag } from '../../app/rpc/resources.ts';
import { t } from '../../app/i18n/text.ts';
import type { Filter } from '../../ui/lists/searched-list.tsx';
import { useTags, type TagKind } from './tag-queries.ts';

/** A row of a list whose things have tags. */
export interface Tagged<Of> {
  readonly of: Of;
  readonly tags: readonly Tag[];
}

/**
 * Finds the tags of each thing, and filters by one of them.
 * @param tagIdsOf Stays the same function.
 */
export function useTagged<Of>(
  kind: TagKind,
  things: readonly Of[],
  tagIdsOf: (of: Of) => readonly string[],
): { readonly rows: readonly Tagged<Of>[]; readonly filter: Filter<Tagged<Of>>; readonly hasTags: boolean } {
  const { list } = useTags(kind);
  const [tagId, setTagId] = useState<string | null>(null);
  const rows = useMemo(
    () => things.map((of) => ({ of, tags: list.filter((tag) => tagIdsOf(of).includes(tag.tagId)) })),
    [things, list, tagIdsOf],
  );
  const used = useMemo(
    () => list.filter((tag) => things.some((of) => tagIdsOf(of).includes(tag.tagId))),
    [things, list, tagIdsOf],
  );
  const filter = useMemo<Filter<Tagged<Of>>>(
    () => ({
      field: (
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
      ),
      choice: tagId ?? '',
      passes: ({ of }) => tagId === null || tagIdsOf(of).includes(tagId),
      clear: () => {
        setTagId(null);
      },
    }),
    [used, tagId, tagIdsOf],
  );
  return { rows, filter, hasTags: used.length > 0 };
}

/** In rem, of rows that have a line for tags, and of rows without. */
export const taggedHeight = (hasTags: boolean) =>
  hasTags ? { wide: 6.25, narrow: 8.5 } : { wide: 4.75, narrow: 7 };

import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Select, TextInput } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { upTo } from '../../../main/lib/text/up-to.ts';
import { describeStatus, filterStatuses, typeFilters } from './activity-words.ts';
import { ListSearch } from '../../ui/lists/list-search.tsx';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import type { ActivityFilter } from '../../ui/lists/use-long-list.ts';

/** The filters for activities, as the form has them. */
export interface ActivityWish {
  readonly text: string;
  readonly type: string | null;
  readonly status: string | null;
  readonly userId: string | null;
  /** Days, as a date field has them. */
  readonly from: string;
  readonly to: string;
}

export const anything: ActivityWish = { text: '', type: null, status: null, userId: null, from: '', to: '' };

/** The beginning of a day in the user's time zone, in milliseconds; undefined for an invalid day. */
export function startOfDay(day: string, later = 0): number | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const time = new Date(Number(year), Number(month) - 1, Number(date) + later).getTime();
  // Before the epoch there was no vault.
  return Math.max(0, time);
}

/** The same, as the service takes it. */
export function filterOf({ text, type, status, userId, from, to }: ActivityWish): ActivityFilter {
  const types = typeFilters.find(({ label }) => label === type)?.types;
  const since = startOfDay(from);
  const until = startOfDay(to, 1);
  return {
    ...(text.trim() === '' ? {} : { text: upTo(text.trim(), 200) }),
    ...(types === undefined ? {} : { filterByType: types }),
    ...(status === null ? {} : { filterByStatus: [status] }),
    ...(userId === null ? {} : { userId }),
    ...(since === undefined ? {} : { sinceMs: String(since) }),
    ...(until === undefined ? {} : { untilMs: String(until) }),
  };
}

/** Milliseconds without typing before the search starts. */
const typingPause = 300;

interface Props {
  readonly wish: ActivityWish;
  readonly onWish: (wish: ActivityWish) => void;
}

export function ActivityFilters({ wish, onWish }: Props): ReactNode {
  const users = useApiQuery('list_users');
  const [typed, setTyped] = useState(wish.text);
  const [seen, setSeen] = useState(wish.text);
  // A filter that was cleared elsewhere is cleared here too.
  if (seen !== wish.text) {
    setSeen(wish.text);
    setTyped(wish.text);
  }
  useEffect(() => {
    if (typed === wish.text) return;
    const timer = setTimeout(() => {
      setSeen(typed);
      onWish({ ...wish, text: typed });
    }, typingPause);
    return () => {
      clearTimeout(timer);
    };
  }, [typed, wish, onWish]);
  return (
    <ListSearch
      label={t('Activities')}
      placeholder={t('Name, address, ID or part of a payload')}
      typed={typed}
      onType={setTyped}
      onEnter={() => {
        onWish({ ...wish, text: typed });
      }}
    >
      <Select
        label={t('Type')}
        placeholder={t('All')}
        clearable
        searchable
        nothingFoundMessage={t('No matching type')}
        data={typeFilters.map(({ label }) => label)}
        value={wish.type}
        onChange={(type) => {
          onWish({ ...wish, type });
        }}
      />
      <Select
        label={t('Status')}
        placeholder={t('Any')}
        clearable
        data={filterStatuses.map((value) => ({ value, label: describeStatus(value).label }))}
        value={wish.status}
        onChange={(status) => {
          onWish({ ...wish, status });
        }}
      />
      <Select
        label={t('Requested by')}
        placeholder={t('Anyone')}
        clearable
        searchable
        nothingFoundMessage={t('No matching user')}
        data={
          users.data?.users.map(({ userId, userName }) => ({
            value: userId,
            label: visibleName(userName),
          })) ?? []
        }
        value={wish.userId}
        onChange={(userId) => {
          onWish({ ...wish, userId });
        }}
      />
      <TextInput
        type="date"
        label={t('From')}
        value={wish.from}
        {...(wish.to === '' ? {} : { max: wish.to })}
        onChange={(event) => {
          onWish({ ...wish, from: event.currentTarget.value });
        }}
      />
      <TextInput
        type="date"
        label={t('To')}
        value={wish.to}
        {...(wish.from === '' ? {} : { min: wish.from })}
        onChange={(event) => {
          onWish({ ...wish, to: event.currentTarget.value });
        }}
      />
    </ListSearch>
  );
}

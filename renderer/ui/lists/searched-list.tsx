import { useDeferredValue, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';
import { Empty } from '../feedback.tsx';
import { ListSearch } from './list-search.tsx';
import { Panel } from '../page.tsx';
import { LongRows } from './long-rows.tsx';

/** Up to here one sees all of them at a glance. */
const few = 8;

const nothing = (): void => undefined;

/** A filter beside the search. */
export interface Filter<Item> {
  readonly field: ReactNode;
  /** Differs for each choice. */
  readonly choice: string;
  readonly passes: (item: Item) => boolean;
  readonly clear: () => void;
}

interface Props<Item> {
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  /** The list's name. */
  readonly label: string;
  /** The searchable fields. */
  readonly placeholder: string;
  /** @param text In lower case, without blanks at its ends; it may be empty. */
  readonly isFound: (item: Item, text: string) => boolean;
  readonly filter?: Filter<Item>;
  /** Says how many were found. */
  readonly counted: (count: number) => string;
  readonly nothingFound: { readonly title: string; readonly text: string };
  /** Of a row, as `LongRows` takes it. */
  readonly height: { readonly wide: number; readonly narrow: number };
  readonly row: (item: Item) => ReactNode;
  /** Of up to so many items, each row is as high as it needs. */
  readonly inFull?: { readonly most: number; readonly row: (item: Item) => ReactNode };
}

/** True where a text has the other in it, whatever its case. */
export const hasText = (texts: readonly string[], text: string): boolean =>
  texts.some((each) => each.toLowerCase().includes(text));

/** A list that the service gives whole: it is searched here, and what is in sight is laid out. */
export function SearchedList<Item>({
  items,
  idOf,
  label,
  placeholder,
  isFound,
  filter,
  counted,
  nothingFound,
  height,
  row,
  inFull,
}: Props<Item>): ReactNode {
  const [typed, setTyped] = useState('');
  const text = useDeferredValue(typed).trim().toLowerCase();
  const found = useMemo(
    () => items.filter((item) => (filter === undefined || filter.passes(item)) && isFound(item, text)),
    [items, filter, isFound, text],
  );
  return (
    <>
      {items.length > few && (
        <>
          <ListSearch label={label} placeholder={placeholder} typed={typed} onType={setTyped}>
            {filter?.field}
          </ListSearch>
          <div className="kh-list-foot">
            <span role="status">{counted(found.length)}</span>
          </div>
        </>
      )}
      <Panel kind="plain">{body()}</Panel>
    </>
  );

  function body(): ReactNode {
    if (found.length === 0) {
      const clear = (): void => {
        setTyped('');
        filter?.clear();
      };
      return (
        <Empty
          title={nothingFound.title}
          action={
            <Button variant="default" onClick={clear}>
              {t('Show all')}
            </Button>
          }
        >
          <p>{nothingFound.text}</p>
        </Empty>
      );
    }
    if (inFull !== undefined && found.length <= inFull.most) {
      return (
        <ul className="kh-rows" aria-label={label}>
          {found.map((item) => (
            <li key={idOf(item)}>{inFull.row(item)}</li>
          ))}
        </ul>
      );
    }
    return (
      <LongRows
        key={`${text} ${filter?.choice ?? ''}`}
        count={found.length}
        label={label}
        height={height}
        isComplete
        onShow={nothing}
        row={(index) => {
          const item = found[index];
          return item === undefined ? null : row(item);
        }}
      />
    );
  }
}

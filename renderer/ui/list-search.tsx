import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { t } from '../app/i18n/text.ts';
import { onText } from './on-text.ts';
import './lists/long-rows.css';

interface Props {
  /** The list that is searched. */
  readonly label: string;
  /** What a thing in it is found by. */
  readonly placeholder: string;
  readonly typed: string;
  readonly onType: (typed: string) => void;
  /** Enter, where the list does not follow each letter. */
  readonly onEnter?: () => void;
  /** What else narrows the list. */
  readonly children: ReactNode;
}

/** What a long list is searched by: a text, and beside it whatever else narrows it. */
export function ListSearch({ label, placeholder, typed, onType, onEnter, children }: Props): ReactNode {
  return (
    <form
      role="search"
      aria-label={label}
      className="kh-filters"
      onSubmit={(event) => {
        event.preventDefault();
        onEnter?.();
      }}
    >
      <TextInput
        type="search"
        wrapperProps={{ 'data-wide': true }}
        label={t('Search')}
        placeholder={placeholder}
        leftSection={<IconSearch size={16} aria-hidden />}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={typed}
        onChange={onText(onType)}
      />
      {children}
    </form>
  );
}

import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { t } from '../../app/i18n/text.ts';
import { onText } from '../on-text.ts';
import './long-rows.css';

interface Props {
  /** The list that is searched. */
  readonly label: string;
  /** The searchable fields. */
  readonly placeholder: string;
  readonly typed: string;
  readonly onType: (typed: string) => void;
  /** Enter, where the list does not follow each letter. */
  readonly onEnter?: () => void;
  /** Further filters. */
  readonly children?: ReactNode;
}

/** The search of a long list: a text field, and beside it further filters. */
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

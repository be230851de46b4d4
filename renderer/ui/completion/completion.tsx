/** Completion of what is typed into a multi-line field: suggestions under the field, chosen by keyboard or pointer. */

import { useRef, useState } from 'react';
import type { ChangeEvent, ComponentProps, KeyboardEvent, ReactNode, RefObject } from 'react';
import { flushSync } from 'react-dom';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { t } from '../../app/i18n/text.ts';
import './completion.css';

export interface Suggestion {
  /** Replaces the text from `from` to the cursor. */
  readonly insert: string;
  /**
   * The position of the cursor afterwards, from the end of the inserted text: 1 is before its last character.
   */
  readonly back: number;
  readonly label: string;
  readonly detail: string;
}

export interface Suggestions {
  readonly from: number;
  readonly items: readonly Suggestion[];
}

export const none: Suggestions = { from: 0, items: [] };

interface Wish {
  /** Of the field. */
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onType: (value: string) => void;
  /** @param source The text before the cursor. */
  readonly suggestionsFor: (source: string) => Suggestions;
  /** Texts before the cursor that open the list by themselves. */
  readonly opensAfter: RegExp;
}

interface Completion {
  /** For the `textarea`. */
  readonly props: Pick<
    ComponentProps<'textarea'>,
    'aria-autocomplete' | 'aria-haspopup' | 'aria-controls' | 'aria-activedescendant'
  > & {
    readonly ref: RefObject<HTMLTextAreaElement | null>;
    readonly onChange: (event: ChangeEvent<HTMLTextAreaElement>) => void;
    readonly onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
    readonly onBlur: () => void;
    readonly onClick: () => void;
  };
  /** Stands after the `textarea`, in an element that is positioned. */
  readonly list: ReactNode;
}

/** Arrows choose, Enter takes, Escape closes the list. Ctrl and Space open it. */
export function useCompletion({ id, label, value, onType, suggestionsFor, opensAfter }: Wish): Completion {
  const text = useRef<HTMLTextAreaElement>(null);
  const [{ from, items }, setSuggestions] = useState<Suggestions>(none);
  const [active, setActive] = useState(0);
  const open = items.length > 0;

  const suggest = (source: string) => {
    setSuggestions(suggestionsFor(source));
    setActive(0);
  };
  const close = () => {
    setSuggestions(none);
  };
  const take = ({ insert, back }: Suggestion) => {
    const area = text.current;
    if (area === null) return;
    const cursor = area.selectionStart;
    // At once: further typing must follow the inserted text, and not the earlier position of the cursor.
    flushSync(() => {
      onType(value.slice(0, from) + insert + value.slice(cursor));
      close();
    });
    const at = from + insert.length - back;
    area.focus();
    area.setSelectionRange(at, at);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      suggest(value.slice(0, event.currentTarget.selectionStart));
      return;
    }
    if (!open) return;
    const chosen = items[active];
    switch (event.key) {
      case 'ArrowDown':
        event.preventDefault();
        setActive((active + 1) % items.length);
        break;
      case 'ArrowUp':
        event.preventDefault();
        setActive((active + items.length - 1) % items.length);
        break;
      case 'Enter':
        if (chosen === undefined) break;
        event.preventDefault();
        take(chosen);
        break;
      case 'Escape':
        event.preventDefault();
        event.stopPropagation();
        close();
        break;
    }
  };
  return {
    props: {
      ref: text,
      'aria-autocomplete': 'list',
      'aria-haspopup': 'listbox',
      'aria-controls': open ? `${id}-list` : undefined,
      'aria-activedescendant': open ? `${id}-${String(active)}` : undefined,
      onChange(event: ChangeEvent<HTMLTextAreaElement>) {
        const area = event.currentTarget;
        onType(area.value);
        const source = area.value.slice(0, area.selectionStart);
        if (opensAfter.test(source)) suggest(source);
        else close();
      },
      onKeyDown,
      onBlur: close,
      onClick: close,
    },
    list: open && (
      <ul
        className="kh-suggestions"
        role="listbox"
        id={`${id}-list`}
        aria-label={t('Suggestions for “{{label}}”', { label })}
      >
        {items.map((item, index) => (
          <li
            key={`${item.label} ${item.detail}`}
            id={`${id}-${String(index)}`}
            role="option"
            aria-selected={index === active}
            ref={(element) => {
              if (index === active) element?.scrollIntoView({ block: 'nearest' });
            }}
            // The text keeps the focus.
            onMouseDown={(event) => {
              event.preventDefault();
            }}
            onClick={() => {
              take(item);
            }}
          >
            <span className="kh-mono">{visibleName(item.label)}</span>
            <span>{visibleName(item.detail)}</span>
          </li>
        ))}
      </ul>
    ),
  };
}

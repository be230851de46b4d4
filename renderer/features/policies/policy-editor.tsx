import { useId, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { Input } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { PolicyProblem, PolicyWarning } from './policy-queries.ts';
import { completions } from './policy-completion.ts';
import type {
  CompletionIds,
  PolicyField,
  PolicyLanguage,
  Suggestion,
  Suggestions,
} from './policy-completion.ts';
import { t } from '../../app/i18n/text.ts';
import './policy-editor.css';

interface Props {
  readonly field: PolicyField;
  readonly label: string;
  readonly description: ReactNode;
  readonly value: string;
  readonly onType: (value: string) => void;
  readonly problem: PolicyProblem | undefined;
  readonly warnings: readonly PolicyWarning[];
  readonly language: PolicyLanguage | undefined;
  readonly ids: CompletionIds;
}

const none: Suggestions = { from: 0, items: [] };

/**
 * An expression, written with help: what could come next is listed under the cursor's line, what is wrong is underlined.
 * Arrows choose, Enter takes, Escape puts the list away; Ctrl and Space bring it.
 */
export function PolicyEditor({
  field,
  label,
  description,
  value,
  onType,
  problem,
  warnings,
  language,
  ids,
}: Props): ReactNode {
  const id = useId();
  const text = useRef<HTMLTextAreaElement>(null);
  const marks = useRef<HTMLDivElement>(null);
  const [{ from, items }, setSuggestions] = useState<Suggestions>(none);
  const [active, setActive] = useState(0);
  const open = items.length > 0;

  const suggest = (source: string) => {
    setSuggestions(language === undefined ? none : completions(source, field, language, ids));
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
  const noted = problem !== undefined || warnings.length > 0;

  return (
    <Input.Wrapper
      label={label}
      description={description}
      labelProps={{ htmlFor: id }}
      descriptionProps={{ id: `${id}-about` }}
    >
      <div className="kh-expression" style={{ marginBlockStart: '0.35rem' }}>
        <div className="kh-expression-marks" aria-hidden ref={marks}>
          {marked(value, problem, warnings)}
        </div>
        <textarea
          id={id}
          ref={text}
          value={value}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="none"
          rows={2}
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-about${noted ? ` ${id}-notes` : ''}`}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={open ? `${id}-list` : undefined}
          aria-activedescendant={open ? `${id}-${String(active)}` : undefined}
          onChange={(event) => {
            const area = event.currentTarget;
            onType(area.value);
            const source = area.value.slice(0, area.selectionStart);
            // An empty expression is completed only on request.
            if (/[\w.']$/.test(source)) suggest(source);
            else close();
          }}
          onKeyDown={onKeyDown}
          onBlur={close}
          onClick={close}
          onScroll={(event) => {
            if (marks.current !== null) marks.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
        {open && (
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
        )}
      </div>
      {noted && (
        <div className="kh-expression-notes" id={`${id}-notes`} role="status">
          {problem !== undefined && <p data-kind="problem">{visibleName(problem.message)}</p>}
          {warnings.map(({ message }) => (
            <p key={message} data-kind="warning">
              {visibleName(message)}
            </p>
          ))}
        </div>
      )}
    </Input.Wrapper>
  );
}

/** The same text, with what is wrong or doubtful marked. */
function marked(
  value: string,
  problem: PolicyProblem | undefined,
  warnings: readonly PolicyWarning[],
): ReactNode {
  const spans = [
    ...(problem === undefined ? [] : [{ ...problem, kind: 'problem' }]),
    ...warnings.flatMap(({ from, to }) =>
      from === undefined || to === undefined ? [] : [{ from, to, kind: 'warning' }],
    ),
  ].sort((a, b) => a.from - b.from);
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { from, to, kind } of spans) {
    // The problem is about an earlier text.
    if (from < at || from > value.length) continue;
    const end = Math.min(Math.max(to, from + 1), value.length);
    parts.push(value.slice(at, from));
    parts.push(
      <mark key={from} data-kind={kind}>
        {end > from ? value.slice(from, end) : ' '}
      </mark>,
    );
    at = Math.max(end, from);
  }
  parts.push(value.slice(at));
  return parts;
}

import { useId, useRef } from 'react';
import type { ReactNode } from 'react';
import { Input } from '@mantine/core';
import { hasHiddenCharacters, visibleName, visibleText } from '../../../main/lib/text/visible-text.ts';
import type { PolicyProblem, PolicyWarning } from './policy-queries.ts';
import { t } from '../../app/i18n/text.ts';
import { hasIds, NamedText, partsOf, useKnownNames } from './policy-names.tsx';
import type { KnownNames } from './policy-names.tsx';
import { completions } from './policy-completion.ts';
import type { CompletionIds, PolicyField, PolicyLanguage } from './policy-completion.ts';
import { none, useCompletion } from '../../ui/completion/completion.tsx';
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

/**
 * An expression, written with help: what could come next is listed under the cursor's line, what is wrong is underlined.
 * Arrows choose, Enter takes, Escape puts the list away; Ctrl and Space bring it. Without the focus, the field shows names in
 * place of ids. Its text has the ids.
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
  const marks = useRef<HTMLDivElement>(null);
  const completion = useCompletion({
    id,
    label,
    value,
    onType,
    suggestionsFor: (source) => (language === undefined ? none : completions(source, field, language, ids)),
    // An empty expression is completed only on request.
    opensAfter: /[\w.']$/,
  });
  const names = useKnownNames();
  const isShownOtherwise = hasIds(value) || hasHiddenCharacters(value);
  const noted = problem !== undefined || warnings.length > 0;

  return (
    <Input.Wrapper
      className="kh-expression-field"
      label={label}
      description={description}
      labelProps={{ htmlFor: id }}
      descriptionProps={{ id: `${id}-about` }}
    >
      <div className="kh-expression kh-in-order" style={{ marginBlockStart: '0.35rem' }}>
        <div className="kh-expression-marks kh-in-order" aria-hidden ref={marks}>
          {marked(value, problem, warnings, names)}
        </div>
        <textarea
          id={id}
          value={value}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="none"
          rows={2}
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-about${isShownOtherwise ? ` ${id}-names` : ''}${noted ? ` ${id}-notes` : ''}`}
          {...completion.props}
          onScroll={(event) => {
            if (marks.current !== null) marks.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
        {completion.list}
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
      {isShownOtherwise && (
        <div className="kh-expression-names">
          <p id={`${id}-names`}>
            {hasIds(value) ? t('With names:') : t('Reads:')} <NamedText text={value} names={names} />
          </p>
        </div>
      )}
    </Input.Wrapper>
  );
}

/** A text with code points in the place of its hidden characters; undefined where it has none. */
const visible = (text: string): ReactNode =>
  hasHiddenCharacters(text) ? <span className="kh-expression-visible">{visibleText(text)}</span> : undefined;

/**
 * The same text, with what is wrong or doubtful marked. Each id has its name beside it, and each text with hidden characters the same
 * with their code points: styles show one of the two.
 */
function marked(
  value: string,
  problem: PolicyProblem | undefined,
  warnings: readonly PolicyWarning[],
  names: KnownNames,
): ReactNode {
  const written = (from: number, to?: number) => (
    <span key={`at ${String(from)}`}>
      {partsOf(value.slice(from, to), names).map(({ text, pill = visible(text) }, index) =>
        pill === undefined ? (
          text
        ) : (
          <span key={index}>
            <span className="kh-expression-id">{text}</span>
            {pill}
          </span>
        ),
      )}
    </span>
  );
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
    parts.push(written(at, from));
    parts.push(
      <mark key={from} data-kind={kind}>
        {end > from ? written(from, end) : ' '}
      </mark>,
    );
    at = Math.max(end, from);
  }
  parts.push(written(at));
  return parts;
}

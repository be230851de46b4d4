import { useState } from 'react';
import type { ReactNode } from 'react';
import { visibleJson } from '../../../main/lib/text/visible-text.ts';
import { upTo } from '../../../main/lib/text/up-to.ts';
import { t } from '../../app/i18n/text.ts';
import './json-view.css';

/** Longer arrays are folded at first; deeper ones and longer objects too. */
const open = { items: 5, fields: 30, depth: 6 };
/** Entries of one array or object that are laid out at first, and added at a time. */
const atOnce = 100;
/** Longer texts are cut off at first, in characters. */
const longText = 2_000;

type Entry = readonly [name: string | null, value: unknown];

interface Part {
  /** Its name in an object; null in an array and at the top. */
  readonly name: string | null;
  readonly value: unknown;
  readonly isLast: boolean;
  readonly depth: number;
}

/** JSON as text, of which every object and array folds; what is folded costs nothing. */
export function JsonView({ value }: { readonly value: unknown }): ReactNode {
  return <JsonPart name={null} value={value} isLast depth={0} />;
}

/** Its hidden characters are escaped, as JSON does it. */
const written = (value: unknown): string => visibleJson(JSON.stringify(value));

function JsonPart({ name, value, isLast, depth }: Part): ReactNode {
  const comma = isLast ? '' : ',';
  const label = name === null ? '' : `${written(name)}: `;
  const entries = entriesOf(value);
  if (entries !== undefined && entries.length > 0) {
    return (
      <Fold label={label} entries={entries} isArray={Array.isArray(value)} comma={comma} depth={depth} />
    );
  }
  if (typeof value === 'string' && value.length > longText) {
    return <LongText label={label} text={written(value)} comma={comma} />;
  }
  return <div translate="no">{`${label}${written(value)}${comma}`}</div>;
}

function entriesOf(value: unknown): readonly Entry[] | undefined {
  if (Array.isArray(value)) return value.map((each: unknown): Entry => [null, each]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined;
}

interface FoldProps {
  readonly label: string;
  readonly entries: readonly Entry[];
  readonly isArray: boolean;
  readonly comma: string;
  readonly depth: number;
}

function Fold({ label, entries, isArray, comma, depth }: FoldProps): ReactNode {
  const [isOpen, setIsOpen] = useState(
    depth < open.depth && entries.length <= (isArray ? open.items : open.fields),
  );
  const [most, setMost] = useState(atOnce);
  const [first, last] = isArray ? ['[', ']'] : ['{', '}'];
  const count = entries.length;
  return (
    <details
      open={isOpen}
      onToggle={(event) => {
        setIsOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <span translate="no">
          {label}
          {first}
        </span>
        {!isOpen && (
          <>
            <span className="kh-json-folded">
              {isArray ? t('{{count}} items', { count }) : t('{{count}} fields', { count })}
            </span>
            {last}
            {comma}
          </>
        )}
      </summary>
      {isOpen && (
        <>
          <div className="kh-json-inside">
            {entries.slice(0, most).map(([name, value], index) => (
              <JsonPart
                key={index}
                name={name}
                value={value}
                isLast={index === count - 1}
                depth={depth + 1}
              />
            ))}
            {count > most && (
              <button
                type="button"
                className="kh-json-more"
                onClick={() => {
                  setMost(most + atOnce);
                }}
              >
                {t('Show more ({{count}})', { count: count - most })}
              </button>
            )}
          </div>
          <div>
            {last}
            {comma}
          </div>
        </>
      )}
    </details>
  );
}

interface LongTextProps {
  readonly label: string;
  /** As JSON. */
  readonly text: string;
  readonly comma: string;
}

function LongText({ label, text, comma }: LongTextProps): ReactNode {
  const [isWhole, setIsWhole] = useState(false);
  if (isWhole) return <div>{`${label}${text}${comma}`}</div>;
  return (
    <div>
      {`${label}${upTo(text, longText / 10)}… `}
      <button
        type="button"
        className="kh-json-more"
        onClick={() => {
          setIsWhole(true);
        }}
      >
        {t('Show all {{count}} characters', { count: text.length - 2 })}
      </button>
    </div>
  );
}

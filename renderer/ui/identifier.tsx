import { Fragment } from 'react';
import type { ReactNode } from 'react';
import { visibleName } from '../../main/lib/text/visible-text.ts';
import { CopyButton } from './copy-button.tsx';
import { groups, shorten } from './text/short.ts';
import './identifier.css';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * An identifier by its two ends, with the whole of it on hover and on the clipboard. The id of a thing says nothing to a
 * person, and is only copied.
 */
export function ShortId({ text, copy }: { readonly text: string; readonly copy: string }): ReactNode {
  if (uuid.test(text)) return <CopyButton text={text} copy={copy} words />;
  return (
    <span className="kh-id">
      <span className="kh-mono" title={visibleName(text)}>
        {visibleName(shorten(text))}
      </span>
      <CopyButton text={text} copy={copy} />
    </span>
  );
}

/** An address or key in full, in groups of four, as people compare them. It is still selected and read as one text. */
export function Grouped({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="kh-grouped kh-mono">
      {groups(visibleName(text)).map((group, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          <span>{group}</span>
        </Fragment>
      ))}
    </span>
  );
}

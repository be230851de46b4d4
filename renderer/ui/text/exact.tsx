import { Fragment } from 'react';
import type { ReactNode } from 'react';
import { directionOf, visibleAgain } from '../../../main/lib/text/visible-text.ts';
import { withAddresses } from './addresses.tsx';
import './exact.css';

/**
 * A signed text, to the letter: each character in its signed order, each blank and line end visible. Only a line
 * that runs from right to left throughout is laid out so.
 */
export function Exact({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="kh-exact" translate="no">
      {visibleAgain(text)
        .split('\n')
        .map((line, index) => (
          <Fragment key={index}>
            {index > 0 && '\n'}
            <span dir={directionOf(line) === 'rtl' ? 'rtl' : 'ltr'}>{withBlanks(line)}</span>
          </Fragment>
        ))}
    </span>
  );
}

/** Blanks at either end of a line, and several in a row. */
const blanks = /(^ +| +$| {2,})/;

/** The blanks are found in the whole line: an address, which is shown apart, does not end it. */
const withBlanks = (line: string): ReactNode =>
  blanks.test(line)
    ? line
        .split(blanks)
        .map((piece, index) =>
          index % 2 === 0 ? (
            <Fragment key={index}>{withAddresses(piece)}</Fragment>
          ) : (
            <mark key={index}>{piece}</mark>
          ),
        )
    : withAddresses(line);

import { expect, test } from 'vitest';
import { renderToStaticMarkup } from 'react-dom/server';
import { Exact } from './exact.tsx';

const address = '0x52908400098527886E0F7030069857D2E4169EE7';
/** The blanks that have a mark. */
const marked = (text: string): readonly string[] =>
  [...renderToStaticMarkup(<Exact text={text} />).matchAll(/<mark>(.*?)<\/mark>/g)].map(
    ([, blank]) => blank ?? '',
  );

test.each([
  ['Send 1 ETH', []],
  [`Send 1 ETH to ${address}, with a fee`, []],
  [`to ${address} from ${address}`, []],
  [' at both ends ', [' ', ' ']],
  [`two  before  ${address}  after`, ['  ', '  ', '  ']],
  [`${address} `, [' ']],
  [` ${address}\n next`, [' ', ' ']],
])('%j has its blanks marked at the ends of lines and where they are several', (text, blanks) => {
  expect(marked(text)).toEqual(blanks);
});

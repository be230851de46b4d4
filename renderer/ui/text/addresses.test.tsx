import { expect, test } from 'vitest';
import { renderToStaticMarkup } from 'react-dom/server';
import { withAddresses } from './addresses.tsx';

const shown = (text: string): string => renderToStaticMarkup(withAddresses(text));
/** The text of the markup. */
const textOf = (markup: string): string => markup.replaceAll(/<[^>]*>/g, '');

test.each([
  ['“Landlord” (0x52908400098527886E0F7030069857D2E4169EE7), with a fee', '<span>5290</span>'],
  ['bc1qcsuzcxp02u565jvvh40c67vka4cs5lqs8j8sjq', '<span>qcsu</span>'],
  ['to 4DFEBiaTUT9jTrGP9EqYini8P9kxZB5tkotzVxXMW4DD.', '<span>4DFE</span>'],
  ['TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE', '<span>TQn9</span>'],
])('%j has its address in groups, and the same text', (text, group) => {
  expect(shown(text)).toContain(group);
  expect(textOf(shown(text))).toBe(text);
});

test.each([
  '',
  'Send 1 ETH',
  '0x1234',
  `${'a'.repeat(31)} b`,
  `0x${'1'.repeat(41)}`,
  'x0x52908400098527886E0F7030069857D2E4169EE7',
])('%j has no address', (text) => {
  expect(shown(text)).toBe(text);
});

import { expect, test } from 'vitest';
import { ofOne } from './texts.ts';

test.each([
  ['{{count}} accounts', '{{count}} account'],
  ['{{count}} activities tested.', '{{count}} activity tested.'],
  ['{{count}} API keys are deleted', '{{count}} API key is deleted'],
  ['It has {{count}} addresses.', 'It has {{count}} address.'],
  ['{{count}} more', '{{count}} more'],
])('%s reads, of one, %s', (text, one) => {
  expect(ofOne(text)).toBe(one);
});

import { describe, expect, test } from 'vitest';
import english from '../../locales/en.json' with { type: 'json' };
import { closingBracket, openingBracket, pseudoText, pseudoTexts } from './pseudo-locale.ts';

test('values and tags stay as they are', () => {
  const pseudo = pseudoText('Read <docs>the docs</docs> of {{name}}<moment/>');
  for (const part of ['<docs>', '</docs>', '{{name}}', '<moment/>']) expect(pseudo).toContain(part);
  expect(pseudo).toContain('ţĥé ðöçš');
});

describe('every text of the window', () => {
  const kept = /\{\{[^}]*\}\}|<\/?\w+\/?>/g;
  const pseudo = pseudoTexts(english);

  test('is marked, accented and longer', () => {
    for (const [key, text] of Object.entries(english)) {
      const made = pseudo[key as keyof typeof english];
      expect(made.startsWith(openingBracket) && made.endsWith(closingBracket), text).toBe(true);
      expect(made.match(kept), text).toEqual(text.match(kept));
      const [says, said] = [text.replaceAll(kept, ''), made.replaceAll(kept, '')];
      expect(said, text).not.toMatch(/[a-z]/i);
      expect(said.length, text).toBeGreaterThanOrEqual(says.length * 1.2);
    }
  });

  test('its tags are closed', () => {
    for (const text of Object.values(english)) {
      const open: string[] = [];
      for (const [, closing, name, alone] of text.matchAll(/<(\/?)(\w+)(\/?)>/g)) {
        if (alone === '/') continue;
        if (closing === '/') expect(open.pop(), text).toBe(name);
        else open.push(name ?? '');
      }
      expect(open, text).toEqual([]);
    }
  });
});

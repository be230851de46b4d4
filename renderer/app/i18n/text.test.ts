import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { allOf, anyOf, numeral, t } from './text.ts';
import { Trans } from './trans.ts';

describe('t', () => {
  test('fills a text with what it is given, as it was given', () => {
    expect(t('Rename {{name}}', { name: 'a.b: <i>&amp;</i>' })).toBe('Rename a.b: <i>&amp;</i>');
  });

  test.each([
    [0, '0 shares'],
    [1, '1 share'],
    [2, '2 shares'],
    [100_000, '100,000 shares'],
  ])('says %d as people do', (count, said) => {
    expect(t('{{count}} shares', { count })).toBe(said);
  });

  test('groups no digits of a port', () => {
    expect(t('Port {{port}}', { port: 8080 })).toBe('Port 8080');
  });

  test.each(['$t(Delete)', '{{name}}', '{{secret}}', '$t(a, {"lng":"x"})'])(
    'takes the name %s for a name',
    (name) => {
      expect(t('“{{name}}” is made', { name, secret: 'x' })).toBe(`“${name}” is made`);
    },
  );
});

describe('Trans', () => {
  const said = (i18nKey: string, values: Record<string, string | number>): string =>
    renderToStaticMarkup(
      createElement(Trans, {
        i18nKey,
        values,
        components: { b: createElement('b'), moment: createElement('time') },
      }),
    );

  test('puts elements where the text has them', () => {
    expect(said('Made <moment/> by <b>{{name}}</b>.', { name: 'Ada' })).toBe(
      'Made <time></time> by <b>Ada</b>.',
    );
  });

  test('nests elements, counts, and keeps tags without an element', () => {
    const b = createElement('b');
    const i = createElement('i', { className: 'kept' });
    const trans = (i18nKey: string, count?: number): string =>
      renderToStaticMarkup(
        createElement(Trans, { i18nKey, components: { b, i }, ...(count !== undefined && { count }) }),
      );
    expect(trans('a <b>b <i>c</i> d</b> e')).toBe('a <b>b <i class="kept">c</i> d</b> e');
    expect(trans('{{count}}<b> to approve</b>', 1_000)).toBe('1,000<b> to approve</b>');
    expect(trans('x <u>y</u> <constructor/>')).toBe('x &lt;u&gt;y&lt;/u&gt; &lt;constructor/&gt;');
  });

  test.each(['<b>bold</b>', '<moment/>', 'Q&A', '&lt;b&gt;', '$t(x)', '{{name}}'])(
    'shows the name %s as it is',
    (name) => {
      const escaped = renderToStaticMarkup(createElement('i', null, name)).slice(3, -4);
      expect(said('Made by <b>{{name}}</b>', { name })).toBe(`Made by <b>${escaped}</b>`);
    },
  );
});

test('lists and numbers are written as in the language', () => {
  expect(allOf(['Ada', 'Grace', 'Mary'])).toBe('Ada, Grace, and Mary');
  expect(anyOf(['Ada', 'Grace'])).toBe('Ada or Grace');
  expect(numeral(1_000_000)).toBe('1,000,000');
});

describe('a name that others chose', () => {
  test.each([
    ['Ada\u00a0L', 'Ada⟨U+00A0⟩L'],
    ['\u202eevil', '⟨U+202E⟩evil'],
    ['משה', '\u2068משה\u2069'],
  ])('%j hides nothing, and moves nothing around it', (name, shown) => {
    expect(t('“{{name}}” is made', { name })).toBe(`“${shown}” is made`);
    const trans = createElement(Trans, { i18nKey: 'Made by {{name}}', values: { name }, components: {} });
    expect(renderToStaticMarkup(trans)).toBe(`Made by ${shown}`);
    expect(allOf(['Grace', name])).toBe(`Grace and ${shown}`);
    expect(t('{{place}}: {{title}}', { place: t('of {{name}}', { name }), title: '' })).toBe(`of ${shown}: `);
  });
});

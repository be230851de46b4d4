/** A recovery sheet as a page of its own: nothing in it is loaded from elsewhere, and nothing in it runs. */
import encodeQR from 'qr';
import type { Sheet } from '../../../preload/contract.ts';

const style = `
  @page { margin: 18mm }
  body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #10241f; background: #fff;
    font: 1rem/1.5 system-ui, sans-serif }
  h1 { margin: 0 0 1rem; font-size: 1.6rem }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0 0 1.5rem }
  dt { color: #4a5d57 }
  dd { margin: 0; overflow-wrap: anywhere }
  ol { display: grid; grid-template-columns: repeat(3, 1fr); gap: .4rem 1.5rem; padding: 0; list-style: none;
    counter-reset: word }
  li { padding: .2rem 0; border-bottom: 1px solid #b9c7c2; font: 600 1.05rem ui-monospace, monospace;
    counter-increment: word }
  li::before { content: counter(word); display: inline-block; width: 2.2rem; color: #4a5d57; font-weight: 400 }
  code { display: block; padding: .6rem .8rem; border: 1px solid #b9c7c2; font: 600 1.05rem ui-monospace, monospace;
    overflow-wrap: anywhere }
  code > span { display: inline-block; margin-right: .6em }
  svg { display: block; width: 55mm; height: 55mm; margin: 1.5rem 0 }
`;

export function sheetPage({ title, secret, code, facts, how }: Sheet): string {
  const rows = facts.map(([name, value]) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`);
  const written =
    secret.kind === 'phrase'
      ? `<ol>${secret.words.map((word) => `<li>${escape(word)}</li>`).join('')}</ol>`
      : `<code data-share="${escape(secret.text)}">${inFours(secret.text)}</code>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>Keyhearth: ${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escape(title)}</h1>
<dl>${rows.join('')}</dl>
${written}
${encodeQR(code, 'svg', { ecc: 'medium', border: 2 })}
${how.map((text) => `<p>${escape(text)}</p>`).join('\n')}
</body>
</html>
`;
}

/** For the eye alone: no space is part of a share. */
const inFours = (text: string): string =>
  (text.match(/.{1,4}/g) ?? []).map((four) => `<span>${escape(four)}</span>`).join('');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

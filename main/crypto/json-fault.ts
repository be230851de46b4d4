/**
 * Locates the fault in invalid JSON. The platform's errors do not always give the position, and they quote
 * the text.
 */

type State = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'after';
type Token = '[' | ']' | '{' | '}' | ',' | ':' | 'string' | 'scalar';

const space = /[ \t\n\r]*/y;
const token =
  /(?<mark>[[\]{},:])|(?<text>"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/** @returns the first place that no JSON could go on from, as "line 3, column 7" counted from 1; undefined for JSON. */
export function jsonFault(text: string): string | undefined {
  const open: ('[' | '{')[] = [];
  let state: State = 'value';
  let at = 0;
  for (;;) {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
    if (at === text.length && state === 'after' && open.length === 0) return undefined;
    token.lastIndex = at;
    const read = token.exec(text);
    const next: State | undefined = read === null ? undefined : follow(state, tokenOf(read.groups), open);
    if (next === undefined) return positionOf(text, at);
    state = next;
    at = token.lastIndex;
  }
}

const tokenOf = ({ mark, text }: Readonly<Record<string, string | undefined>> = {}): Token =>
  mark === undefined ? (text === undefined ? 'scalar' : 'string') : (mark as Token);

/** @param open What is not closed yet; it changes with the token. */
function follow(state: State, read: Token, open: ('[' | '{')[]): State | undefined {
  const closes = read === (open.at(-1) === '{' ? '}' : ']');
  if (closes && open.length > 0 && (state === 'after' || state.startsWith('first'))) {
    open.pop();
    return 'after';
  }
  switch (state) {
    case 'value':
    case 'first value':
      if (read === 'string' || read === 'scalar') return 'after';
      if (read !== '[' && read !== '{') return undefined;
      open.push(read);
      return read === '[' ? 'first value' : 'first key';
    case 'key':
    case 'first key':
      return read === 'string' ? 'colon' : undefined;
    case 'colon':
      return read === ':' ? 'value' : undefined;
    case 'after':
      if (read !== ',' || open.length === 0) return undefined;
      return open.at(-1) === '{' ? 'key' : 'value';
  }
}

function positionOf(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  return `line ${String(lines.length)}, column ${String((lines.at(-1)?.length ?? 0) + 1)}`;
}

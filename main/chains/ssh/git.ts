/** Git's commits and tags, as git signs them: the object without its signature. */
import { attempt, unreadable, utf8, type Read } from '../reading.ts';

export interface GitObject {
  readonly kind: 'commit' | 'tag';
  /** The object's other headers, in its order: `tree`, `parent`, `author`. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** The first paragraph of the message, in one line, as `git log --format=%s` shows it. */
  readonly subject: string;
  readonly message: string;
}

/**
 * The headers that git itself reads, in its order; `other` stands for each of another name. Git takes parents only where they
 * follow the tree, and the author only where it follows those.
 */
const kinds = [
  { kind: 'commit', order: /^tree( parent)* author committer( other)*( encoding)?( other)*$/ },
  { kind: 'tag', order: /^object type tag( tagger)?$/ },
] as const;
const read = ['tree', 'parent', 'author', 'committer', 'encoding', 'object', 'type', 'tag', 'tagger'];

/**
 * Reads an object as git does. What git would read in another way is unreadable: a header twice or in another place, text in
 * another encoding, bytes after a zero, and a signature inside, which git takes out before it verifies.
 * @param bytes What the signature is over: no hash of it.
 */
export const readGitObject = (bytes: Uint8Array): Read<GitObject> =>
  attempt(() => {
    const text = utf8(bytes) ?? unreadable('it is not UTF-8');
    if (text.includes('\0')) unreadable('it has a zero byte');
    const end = text.indexOf('\n\n');
    if (end < 0) unreadable('it has no end of its headers');
    const headers = readHeaders(text.slice(0, end));
    const names = headers.map(({ name }) => name);
    if (names.some((name) => name.startsWith('gpgsig'))) unreadable('it has a signature already');
    const order = names.map((name) => (read.includes(name) ? name : 'other')).join(' ');
    const { kind } =
      kinds.find((each) => each.order.test(order)) ?? unreadable('it is neither a commit nor a tag');
    if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(headers[0]?.value ?? '')) {
      unreadable('it does not name another object by its hash');
    }
    const encoding = headers.find(({ name }) => name === 'encoding')?.value ?? 'UTF-8';
    if (!/^utf-?8$/i.test(encoding)) unreadable('its text is in another encoding than UTF-8');
    const message = text.slice(end + 2);
    return { kind, headers, subject: subjectOf(message), message };
  });

/** The first paragraph: lines lose the white space at their ends, and an empty one ends it. */
function subjectOf(message: string): string {
  const lines = message.split('\n').map((line) => line.replace(/[ \t\r]+$/, ''));
  const start = lines.findIndex((line) => line !== '');
  const paragraph = start < 0 ? [] : lines.slice(start);
  const end = paragraph.indexOf('');
  return paragraph.slice(0, end < 0 ? undefined : end).join(' ');
}

function readHeaders(text: string): GitObject['headers'] {
  const headers: { name: string; value: string }[] = [];
  for (const line of text.split('\n')) {
    const last = headers.at(-1);
    if (line.startsWith(' ') && last !== undefined && !read.includes(last.name)) {
      last.value += `\n${line.slice(1)}`;
      continue;
    }
    const [, name, value] = /^([A-Za-z0-9-]+) (.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined) unreadable('a header of it has no value');
    headers.push({ name, value });
  }
  return headers;
}

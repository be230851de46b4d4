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

/** The first and the last header that each kind of object must have. */
const kinds = [
  { kind: 'commit', first: 'tree', needs: ['author', 'committer'] },
  { kind: 'tag', first: 'object', needs: ['type', 'tag'] },
] as const;

/** @param bytes What the signature is over: no hash of it. */
export const readGitObject = (bytes: Uint8Array): Read<GitObject> =>
  attempt(() => {
    const text = utf8(bytes) ?? unreadable('it is not UTF-8');
    const end = text.indexOf('\n\n');
    if (end < 0) unreadable('it has no end of its headers');
    const headers = readHeaders(text.slice(0, end));
    const message = text.slice(end + 2);
    const names = headers.map(({ name }) => name);
    const found =
      kinds.find(({ first, needs }) => names[0] === first && needs.every((name) => names.includes(name))) ??
      unreadable('it is neither a commit nor a tag');
    if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(headers[0]?.value ?? '')) {
      unreadable('it does not name another object by its hash');
    }
    const [subject = ''] = message.replace(/^\s*\n/, '').split(/\n[ \t]*\n/, 1);
    return { kind: found.kind, headers, subject: subject.trim().replaceAll(/\s*\n\s*/g, ' '), message };
  });

function readHeaders(text: string): GitObject['headers'] {
  const headers: { name: string; value: string }[] = [];
  for (const line of text.split('\n')) {
    const last = headers.at(-1);
    if (line.startsWith(' ') && last !== undefined) {
      last.value += `\n${line.slice(1)}`;
      continue;
    }
    const [, name, value] = /^([A-Za-z0-9-]+) (.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined) unreadable('a header of it has no value');
    headers.push({ name, value });
  }
  return headers;
}

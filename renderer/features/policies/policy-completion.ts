/**
 * Completes an expression of the policy language, from the service's description of the language. It reads
 * the text before the cursor loosely, since that is rarely complete. The service decides if the text is
 * valid.
 */

import type { Answer } from '../../../main/operations/api.ts';
import type { Suggestion, Suggestions } from '../../ui/completion/completion.tsx';

export type PolicyLanguage = Omit<Answer<'get_policy_language'>['policyLanguage'], 'assets'>;
export type PolicyField = PolicyLanguage['places'][number]['field'];
type Named = PolicyLanguage['places'][number]['keywords'][number];

/**
 * Resources of this vault with an id, by the structure and field that hold it: `User.id`, `User.tags`,
 * `Wallet.id`.
 */
export type CompletionIds = Readonly<
  Record<string, readonly { readonly id: string; readonly name: string }[] | undefined>
>;

const shown = 50;

/** @param source What is written before the cursor. */
export function completions(
  source: string,
  field: PolicyField,
  language: PolicyLanguage,
  ids: CompletionIds = {},
): Suggestions {
  const quote = openQuote(source);
  if (quote !== undefined) return inText(source, quote, field, language, ids);
  const word = /[A-Za-z_]\w*$/.exec(source)?.[0] ?? '';
  const from = source.length - word.length;
  const before = source.slice(0, from);
  // After a value comes an operator, which needs no completion.
  if (word === '' && !/(?:^|[.(,&|!=<>[]|\bin)\s*$/.test(before)) return { from, items: [] };
  const reader = new Reader(field, language, before);
  const items = before.endsWith('.')
    ? membersOf(reader, before.slice(0, -1), language)
    : startsOf(reader, field, language);
  return { from, items: fitting(items, word) };
}

/** Those that begin with what is written, and then those that have it within. */
function fitting(items: readonly Suggestion[], word: string): readonly Suggestion[] {
  const lower = word.toLowerCase();
  const rank = ({ label }: Suggestion): number => label.toLowerCase().indexOf(lower);
  return items
    .filter((item) => rank(item) >= 0 && item.insert !== word)
    .sort((a, b) => Number(rank(a) > 0) - Number(rank(b) > 0))
    .slice(0, shown);
}

function startsOf(reader: Reader, field: PolicyField, { places }: PolicyLanguage): readonly Suggestion[] {
  const place = places.find((each) => each.field === field);
  return [
    ...[...reader.variables].map(([name, type]) => plain(name, type ?? '')),
    ...(place?.keywords ?? []).map(({ name, type }) => plain(name, type)),
    ...(place?.functions ?? []).map(({ name, usage }) => ({
      insert: `${name}()`,
      back: 1,
      label: name,
      detail: usage,
    })),
  ];
}

function membersOf(
  reader: Reader,
  base: string,
  { types, methods, places }: PolicyLanguage,
): readonly Suggestion[] {
  const holder = lastOperand(base);
  const type = reader.typeOf(holder);
  if (type === undefined) {
    // `eth.` is the beginning of several names.
    const within = places
      .flatMap(({ keywords }) => keywords)
      .filter(({ name }) => holder !== '' && name.startsWith(`${holder}.`));
    return within.map(({ name, type: of }) => plain(name.slice(holder.length + 1), of));
  }
  if (elementOf(type) !== undefined) {
    return methods.map(({ name, usage, about }) => ({
      insert: name === 'count' ? 'count()' : `${name}()`,
      back: name === 'count' ? 0 : 1,
      label: name,
      detail: `${usage}: ${about}`,
    }));
  }
  const fields = types.find(({ name }) => name === type)?.fields ?? [];
  return fields.map(({ name, type: of }) => plain(name, of));
}

const plain = (name: string, detail: string): Suggestion => ({ insert: name, back: 0, label: name, detail });

function inText(
  source: string,
  quote: number,
  field: PolicyField,
  { texts, ...language }: PolicyLanguage,
  ids: CompletionIds,
): Suggestions {
  const from = quote + 1;
  const written = source.slice(from);
  const before = source.slice(0, quote);
  const compared = comparedWith(before);
  if (compared === undefined) return { from, items: [] };
  const values = texts.find(({ of }) => of === compared)?.values ?? [];
  const reader = new Reader(field, { texts, ...language }, before);
  const known = ids[reader.memberOf(compared) ?? ''] ?? [];
  return {
    from,
    items: [
      ...fitting(
        values.map((value) => plain(value, '')),
        written,
      ),
      ...known
        .filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(written.toLowerCase()))
        .slice(0, shown)
        .map(({ id, name }) => ({ insert: id, back: 0, label: name, detail: id })),
    ],
  };
}

/** The comparison whose text begins here: `x == '`, `x in ['a', '`, `list.contains('`. */
function comparedWith(before: string): string | undefined {
  const contains = /\.contains\(\s*$/.exec(before);
  if (contains !== null) return lastOperand(before.slice(0, contains.index));
  const comparison = /(?:==|!=|\bin\s*\[(?:\s*'[^']*'\s*,)*)\s*$/.exec(before);
  return comparison === null ? undefined : lastOperand(before.slice(0, comparison.index).trimEnd());
}

/** The start of the text that the source ends in; texts have no escapes. */
function openQuote(source: string): number | undefined {
  let open: number | undefined;
  for (let at = source.indexOf("'"); at >= 0; at = source.indexOf("'", at + 1))
    open = open === undefined ? at : undefined;
  return open;
}

/** The names, calls and indexes that a text ends in: `approvers.filter(u, …)` of `true && approvers.filter(u, …)`. */
function lastOperand(text: string): string {
  let at = text.length;
  for (;;) {
    while (text[at - 1] === ')' || text[at - 1] === ']') {
      const open = opening(text, at - 1);
      if (open === undefined) return '';
      at = open;
    }
    const name = /[A-Za-z_]\w*$/.exec(text.slice(0, at))?.[0] ?? '';
    at -= name.length;
    if (name === '' || text[at - 1] !== '.') return text.slice(at);
    at -= 1;
  }
}

/** The position of the opening bracket for this closing one. */
function opening(text: string, close: number): number | undefined {
  const blank = blanked(text);
  let depth = 0;
  for (let at = close; at >= 0; at--) {
    const character = blank[at];
    if (character === ')' || character === ']') depth += 1;
    if (character === '(' || character === '[') depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}

/** Knows the types of what is written before the cursor, variables included. */
class Reader {
  /** Those of the iterations that are open, with their types where they are known. */
  readonly variables = new Map<string, string | undefined>();
  readonly #language: PolicyLanguage;
  readonly #keywords: readonly Named[];

  constructor(field: PolicyField, language: PolicyLanguage, before: string) {
    this.#language = language;
    this.#keywords = language.places.find((place) => place.field === field)?.keywords ?? [];
    for (const at of openParentheses(before)) {
      const [, list = ''] = /^(.*)\.(?:all|any|filter|sum)$/s.exec(before.slice(0, at)) ?? [];
      const [, name] = /^\s*([A-Za-z_]\w*)\s*,/.exec(before.slice(at + 1)) ?? [];
      if (name === undefined) continue;
      const type = this.typeOf(lastOperand(list));
      this.variables.set(name, type === undefined ? undefined : elementOf(type));
    }
  }

  /** @returns undefined for what is not known. */
  typeOf(expression: string): string | undefined {
    let rest = expression;
    let type: string | undefined;
    const keyword = this.#keywords.find(
      ({ name }) => name === /^\w+\.\w+/.exec(rest)?.[0] || name === /^\w+/.exec(rest)?.[0],
    );
    const first = /^\w+/.exec(rest)?.[0] ?? '';
    if (this.variables.has(first)) {
      type = this.variables.get(first);
      rest = rest.slice(first.length);
    } else if (keyword !== undefined) {
      ({ type } = keyword);
      rest = rest.slice(keyword.name.length);
    }
    while (type !== undefined && rest !== '') {
      const next = this.#step(type, rest);
      type = next?.type;
      rest = next?.rest ?? '';
    }
    return type;
  }

  /** `User.id` of `approvers[0].id`. */
  memberOf(expression: string): string | undefined {
    const [, holder, name] = /^(.*)\.(\w+)$/s.exec(expression) ?? [];
    const type = holder === undefined ? undefined : this.typeOf(holder);
    return type === undefined || name === undefined ? undefined : `${type}.${name}`;
  }

  /** The type after one more field, call or index. */
  #step(
    type: string,
    rest: string,
  ): { readonly type: string | undefined; readonly rest: string } | undefined {
    const [member, name] = /^\.(\w+)/.exec(rest) ?? [];
    if (member !== undefined) {
      const after = rest.slice(member.length);
      if (!after.startsWith('(')) {
        const fields = this.#language.types.find((each) => each.name === type)?.fields;
        return { type: fields?.find((each) => each.name === name)?.type, rest: after };
      }
      const length = closing(after);
      const results: Readonly<Record<string, string>> = { filter: type, count: 'int', sum: 'int' };
      return { type: results[name ?? ''] ?? 'bool', rest: after.slice(length) };
    }
    if (!rest.startsWith('[')) return undefined;
    const length = closing(rest);
    const isSlice = rest.slice(0, length).includes('..');
    return { type: isSlice ? type : (elementOf(type) ?? valueOf(type) ?? type), rest: rest.slice(length) };
  }
}

/** The same with nothing in its texts: a bracket there is none. */
const blanked = (text: string): string => text.replaceAll(/'[^']*'/g, (found) => ' '.repeat(found.length));

/** The positions of the open parentheses, outermost first. */
function openParentheses(text: string): readonly number[] {
  const open: number[] = [];
  for (const { index, 0: character } of blanked(text).matchAll(/[()]/g)) {
    if (character === '(') open.push(index);
    else open.pop();
  }
  return open;
}

/** The length of the bracket at the beginning of a text. */
function closing(text: string): number {
  let depth = 0;
  for (const { index, 0: character } of blanked(text).matchAll(/[()[\]]/g)) {
    depth += character === '(' || character === '[' ? 1 : -1;
    if (depth === 0) return index + 1;
  }
  return text.length;
}

const elementOf = (type: string): string | undefined => /^list<(.+)>$/.exec(type)?.[1];
const valueOf = (type: string): string | undefined => /^map<string, (.+)>$/.exec(type)?.[1];

import { expect, test } from 'vitest';
import { compile } from './compile.ts';
import { describeLanguage } from './language.ts';

const language = describeLanguage();

test('every keyword, and every field of what it is, compiles where it is said to be', () => {
  const fields = new Map(language.types.map(({ name, fields }) => [name, fields]));
  let tried = 0;
  for (const { field, keywords } of language.places) {
    for (const keyword of keywords) {
      const inList = /^list<(\w+)>$/.exec(keyword.type)?.[1];
      for (const { name, type } of fields.get(inList ?? keyword.type) ?? []) {
        const value = type === 'int' ? '1' : "''";
        if (!['int', 'string', 'value of the request'].includes(type)) continue;
        const source =
          inList === undefined
            ? `${keyword.name}.${name} == ${value}`
            : `${keyword.name}.any(item, item.${name} == ${value})`;
        expect(() => compile(source, field), source).not.toThrow();
        tried += 1;
      }
    }
  }
  expect(tried).toBeGreaterThan(50);
});

test('every type that is named is described, or is one of the language', () => {
  const known = new Set([
    ...language.types.map(({ name }) => name),
    ...['bool', 'int', 'string', 'timestamp', 'value of the request'],
  ]);
  const named = [
    ...language.types.flatMap(({ fields }) => fields),
    ...language.places.flatMap(({ keywords }) => keywords),
  ];
  for (const { type } of named) {
    const inner = /^(?:list<|map<string, )*([^<>]+?)>*$/.exec(type)?.[1];
    expect(known, type).toContain(inner);
  }
});

test('functions are listed with their signatures', () => {
  for (const { field, functions } of language.places) {
    for (const { name, usage } of functions) {
      expect(usage.startsWith(`${name}(`)).toBe(true);
      const source =
        field === 'time' && name === 'Timestamp'
          ? `time.now < ${usage}`
          : name.startsWith('Rolling')
            ? `${usage} < 5`
            : name === 'CronSpan'
              ? usage
              : undefined;
      if (source !== undefined) expect(() => compile(source, field), source).not.toThrow();
    }
  }
});

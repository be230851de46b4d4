import { expect, test } from 'vitest';
import { kindOf, pathOfType, withoutVersion } from '../lib/text/activity-types.ts';
import { sameKinds } from '../policy/language/equivalents.ts';
import { operations } from './index.ts';

test('no operation takes the path of another, and an activity’s path is its type', () => {
  const all = operations.groups.flatMap((group) => group.operations);
  expect(operations.byPath.size).toBe(all.length);
  for (const operation of all) {
    if (operation.kind !== 'activity') continue;
    expect(operation.versions.map(({ type }) => pathOfType(type))).toEqual(
      operation.versions.map(() => operation.path),
    );
  }
});

test('types of one operation are one name without their version, and no other operation has it', () => {
  const names = new Map<string, string>();
  for (const operation of operations.byPath.values()) {
    if (operation.kind !== 'activity') continue;
    const own = new Set(operation.versions.map(({ type }) => withoutVersion(type)));
    expect([...own]).toHaveLength(1);
    for (const name of own) {
      expect(names.get(name)).toBeUndefined();
      names.set(name, operation.path);
    }
  }
  expect(names.size).toBeGreaterThan(50);
});

test('what policies are warned of as equivalent are kinds that there are', () => {
  const kinds = [...operations.byPath.values()].flatMap((operation) =>
    operation.kind === 'activity' ? operation.versions.map(({ type }) => kindOf(type)) : [],
  );
  expect(kinds).toEqual(expect.arrayContaining(sameKinds.flatMap((group) => [...group.kinds])));
});

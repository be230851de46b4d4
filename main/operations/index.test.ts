import { expect, test } from 'vitest';
import { kindOf } from '../activities/define.ts';
import { sameKinds } from '../policy/equivalents.ts';
import { withoutVersion } from '../policy/types.ts';
import { operations } from './index.ts';

test('types of one operation are one name without their version, and no other operation has it', () => {
  const names = new Map<string, string>();
  for (const operation of operations.values()) {
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
  const kinds = [...operations.values()].flatMap((operation) =>
    operation.kind === 'activity' ? operation.versions.map(({ type }) => kindOf(type)) : [],
  );
  expect(kinds).toEqual(expect.arrayContaining(sameKinds.flatMap((group) => [...group.kinds])));
});

import { expect, test } from 'vitest';
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

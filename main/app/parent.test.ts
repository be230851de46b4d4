import { describe, expect, test } from 'vitest';
import { endsWithParent } from './parent.ts';
import packageJson from '../../package.json' with { type: 'json' };

describe('endsWithParent', () => {
  test.each([
    "'keyhearth'",
    'keyhearth serve --ui',
    packageJson.scripts.start,
    `${packageJson.scripts.start} "--port" "0"`,
    'node main/start.ts',
  ])('holds for npm’s shell with %s', (script) => {
    expect(endsWithParent({ npm_lifecycle_script: script }, 1)).toBe(true);
  });

  test.each([
    undefined,
    'keyhearth serve & vitest run',
    'keyhearths',
    'vitest run',
    'node main/start.ts; date',
  ])('does not for %s, whose shell may end before', (script) => {
    expect(endsWithParent({ npm_lifecycle_script: script }, 1)).toBe(false);
  });

  test('holds for the launcher itself, and for no process that inherited its variable from further up', () => {
    expect(endsWithParent({ KEYHEARTH_LAUNCHER: '4711' }, 4711)).toBe(true);
    expect(endsWithParent({ KEYHEARTH_LAUNCHER: '4711' }, 4712)).toBe(false);
  });
});

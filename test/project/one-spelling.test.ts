/** Product code names operations by what the registry holds: a type or a path that nothing has is a mistake in the spelling. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { kindOf } from '../../main/lib/text/activity-types.ts';
import { operations } from '../../main/operations/index.ts';
import { typeFilters } from '../../renderer/features/activity/activity-words.ts';

const root = join(import.meta.dirname, '../..');
const types = new Set(
  [...operations.byPath.values()].flatMap((operation) =>
    operation.kind === 'activity' ? operation.versions.map(({ type }) => type) : [],
  ),
);
/** The prefix, and what the SDKs are answered as the activity of a query. */
const ofNoOperation = new Set(['ACTIVITY_TYPE_', 'ACTIVITY_TYPE_UNKNOWN_V1']);
/** These build a path from a name that the types check. */
const clients = [
  'renderer/app/rpc/vault.tsx',
  'renderer/features/approver/approver-session.ts',
  'main/rpc/owner-calls.ts',
];

const files = ['main', 'preload', 'renderer'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => join(root, folder, name)),
);

/** Every text of a file; the head of a template ends with `$`. */
function textsOf(path: string): readonly string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    if (ts.isTemplateHead(node)) found.push(`${node.text}$`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('every type and every path in product code is one that an operation has', () => {
  const wrong = files.flatMap((path) => {
    const name = relative(root, path).replaceAll('\\', '/');
    return textsOf(path)
      .filter((text) => {
        if (/^ACTIVITY_TYPE_\w*$/.test(text)) return !types.has(text) && !ofNoOperation.has(text);
        if (/^\/public\/v1\/(query|submit)\/\$$/.test(text)) return !clients.includes(name);
        const [, called] = /^(?:\/public\/v1\/)?((?:query|submit)\/\w+)$/.exec(text) ?? [];
        if (called === undefined) return false;
        return !operations.byPath.has(called);
      })
      .map((text) => `${name}: ${text}`);
  });
  expect(wrong).toEqual([]);
});

test('a filter of the window names every version of its kind', () => {
  for (const { types: filtered } of typeFilters) {
    const [first = ''] = filtered;
    const all = [...operations.byType.keys()].filter((type) => kindOf(type) === kindOf(first));
    expect([...filtered].sort()).toEqual(all.sort());
  }
});

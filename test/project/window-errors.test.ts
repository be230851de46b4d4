/**
 * The window shows errors of the service. Each that names a field of a request or an option of the command in its sentence is
 * translated (`renderer/ui/text/error-words.ts`): a person in the window has neither.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { readable } from '../../renderer/ui/text/readable.ts';

const main = join(import.meta.dirname, '../../main');
/**
 * Folders that answer calls of the window. `auth/` and `http/` answer programs, `commands/` and `app/` the
 * terminal.
 */
const answering = [
  ...['activities', 'audit', 'backup', 'chains', 'delivery', 'files', 'keys', 'operations', 'policy', 'rpc'],
  ...['settings', 'storage'],
];

/** A text as it would be thrown, with a number in the place of each value; null where it is put together elsewhere. */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `1${literal.text}`).join('');
  if (!ts.isBinaryExpression(node)) return null;
  return (textOf(node.left) ?? '1') + (textOf(node.right) ?? '1');
}

/** The messages of a file's errors, and their codes. */
function errorsOf(path: string): readonly Error[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Error[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && node.expression.getText() === 'KeyhearthError') {
      const [, message, options] = node.arguments ?? [];
      const text = message && textOf(message);
      const code = /turnkeyErrorCode: '(\w+)'/.exec(options?.getText() ?? '')?.[1];
      if (text != null) found.push(Object.assign(new Error(text), code !== undefined && { code }));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('no error names fields or options to a person in the window', () => {
  const errors = answering.flatMap((folder) =>
    readdirSync(join(main, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .flatMap((name) => errorsOf(join(main, folder, name))),
  );
  expect(errors.length).toBeGreaterThan(100);
  const naming = errors.map(readable).filter((text) => /\bparameters\.|(?:^|[\s(])--[a-z]/.test(text));
  expect(naming).toEqual([]);
});

// Plants a fault for each kind of rule where the tree would have it, and lints with the tree's own configuration.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const projectRoot = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

interface Finding {
  readonly code?: string;
  readonly message: string;
  readonly filename: string;
}

/** The rule that finds it, where it stands, and the fault. */
const planted: readonly (readonly [rule: string, path: string, source: string])[] = [
  // The compiler.
  ['typescript(TS2322)', 'main/a/types.ts', 'export const count: number = "one";'],
  ['typescript(TS6133)', 'main/a/unused-local.ts', 'export function f(): void {\n  const unused = 1;\n}'],
  // Rules that read one file.
  ['eslint(no-unused-vars)', 'main/a/unused.ts', 'const unused = 1;\nexport const used = 2;'],
  ['eslint(prefer-const)', 'main/a/prefer-const.ts', 'let one = 1;\nexport const two = one + 1;'],
  ['eslint(no-empty-function)', 'main/a/empty.ts', 'export function empty(): void {}'],
  ['eslint(no-control-regex)', 'main/a/control.ts', 'export const control = /\\u0001/;'],
  ['eslint(no-undef)', 'docs/site/undefined.mjs', 'console.log(notDefined);'],
  [
    'eslint(no-unsafe-optional-chaining)',
    'main/a/chain.ts',
    'export const f = (x?: { y: string[] }) => (x?.y as string[]).length;',
  ],
  ['typescript(no-explicit-any)', 'main/a/any.ts', 'export const f = (x: any): void => void x;'],
  ['typescript(no-non-null-assertion)', 'main/a/non-null.ts', 'export const f = (x?: string) => x!;'],
  [
    'typescript(consistent-type-imports)',
    'main/a/type-import.ts',
    "import { Buffer } from 'node:buffer';\nexport type Bytes = Buffer;",
  ],
  [
    'typescript(ban-ts-comment)',
    'main/a/comment.ts',
    '// @ts-expect-error why\nexport const x: number = "";',
  ],
  // Rules that ask the types.
  [
    'typescript(no-floating-promises)',
    'main/a/floating.ts',
    'const f = async () => await Promise.resolve();\nexport const g = () => {\n  f();\n};',
  ],
  [
    'typescript(no-misused-promises)',
    'main/a/misused.ts',
    'const f = async () => await Promise.resolve(true);\nexport const g = () => (f() ? 1 : 2);',
  ],
  ['typescript(no-unsafe-assignment)', 'main/a/unsafe.ts', 'export const x: string = JSON.parse("1");'],
  [
    'typescript(no-unsafe-member-access)',
    'main/a/member.ts',
    'export const x = JSON.parse("1").a as string;',
  ],
  [
    'typescript(switch-exhaustiveness-check)',
    'main/a/switch.ts',
    'export function f(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n      console.log(x);\n  }\n}',
  ],
  [
    'typescript(restrict-template-expressions)',
    'main/a/template.ts',
    'export const f = (x: object | null) => `${x}`;',
  ],
  ['typescript(no-unnecessary-condition)', 'main/a/condition.ts', 'export const f = (x: string) => x ?? "";'],
  [
    'typescript(no-deprecated)',
    'main/a/deprecated.ts',
    '/** @deprecated of old */\nconst old = 1;\nexport const x = old;',
  ],
  [
    'typescript(return-await)',
    'main/a/return-await.ts',
    'const f = async () => await Promise.resolve(1);\nexport async function g(): Promise<number> {\n  try {\n    return f();\n  } catch {\n    return 2;\n  }\n}',
  ],
  ['typescript(only-throw-error)', 'main/a/throw.ts', 'export function f(): void {\n  throw "text";\n}'],
  ['typescript(require-await)', 'main/a/await.ts', 'export const f = async () => 1;'],
  [
    'typescript(unbound-method)',
    'main/a/unbound.ts',
    'class A {\n  #x = 1;\n  f(): number {\n    return this.#x;\n  }\n}\nexport const g = new A().f;',
  ],
  ['typescript(dot-notation)', 'main/a/dot.ts', 'export const f = (x: { y: string }) => x["y"];'],
  // Rules of this tree alone.
  [
    'eslint(no-restricted-imports)',
    'main/a/import.ts',
    "import { join } from 'path';\nexport const x = join('a');",
  ],
  ['import(no-default-export)', 'main/a/default.ts', 'export default 1;'],
  ['eslint(no-restricted-properties)', 'main/a/env.ts', "export const x = process.env['HOME'];"],
  ['eslint(no-restricted-properties)', 'main/a/exit.ts', 'export const x = () => process.exit(1);'],
  [
    'eslint(no-restricted-globals)',
    'main/a/interval.ts',
    'export const x = (f: () => void) => setInterval(f, 1);',
  ],
  ['keyhearth(owned-work)', 'main/a/timer.ts', 'export const x = (f: () => void) => setTimeout(f, 1);'],
  [
    'keyhearth(owned-work)',
    'main/a/listener.ts',
    'export const x = (f: () => void, g: NodeJS.EventEmitter) => g.once("a", f);',
  ],
  ['keyhearth(no-retired-words)', 'main/a/word.ts', 'export const makeCarrier = 1;'],
  ['keyhearth(no-retired-words)', 'test/a/comment-word.ts', '// The notary.\nexport const x = 1;'],
  ['keyhearth(nominal-class)', 'main/a/class.ts', 'export class Open {\n  readonly x = 1;\n}'],
  // The window.
  [
    'react-hooks(rules-of-hooks)',
    'renderer/a/hook.tsx',
    "import { useState } from 'react';\nexport function A({ x }: { x: boolean }) {\n  if (x) useState(1);\n  return null;\n}",
  ],
  [
    'react-hooks(exhaustive-deps)',
    'renderer/a/dependencies.tsx',
    "import { useEffect } from 'react';\nexport function A({ x }: { x: string }) {\n  useEffect(() => {\n    document.title = x;\n  }, []);\n  return null;\n}",
  ],
  [
    'react(set-state-in-effect)',
    'renderer/a/effect.tsx',
    "import { useEffect, useState } from 'react';\nexport function A({ x }: { x: string }) {\n  const [y, setY] = useState(x);\n  useEffect(() => {\n    setY(x);\n  }, [x]);\n  return y;\n}",
  ],
  [
    'react(refs)',
    'renderer/a/ref.tsx',
    "import { useRef } from 'react';\nexport function A() {\n  const x = useRef(1);\n  return x.current;\n}",
  ],
  [
    'keyhearth(no-literal-string)',
    'renderer/a/markup.tsx',
    'export const Page = () => <p>Not translated yet</p>;',
  ],
  [
    'keyhearth(no-literal-string)',
    'renderer/a/template.tsx',
    'export const f = (name: string) => `The wallet ${name} is new`;',
  ],
];

/** Of a fault that is excused, and of an excuse that nothing needs. */
const excused = 'main/a/excused.ts';
const excuse = 'main/a/excuse.ts';

let root: string;
let findings: readonly Finding[];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'keyhearth-lint-'));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  };
  for (const path of ['.gitignore', 'oxlint.config.ts', 'tsconfig.json', 'test/project/lint/rules.js']) {
    cpSync(join(projectRoot, path), join(root, path));
  }
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  put('package.json', '{ "type": "module" }');
  for (const [, path, source] of planted) put(path, source);
  put(
    excused,
    '// oxlint-disable-next-line typescript/no-explicit-any -- a test\nexport const f = (x: any): void => void x;',
  );
  put(excuse, '// oxlint-disable-next-line typescript/no-explicit-any -- a test\nexport const x = 1;');
  const bin = join(projectRoot, 'node_modules/oxlint/bin/oxlint');
  const { stdout } = await run(process.execPath, [bin, '--format', 'json'], { cwd: root }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  findings = (JSON.parse(stdout) as { readonly diagnostics: readonly Finding[] }).diagnostics;
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const foundIn = (path: string): readonly string[] =>
  findings.filter(({ filename }) => filename === path).map(({ code, message }) => code ?? message);

describe('npm run check:lint', () => {
  test.each(planted)('%s finds the fault in %s', (rule, path) => {
    expect(foundIn(path)).toContain(rule);
  });

  test('accepts a fault that a comment excuses, and no comment that excuses nothing', () => {
    expect(foundIn(excused)).toEqual([]);
    expect(foundIn(excuse)).toHaveLength(1);
  });
});

import { builtinModules } from 'node:module';
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import i18next from 'eslint-plugin-i18next';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const typescript = ['**/*.ts', '**/*.tsx'];

/** Matches text that is not for people: no two words in a row, and no single one that begins with a capital. */
const noProse = /^(?![\s\S]*(\p{L}[’')”]?[,.:;!?…]? +[“(]?(\p{L}{2}|a |I ))|\p{Lu}\p{Ll}+[.…?!]?$)[\s\S]*$/u;

/** Never shown: in markup, in calls and in objects. */
const codeAttributes = [
  ...[
    'className',
    'style',
    'type',
    'key',
    'id',
    'href',
    'to',
    'path',
    'back',
    'i18nKey',
    'data-.*',
    'd',
    'viewBox',
  ],
  ...['variant', 'size', 'c', 'color', 'bg', 'ff', 'gap', 'justify', 'align', 'mb', 'mt'],
  ...['autoComplete', 'autoCapitalize', 'aria-keyshortcuts'],
];
const codeCalls = [
  ...['t', '(Type)?Error', '.*Error', 'queryApi', 'useSubmit', 'useCall', 'freeName'],
  ...[
    'querySelector(All)?',
    'closest',
    'matches',
    'getElementById',
    '(add|remove)EventListener',
    '(get|set)Item',
  ],
  ...[
    'includes',
    'startsWith',
    'endsWith',
    'indexOf',
    'replace(All)?',
    'split',
    'join',
    'has',
    'get',
    'set',
    '.*\\.hide',
  ],
];
const codeProperties = [
  ...[
    '[A-Z_-]+',
    'className',
    'operation',
    'type',
    'result',
    'fontFamily',
    'key',
    'condition',
    'consensus',
    'id',
  ],
];

/** Calls that have work done with no caller to catch what it throws, and the place of that work among their arguments. */
const callers = new Map([
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map((name) => [name, 0]),
  ...['on', 'once', 'addListener', 'prependListener', 'prependOnceListener'].map((name) => [name, 1]),
]);

/** Work that names the owner of its faults: a call of `owned`, a name for one, or the end of a promise. */
function isOwned(scope, work) {
  if (work.type === 'CallExpression') return work.callee.name === 'owned';
  if (work.type !== 'Identifier') return false;
  if (['resolve', 'reject'].includes(work.name)) return true;
  for (let at = scope; at !== null; at = at.upper) {
    const definition = at.set.get(work.name)?.defs[0]?.node;
    if (definition !== undefined) return definition.init?.callee?.name === 'owned';
  }
  return false;
}

const ownedWork = {
  create: (context) => ({
    CallExpression(node) {
      const { callee } = node;
      const name = callee.type === 'MemberExpression' ? callee.property.name : callee.name;
      const place = callers.get(name);
      if (place === undefined || (place === 1) !== (callee.type === 'MemberExpression')) return;
      const work = node.arguments[place];
      const [first] = context.sourceCode
        .getScope(callee)
        .references.filter(({ identifier }) => identifier === callee);
      // Of node:timers/promises, which returns a promise to await.
      if (work === undefined || first?.resolved?.defs[0]?.type === 'ImportBinding') return;
      if (isOwned(context.sourceCode.getScope(node), work)) return;
      context.report({
        node: work,
        message: 'Write owned(work, onFault) of main/lib/faults.ts: a fault here would end the process.',
      });
    },
  }),
};

/** Words that the code no longer uses, and the word of the glossary in ARCHITECTURE.md. */
const retiredWords = new Map([
  ['bridge', 'rpc; only Electron’s preload bridge is one'],
  ['notary', 'log signer'],
  ['carrier', 'transport'],
  ['drill', 'verify or test of a backup'],
  ['ballot', 'vote'],
  ['hasten', 'retryNow'],
  ['draw', 'generate, or choose where it is one of several'],
  ['owner proof', 'step-up'],
  ['carry out', 'execute or run'],
  ['carries out', 'executes or runs'],
  ['carried out', 'executed or run'],
]);

/** Comments and names are split into words: `makeCarrier` has the word of `a carrier`. */
const wordsOf = (text) =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[\s*_/-]+/g, ' ')
    .toLowerCase()
    .replaceAll(/(context|preload) bridge|owner proof required/g, '');

const noRetiredWords = {
  create: ({ report, sourceCode }) => ({
    Program({ tokens, comments }) {
      const names = tokens.filter(({ type }) => ['Identifier', 'PrivateIdentifier'].includes(type));
      for (const node of [...comments, ...names]) {
        const words = wordsOf(sourceCode.getText(node));
        for (const [word, instead] of retiredWords) {
          if (new RegExp(`\\b${word}s?\\b`).test(words)) {
            report({ loc: node.loc, message: `"${word}" is a retired word: say ${instead}.` });
          }
        }
      }
    },
  }),
};

export default defineConfig(
  globalIgnores(['dist/', 'release/', 'test/output/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
  js.configs.recommended,
  {
    files: typescript,
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { ignoreRestSiblings: true, ignoreUsingDeclarations: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // Property access follows the compiler's own rule for index signatures.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      'no-restricted-imports': [
        'error',
        {
          paths: builtinModules
            .filter((name) => !name.startsWith('node:'))
            .map((name) => ({ name, message: `Write "node:${name}".` })),
        },
      ],
    },
  },
  {
    files: ['main/**/*.ts', 'preload/**/*.ts', 'renderer/**/*.{ts,tsx}', 'test/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', { selector: 'ExportDefaultDeclaration', message: 'Export by name.' }],
    },
  },
  {
    files: ['main/**/*.ts'],
    ignores: ['main/app/config.ts', 'main/start.ts', 'main/packaging/**', '**/*.test.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only main/app/config.ts reads the environment.' },
        {
          object: 'process',
          property: 'exit',
          message: 'Close what is open and let the process end; set process.exitCode.',
        },
      ],
    },
  },
  {
    files: ['main/**/*.ts', 'renderer/**/*.{ts,tsx}', 'test/**/*.ts', 'preload/contract.ts'],
    plugins: { words: { rules: { 'no-retired': noRetiredWords } } },
    rules: { 'words/no-retired': 'error' },
  },
  {
    // A command ends with its fault, which it tells; the shell's events have their owner in main/desktop/crash.ts.
    files: ['main/**/*.ts'],
    ignores: [
      ...['main/{cli,index,start}.ts', 'main/commands/**', 'main/desktop/**', 'main/packaging/**'],
      '**/*.test.ts',
    ],
    plugins: { keyhearth: { rules: { 'owned-work': ownedWork } } },
    rules: {
      'keyhearth/owned-work': 'error',
      'no-restricted-globals': [
        'error',
        { name: 'setInterval', message: 'Write every(ms, work, onFault) of main/lib/concurrency/every.ts.' },
      ],
    },
  },
  {
    files: ['main/lib/concurrency/every.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: ['docs/samples/jest/*'],
    languageOptions: {
      globals: Object.fromEntries(
        ['beforeEach', 'expect', 'fetch', 'process', 'test'].map((name) => [name, 'readonly']),
      ),
    },
  },
  { files: ['renderer/**/*.{ts,tsx}'], extends: [reactHooks.configs.flat['recommended-latest']] },
  {
    files: ['renderer/**/*.{ts,tsx}'],
    // Text to paste into a terminal or a program is code.
    ignores: ['**/*.test.ts', 'renderer/features/connect/snippets.ts'],
    plugins: { i18next },
    rules: {
      'i18next/no-literal-string': [
        'error',
        {
          mode: 'all',
          message: 'Say it with t() or <Trans>',
          'should-validate-template': true,
          'jsx-components': { exclude: ['Trans', 'Kbd'] },
          'jsx-attributes': { exclude: codeAttributes },
          'object-properties': { exclude: codeProperties },
          callees: { exclude: codeCalls },
          words: {
            exclude: [
              noProse,
              'Keyhearth',
              'Keyhearth window',
              'English',
              'Esc',
              'Ctrl',
              /sans-serif$|monospace$/,
              /^Content-Type: /,
            ],
          },
        },
      ],
    },
  },
);

import { builtinModules } from 'node:module';
import { defineConfig } from 'oxlint';

/** ESLint's recommended rules, for every file. */
const basic = `
  constructor-super for-direction getter-return no-async-promise-executor no-case-declarations no-class-assign
  no-compare-neg-zero no-cond-assign no-const-assign no-constant-binary-expression no-constant-condition no-control-regex
  no-debugger no-delete-var no-dupe-class-members no-dupe-else-if no-dupe-keys no-duplicate-case no-empty
  no-empty-character-class no-empty-pattern no-empty-static-block no-ex-assign no-extra-boolean-cast no-fallthrough
  no-func-assign no-global-assign no-import-assign no-invalid-regexp no-irregular-whitespace no-loss-of-precision
  no-misleading-character-class no-new-native-nonconstructor no-nonoctal-decimal-escape no-obj-calls no-prototype-builtins
  no-redeclare no-regex-spaces no-self-assign no-setter-return no-shadow-restricted-names no-sparse-arrays
  no-this-before-super no-unassigned-vars no-unexpected-multiline no-unreachable no-unsafe-finally no-unsafe-negation
  no-unsafe-optional-chaining no-unused-labels no-unused-private-class-members no-useless-assignment no-useless-backreference
  no-useless-catch no-useless-escape no-with preserve-caught-error require-yield use-isnan valid-typeof`;

/** typescript-eslint's strict and stylistic rules, those included that ask the types. */
const typed = `
  await-thenable ban-ts-comment no-array-delete no-base-to-string no-confusing-void-expression
  no-deprecated no-duplicate-enum-values no-duplicate-type-constituents no-dynamic-delete no-empty-object-type no-explicit-any
  no-extra-non-null-assertion no-extraneous-class no-floating-promises no-for-in-array no-generated-empty-object-type
  no-implied-eval no-invalid-void-type no-meaningless-void-operator no-misused-new no-misused-promises no-misused-spread
  no-mixed-enums no-namespace no-non-null-asserted-nullish-coalescing no-non-null-asserted-optional-chain
  no-non-null-assertion no-redundant-type-constituents no-require-imports no-this-alias no-unnecessary-boolean-literal-compare
  no-unnecessary-condition no-unnecessary-template-expression no-unnecessary-type-arguments no-unnecessary-type-assertion
  no-unnecessary-type-constraint no-unnecessary-type-conversion no-unnecessary-type-parameters no-unsafe-argument
  no-unsafe-assignment no-unsafe-call no-unsafe-declaration-merging no-unsafe-enum-assignment no-unsafe-enum-comparison
  no-unsafe-function-type no-unsafe-member-access no-unsafe-return no-unsafe-unary-minus no-useless-default-assignment
  no-wrapper-object-types only-throw-error prefer-as-const prefer-literal-enum-member prefer-namespace-keyword
  prefer-promise-reject-errors prefer-reduce-type-parameter prefer-return-this-type related-getter-setter-pairs require-await
  restrict-plus-operands return-await triple-slash-reference unbound-method unified-signatures
  use-unknown-in-catch-callback-variable adjacent-overload-signatures array-type ban-tslint-comment
  class-literal-property-style consistent-generic-constructors consistent-indexed-object-style consistent-type-assertions
  consistent-type-definitions no-confusing-non-null-assertion no-inferrable-types
  non-nullable-type-assertion-style prefer-find prefer-for-of prefer-function-type prefer-includes prefer-nullish-coalescing
  prefer-optional-chain prefer-regexp-exec prefer-string-starts-ends-with`;

const react = `
  rules-of-hooks exhaustive-deps static-components use-memo void-use-memo preserve-manual-memoization incompatible-library
  immutability globals refs set-state-in-effect error-boundaries purity set-state-in-render unsupported-syntax`;

/** @returns the rules of a list, each an error. */
const on = (names: string, plugin = ''): Record<string, 'error'> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [plugin + name, 'error']),
  );

export default defineConfig({
  plugins: ['typescript', 'react', 'import'],
  jsPlugins: ['./test/project/lint/rules.js'],
  categories: { correctness: 'off' },
  options: { typeAware: true, typeCheck: true, maxWarnings: 0, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['dist/', 'release/', 'test/output/'],
  rules: {
    ...on(basic),
    'no-undef': 'error',
    'no-unused-vars': ['error', { ignoreRestSiblings: true, ignoreUsingDeclarations: true }],
  },
  env: { builtin: true },
  overrides: [
    {
      files: ['**/*.ts', '**/*.tsx'],
      rules: {
        'no-undef': 'off',
        ...on(typed, 'typescript/'),
        ...on('no-var prefer-const prefer-rest-params prefer-spread'),
        ...on('no-array-constructor no-unused-expressions no-useless-constructor no-empty-function'),
        'typescript/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
        'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
        'typescript/restrict-plus-operands': [
          'error',
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowNumberAndString: false,
            allowRegExp: false,
          },
        ],
        'typescript/restrict-template-expressions': [
          'error',
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowRegExp: false,
            allowNumber: true,
            allow: [{ name: ['Error', 'URL', 'URLSearchParams'], from: 'lib' }],
          },
        ],
        'typescript/return-await': ['error', 'error-handling-correctness-only'],
        'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
        // Property access follows the compiler's own rule for index signatures.
        'typescript/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
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
      rules: { 'import/no-default-export': 'error' },
    },
    {
      files: ['main/**/*.ts'],
      excludeFiles: ['main/app/config.ts', 'main/start.ts', 'main/packaging/**', '**/*.test.ts'],
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
      rules: { 'keyhearth/no-retired-words': 'error' },
    },
    {
      // A command ends with its fault, which it tells; the shell's events have their owner in main/desktop/crash.ts.
      files: ['main/**/*.ts'],
      excludeFiles: [
        ...['main/{cli,index,start}.ts', 'main/commands/**', 'main/desktop/**', 'main/packaging/**'],
        '**/*.test.ts',
      ],
      rules: {
        'keyhearth/owned-work': 'error',
        'no-restricted-globals': [
          'error',
          {
            name: 'setInterval',
            message: 'Write every(ms, work, onFault) of main/lib/concurrency/every.ts.',
          },
        ],
      },
    },
    {
      files: ['main/lib/concurrency/every.ts'],
      rules: { 'no-restricted-globals': 'off' },
    },
    {
      files: ['main/**/*.ts', 'preload/**/*.ts', 'renderer/**/*.{ts,tsx}'],
      excludeFiles: ['**/*.test.ts'],
      rules: { 'keyhearth/nominal-class': 'error' },
    },
    {
      files: ['docs/samples/jest/*'],
      globals: Object.fromEntries(
        ['beforeEach', 'expect', 'fetch', 'module', 'process', 'require', 'test'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
    { files: ['renderer/**/*.{ts,tsx}'], rules: on(react, 'react/') },
    {
      files: ['renderer/**/*.{ts,tsx}'],
      // Text to paste into a terminal or a program is code.
      excludeFiles: ['**/*.test.{ts,tsx}', 'renderer/features/connect/snippets.ts'],
      rules: { 'keyhearth/no-literal-string': 'error' },
    },
  ],
});

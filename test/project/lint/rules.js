// Rules of our own, and i18next's with our options, for oxlint.config.ts.
import i18next from 'eslint-plugin-i18next';

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

const literals = {
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
};

/** The options are fixed here: those of a configuration are JSON, which has no regular expressions. */
const noLiteralString = {
  create: (context) =>
    i18next.rules['no-literal-string'].create({
      options: [literals],
      sourceCode: context.sourceCode,
      parserServices: {},
      report: (found) => context.report(found),
    }),
};

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

/**
 * Types are compared by their members, so that an object which only looks alike passes for an instance, unless the class has a
 * member that is not public. A class that extends another of ours has its.
 */
const nominalClass = {
  create: (context) => ({
    'ExportNamedDeclaration > ClassDeclaration'(node) {
      if (node.superClass !== null && node.superClass.name !== 'Error') return;
      const isHidden = ({ key, accessibility }) =>
        key?.type === 'PrivateIdentifier' || ['private', 'protected'].includes(accessibility);
      if (node.body.body.some(isHidden)) return;
      context.report({
        node: node.id,
        message: `Write declare protected readonly brand: '${node.id.name}': an object that looks alike would pass for one.`,
      });
    },
  }),
};

export default {
  meta: { name: 'keyhearth' },
  rules: {
    'no-literal-string': noLiteralString,
    'nominal-class': nominalClass,
    'owned-work': ownedWork,
    'no-retired-words': noRetiredWords,
  },
};

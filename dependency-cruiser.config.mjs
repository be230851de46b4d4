// Allowed imports, as data. An import that is not allowed here is an error; each message says what is allowed.

// One row per folder of main/: which others it may import. A folder within a folder that has a row of its own is not part of
// the outer one, here as in what is allowed.
const layers = {
  lib: [],
  crypto: ['lib/'],
  policy: ['crypto/encodings.ts', 'lib/'],
  // New files in directories that are not ours alone, and why a disk does not take one.
  files: ['lib/'],
  // Requests to other machines, and how many connections come in.
  net: ['lib/'],
  // The message bus of Linux desktops.
  bus: ['lib/'],
  // The socket over which the owner's own commands speak to the service.
  control: ['net/connections.ts', 'lib/'],
  storage: ['files/', 'crypto/', 'lib/'],
  // Rows that authenticate themselves, over all tables.
  'storage/integrity': ['storage/', 'crypto/', 'lib/'],
  auth: ['net/', 'crypto/', 'storage/', 'lib/', 'preload/contract.ts'],
  keys: ['bus/', 'storage/integrity/', 'crypto/', 'storage/', 'lib/', 'preload/contract.ts'],
  audit: ['crypto/', 'storage/', 'keys/', 'lib/', 'preload/contract.ts'],
  // Outgoing deliveries: the queue, and each kind of delivery.
  'delivery/queue': ['crypto/', 'storage/', 'lib/'],
  'delivery/messages': ['delivery/queue/', 'crypto/', 'storage/', 'net/', 'lib/', 'preload/contract.ts'],
  'delivery/webhooks': ['delivery/queue/', 'crypto/', 'storage/', 'net/', 'lib/'],
  settings: ['storage/', 'lib/', 'preload/contract.ts'],
  'self-test': [
    'files/',
    'keys/',
    'storage/integrity/',
    'storage/',
    'chains/',
    'crypto/',
    'lib/',
    'preload/contract.ts',
  ],
  chains: ['policy/', 'crypto/', 'lib/'],
  backup: [
    'files/',
    'keys/',
    'storage/integrity/',
    'storage/',
    'chains/',
    'crypto/',
    'lib/',
    'preload/contract.ts',
  ],
  activities: ['policy/', 'storage/', 'crypto/', 'lib/'],
  operations: ['activities/define.ts', 'policy/', 'chains/', 'storage/', 'crypto/', 'lib/'],
  http: ['activities/', 'auth/', 'files/', 'net/connections.ts', 'lib/', 'preload/contract.ts'],
  // The owner's nodes, one for each chain.
  nodes: [
    'net/',
    'keys/keyring.ts',
    'chains/ethereum/',
    'chains/addresses/ethereum.ts',
    'chains/tokens.ts',
    'storage/',
    'crypto/',
    'lib/',
  ],
  // Programs of other protocols: each door turns them into requests of the API.
  doors: [
    'http/handle.ts',
    'http/waiters.ts',
    'http/door-routes.ts',
    'auth/make-stamp.ts',
    'control/socket-path.ts',
    'net/connections.ts',
    'keys/keyring.ts',
    'chains/ssh/',
    'chains/ethereum/',
    'chains/addresses/ethereum.ts',
    'chains/reading.ts',
    'chains/origin.ts',
    'nodes/',
    'operations/api.ts',
    'storage/',
    'crypto/',
    'lib/',
    'preload/contract.ts',
  ],
  commands: [
    'app/',
    'rpc/',
    'audit/',
    'backup/',
    'control/',
    'files/',
    'keys/',
    'net/',
    'policy/',
    'self-test/',
    'storage/integrity/',
    'storage/',
    'chains/',
    'crypto/',
    'lib/',
    'http/dev/',
    'doors/ssh/messages.ts',
    'operations/api.ts',
    'preload/contract.ts',
  ],
  // Programs that are copied out of the project, and run without it.
  standalone: [],
  // Builds packages, and runs first in them: with hardly any code of the product.
  packaging: ['lib/', 'app/parent.ts', 'app/home-directory.ts', 'desktop/updates/update-key.ts'],
  desktop: ['app/', 'rpc/', 'bus/', 'files/', 'lib/', 'commands/shared/client.ts', 'preload/contract.ts'],
};

// The folders, and files, that may use each package that reaches outside.
const packages = {
  '@node-rs/argon2': ['main/keys/'],
  '@clack/prompts': ['main/commands/shared/prompts.ts'],
  'bcrypt-pbkdf': ['main/lib/'],
  'better-sqlite3': ['main/storage/'],
  commander: ['main/commands/', 'main/cli.ts'],
  'electron-updater': ['main/desktop/'],
  electron: ['main/desktop/', 'main/index.ts', 'preload/index.ts'],
  express: ['main/http/'],
  'fast-string-width': ['main/commands/'],
  '@modelcontextprotocol/sdk': ['main/doors/mcp/'],
  jose: ['main/auth/'],
  nodemailer: ['main/delivery/messages/'],
  keytar: ['main/keys/'],
  'shamir-secret-sharing': ['main/keys/'],
};

// Packages that the bundles contain. An installed command has them there, so they are dev dependencies.
const bundled = [
  '@clack/prompts',
  '@hpke/core',
  '@mantine/core',
  '@mantine/hooks',
  '@mantine/notifications',
  '@modelcontextprotocol/sdk',
  '@noble/ciphers',
  '@noble/curves',
  '@noble/hashes',
  '@scure/base',
  '@scure/bip32',
  '@simplewebauthn/server',
  '@tabler/icons-react',
  '@tanstack/react-query',
  '@tanstack/react-virtual',
  '@zxcvbn-ts/core',
  '@zxcvbn-ts/language-common',
  '@zxcvbn-ts/language-en',
  'bcrypt-pbkdf',
  'bip39',
  'commander',
  'electron-updater',
  'express',
  'fast-string-width',
  'get-nonce',
  'jose',
  'nodemailer',
  'qr',
  'react',
  'react-dom',
  'shamir-secret-sharing',
  'wouter',
  'zod',
];

// The code that composes the layers, and the window's calls: everything but the shells around it.
const composed = Object.keys(layers)
  .filter((name) => !['desktop', 'commands', 'standalone', 'packaging'].includes(name))
  .map((name) => `${name}/`);
Object.assign(layers, {
  app: [...composed, 'rpc/', 'preload/contract.ts'],
  rpc: [...composed, 'app/', 'preload/contract.ts'],
});
const folders = Object.keys(layers);

// One row per file beside the folders: the entries.
const entries = {
  'cli.ts': ['commands/', 'lib/', 'app/', 'packaging/newer-node.ts'],
  'index.ts': ['desktop/', 'lib/', 'app/', 'rpc/', 'keys/erasure.ts', 'preload/contract.ts'],
  'start.ts': ['packaging/become.ts'],
};

const test = '[.]test[.]tsx?$';
/** Run beside packages that are installed elsewhere. */
const programs = '^test/vendor/works-with/programs/';
const product = '^(main|renderer|preload)/';

/** @param {string} path A folder ending in a slash, or a file; below main/ unless it names another top folder. */
function pattern(path) {
  const within = folders
    .filter((name) => name.startsWith(path) && `${name}/` !== path)
    .map((name) => `${name.slice(path.length)}/`);
  return `^${/^(main|preload|renderer)\//.test(path) ? '' : 'main/'}${path.replaceAll('.', '[.]')}${
    path.endsWith('/') ? (within.length > 0 ? `(?!${within.join('|')})` : '') : '$'
  }`;
}

const rule = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });

const layerRule = (from, allowed, self = []) =>
  rule(
    `${from.replace(/\/$/, '').replaceAll('/', '-')}-imports-only-its-layers`,
    `main/${from} may import ${[...self.map(() => 'itself'), ...allowed].join(', ') || 'nothing of the project'}.`,
    { path: pattern(from), pathNot: test },
    { path: '^(main|renderer|preload|test)/', pathNot: [...self, ...allowed].map(pattern) },
  );

const packageRule = ([name, holders]) =>
  rule(
    `${name.replaceAll('/', '-')}-has-a-place`,
    `Only ${holders.join(', ')} may import ${name}.`,
    { path: product, pathNot: [test, ...holders.map(pattern)] },
    { path: `(^|/)node_modules/${name}(/|$)|^${name}$` },
  );

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(layers).map(([name, allowed]) => layerRule(`${name}/`, allowed, [`${name}/`])),
    ...Object.entries(entries).map(([name, allowed]) => layerRule(name, allowed)),
    rule(
      'undeclared-folder',
      `main/ has the folders ${folders.join(', ')}; a new one needs a row in the table of layers.`,
      { path: `^main/(?!(${folders.join('|')})/)[^/]+/` },
      {},
    ),
    rule(
      'undeclared-file',
      `Beside its folders main/ has the files ${Object.keys(entries).join(', ')}; a new one needs a row in the table.`,
      { path: '^main/[^/]+$', pathNot: [test, ...Object.keys(entries).map(pattern)] },
      {},
    ),
    ...Object.entries(packages).map(packageRule),
    rule(
      'start-stands-alone',
      'main/start.ts runs before anything is built and may import Node’s own modules, and what takes its place.',
      { path: '^main/(start|packaging/become|app/parent)[.]ts$' },
      { dependencyTypesNot: ['core'], pathNot: '^main/(packaging/become|app/parent)[.]ts$' },
    ),
    rule(
      'renderer-sees-only-the-contract',
      'renderer/ may import itself, preload/contract.ts, the types of the API, what shows foreign text, the texts of policies, the reader of key files and of what waits for approval; all else goes through the rpc.',
      { path: '^renderer/', pathNot: test },
      {
        path: '^main/(?!lib/(text/|policies/|key-files/|published-limits[.]ts$|web/needed-approvals[.]ts$)|operations/api[.]ts$)|^test/|^preload/(?!contract[.]ts$)',
      },
    ),
    rule(
      'clients-see-types-of-the-api',
      'What describes the operations to the window, the commands and the doors is types alone: nothing of them is bundled.',
      { path: '^(renderer|main/commands|main/doors)/', pathNot: test },
      { path: '^main/operations/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'renderer-has-no-node',
      'The window runs in a browser.',
      { path: '^renderer/', pathNot: test },
      { dependencyTypes: ['core'] },
    ),
    rule(
      'preload-sees-only-itself',
      'preload/ may import itself, and types of main/.',
      { path: '^preload/', pathNot: test },
      { path: '^(main|renderer|test)/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'pure-has-no-io',
      'Of Node’s modules main/crypto/, main/policy/ and main/lib/ may import node:crypto and node:buffer alone.',
      { path: '^main/(crypto|policy|lib(?!/concurrency))/', pathNot: test },
      { dependencyTypes: ['core'], pathNot: '^(node:)?(buffer|crypto)$' },
    ),
    rule(
      'concurrency-has-threads',
      'Of Node’s modules main/lib/concurrency/ may import node:worker_threads alone.',
      { path: '^main/lib/concurrency/', pathNot: test },
      { dependencyTypes: ['core'], pathNot: '^(node:)?worker_threads$' },
    ),
    rule(
      'programs-need-no-window',
      'Node runs these programs as they are written, and runs no .tsx file: what they share with the window stands in .ts files.',
      {
        path: '^(main/(cli|index)|test/(bench/bench|project/[^/]+)|main/packaging/[^/]+)[.]ts$',
        pathNot: test,
      },
      { path: '[.]tsx$', reachable: true },
    ),
    rule('tests-are-not-imported', 'What two tests share is in test/support/.', {}, { path: test }),
    rule('no-cycles', 'Move what both need to a lower layer.', {}, { circular: true }),
    rule(
      'no-orphans',
      'A file that imports nothing and that nothing imports is dead.',
      { orphan: true, pathNot: [test, '[.]d[.]ts$'] },
      {},
    ),
    rule(
      'bundled-packages',
      'What the product imports is in the list of what its bundles hold, or left outside of them and under "dependencies".',
      { path: product, pathNot: [test, '^main/packaging/'] },
      {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: `node_modules/(electron|@types|${bundled.join('|')})/`,
      },
    ),
    rule(
      'no-undeclared-packages',
      'A package is under "dependencies" or "devDependencies" in package.json. Programs that others would write have their own.',
      { pathNot: programs },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    rule('unresolvable', 'The import leads nowhere.', { pathNot: programs }, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'require', 'types', 'default'],
    },
    cache: { folder: 'node_modules/.cache/dependency-cruiser', strategy: 'content' },
  },
};

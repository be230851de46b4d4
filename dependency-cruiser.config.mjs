// Who may import whom, as data. Whatever is not allowed here is an error; each message says what is allowed.

// One row per folder of main/: which other folders and files it may import.
const layers = {
  lib: [],
  crypto: ['lib/'],
  policy: ['lib/'],
  // New files in directories that are not ours alone, and why a disk does not take one.
  files: ['lib/'],
  // The message bus of Linux desktops.
  bus: ['lib/'],
  // The socket over which the owner's own commands speak to the service.
  control: ['lib/'],
  db: ['files/', 'crypto/', 'lib/'],
  // Rows that authenticate themselves, over all of db/.
  integrity: ['db/', 'crypto/', 'lib/'],
  auth: ['crypto/', 'db/', 'lib/', 'preload/contract.ts'],
  keyslots: ['bus/', 'integrity/', 'crypto/', 'db/', 'lib/', 'preload/contract.ts'],
  audit: ['crypto/', 'db/', 'keyslots/', 'lib/', 'preload/contract.ts'],
  // What leaves the vault by itself: deliveries in general, and what is delivered.
  outbox: ['crypto/', 'db/', 'lib/'],
  messages: ['outbox/', 'crypto/', 'db/', 'lib/', 'preload/contract.ts'],
  webhooks: ['outbox/', 'crypto/', 'db/', 'lib/', 'auth/guarded-get.ts'],
  settings: ['db/', 'lib/', 'activities/parse.ts', 'preload/contract.ts'],
  'self-test': ['files/', 'keyslots/', 'integrity/', 'db/', 'crypto/', 'lib/', 'preload/contract.ts'],
  chains: ['policy/', 'crypto/', 'lib/'],
  backup: [
    'files/',
    'keyslots/',
    'integrity/',
    'db/',
    'crypto/',
    'lib/',
    'operations/wallet-secrets.ts',
    'preload/contract.ts',
  ],
  activities: ['policy/', 'db/', 'crypto/', 'lib/'],
  operations: ['activities/define.ts', 'policy/', 'chains/', 'db/', 'crypto/', 'lib/'],
  http: ['activities/', 'auth/', 'files/', 'lib/', 'preload/contract.ts'],
  commands: [
    'audit/',
    'backup/',
    'control/',
    'files/',
    'keyslots/',
    'policy/',
    'self-test/',
    'integrity/',
    'db/',
    'crypto/',
    'lib/',
    'http/dev-routes.ts',
    'vault.ts',
    'config.ts',
    'bridge.ts',
    'freeze-signal.ts',
    'preload/contract.ts',
  ],
  // Programs that are copied out of the project, and run without it.
  standalone: [],
  // What makes packages, and what runs in them before anything else: hardly anything of the product.
  packaging: ['lib/', 'desktop/update-key.ts'],
  desktop: [
    'bus/',
    'files/',
    'lib/',
    'vault.ts',
    'config.ts',
    'bridge.ts',
    'commands/client.ts',
    'preload/contract.ts',
  ],
};

// What the folders hold of each package that reaches outside.
const packages = {
  '@node-rs/argon2': ['main/keyslots/'],
  '@clack/prompts': ['main/commands/', 'main/cli.ts'],
  'better-sqlite3': ['main/db/'],
  commander: ['main/commands/', 'main/cli.ts'],
  'electron-updater': ['main/desktop/'],
  electron: ['main/desktop/', 'main/index.ts', 'preload/index.ts'],
  express: ['main/http/'],
  jose: ['main/auth/'],
  nodemailer: ['main/messages/'],
  keytar: ['main/keyslots/'],
  'shamir-secret-sharing': ['main/keyslots/'],
};

const folders = Object.keys(layers);
// What composes the layers: everything but the shells around it.
const composed = folders
  .filter((name) => !['desktop', 'commands', 'standalone', 'packaging'].includes(name))
  .map((name) => `${name}/`);

// One row per file beside the folders.
const entries = {
  'config.ts': ['lib/'],
  'setup.ts': [...composed, 'preload/contract.ts'],
  'about.ts': ['db/migrations.ts', 'preload/contract.ts'],
  'bridge-keyslots.ts': [...composed, 'preload/contract.ts'],
  'freeze.ts': [...composed, 'freeze-marker.ts', 'preload/contract.ts'],
  'freeze-marker.ts': [],
  // Of the processes that serve a vault.
  'freeze-signal.ts': ['lib/', 'preload/contract.ts'],
  'bridge.ts': [
    ...composed,
    'setup.ts',
    'freeze.ts',
    'bridge-keyslots.ts',
    'about.ts',
    'config.ts',
    'preload/contract.ts',
  ],
  'vault.ts': [...composed, 'vault-file.ts', 'bridge.ts', 'setup.ts', 'config.ts', 'preload/contract.ts'],
  'vault-file.ts': ['integrity/', 'db/', 'freeze-marker.ts'],
  'cli.ts': ['commands/', 'lib/', 'config.ts'],
  'index.ts': [
    'desktop/',
    'lib/',
    'vault.ts',
    'config.ts',
    'bridge.ts',
    'freeze-signal.ts',
    'keyslots/erasure.ts',
    'preload/contract.ts',
  ],
  'start.ts': [],
};

const test = '[.]test[.]tsx?$';
const product = '^(main|renderer|preload)/';

/** @param {string} path A folder ending in a slash, or a file; below main/ unless it names another top folder. */
const pattern = (path) =>
  `^${/^(main|preload|renderer)\//.test(path) ? '' : 'main/'}${path.replaceAll('.', '[.]')}${path.endsWith('/') ? '' : '$'}`;

const rule = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });

const layerRule = (from, allowed, self = []) =>
  rule(
    `${from.replace('/', '')}-imports-only-its-layers`,
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
      'main/start.ts runs before anything is built and may import Node’s own modules alone.',
      { path: '^main/start[.]ts$' },
      { dependencyTypesNot: ['core'] },
    ),
    rule(
      'renderer-sees-only-the-contract',
      'renderer/ may import itself, preload/contract.ts and what shows foreign text; all else goes through the bridge.',
      { path: '^renderer/', pathNot: test },
      {
        path: '^main/(?!lib/(visible-text|look-alikes|to-be-signed|published-limits)[.]ts$)|^test/|^preload/(?!contract[.]ts$)',
      },
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
      { path: '^main/(crypto|policy|lib)/', pathNot: test },
      { dependencyTypes: ['core'], pathNot: '^(node:)?(buffer|crypto)$' },
    ),
    rule('tests-are-not-imported', 'What two tests share is in test/support.ts.', {}, { path: test }),
    rule('no-cycles', 'Move what both need to a lower layer.', {}, { circular: true }),
    rule(
      'no-orphans',
      'A file that imports nothing and that nothing imports is dead.',
      { orphan: true, pathNot: [test, '[.]d[.]ts$'] },
      {},
    ),
    rule(
      'no-dev-dependencies-in-product',
      'What the product imports is under "dependencies" in package.json.',
      { path: product, pathNot: [test, '^main/packaging/'] },
      {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/(electron|@types)/',
      },
    ),
    rule(
      'no-undeclared-packages',
      'A package is under "dependencies" or "devDependencies" in package.json.',
      {},
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    rule('unresolvable', 'The import leads nowhere.', {}, { couldNotResolve: true }),
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

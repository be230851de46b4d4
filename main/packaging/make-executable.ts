/**
 * `npm run executable -- [--output DIRECTORY] [--node-license FILE]`: the `keyhearth` command as one file with Node in it, for who has none. It is made of the Node that
 * runs this and of what npm installed here, so it is for this system and processor alone.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { inject } from 'postject';
import { digestOf } from './unpack.ts';

const projectRoot = resolve(import.meta.dirname, '../..');

const isMac = process.platform === 'darwin';

/** The file names of Node-API builds for this machine. Those for musl need a Node built for musl. */
const target = `${process.platform}-${process.arch}`;

/** Marks the place where the program finds its added data. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Files of the build and of the packages beside it, as patterns of their paths in the project. */
const wanted: readonly RegExp[] = [
  // The Electron entry is of no use without Electron.
  /^dist\/main\/(?!index[.]js$)/,
  /^dist\/(renderer|reference|site|standalone)\//,
  /^dist\/about[.]json$/,
  /^node_modules\/@node-rs\/argon2\/(index[.]js|package[.]json|LICENSE)$/,
  new RegExp(`^node_modules/@node-rs/argon2-${target}(-gnu|-musl|-msvc)?/.*[.](node|json)$`),
  new RegExp(`^node_modules/better-sqlite3/(lib/|prebuilds/${target}[.]node$|package[.]json$|LICENSE$)`),
  new RegExp(`^node_modules/keytar/(lib/.*[.]js$|prebuilds/${target}/|package[.]json$|LICENSE)`),
  /^node_modules\/tiny-secp256k1\/(lib\/.*[.](c?js|wasm|json)$|package[.]json$|LICENSE)/,
  /^node_modules\/uint8array-tools\/(src\/.*[.](c?js|json)$|package[.]json$|LICENSE)/,
];

/** The directories that are searched for them. */
const roots = [
  'dist',
  ...['@node-rs', 'better-sqlite3', 'keytar', 'tiny-secp256k1', 'uint8array-tools'].map(
    (name) => `node_modules/${name}`,
  ),
];

async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(join(projectRoot, root), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

/** @returns paths in the project of all that the command loads or serves. @throws Error where a package has no build for this machine. */
async function contents(): Promise<string[]> {
  const all = (await Promise.all(roots.map(filesIn))).flat();
  const files = all.filter((path) => wanted.some((pattern) => pattern.test(path))).sort();
  for (const name of ['@node-rs/argon2', 'better-sqlite3', 'keytar']) {
    if (files.some((path) => path.startsWith(`node_modules/${name}`) && path.endsWith('.node'))) continue;
    throw new Error(`${name} brings no build for ${target}: the executable would not start`);
  }
  return files;
}

/** The first script, as the CommonJS that an executable can hold. */
async function bundleBoot(directory: string): Promise<string> {
  // Of the build's tools this alone is needed, and only here.
  const { build } = await import('vite');
  await build({
    configFile: false,
    root: projectRoot,
    logLevel: 'warn',
    build: {
      ssr: join(projectRoot, 'main/packaging/boot.ts'),
      outDir: directory,
      target: 'node24',
      copyPublicDir: false,
      emptyOutDir: true,
      rolldownOptions: { output: { format: 'cjs', entryFileNames: 'boot.cjs', codeSplitting: false } },
    },
    ssr: { noExternal: true },
  });
  return join(directory, 'boot.cjs');
}

/**
 * Makes the executable. `dist` must be built.
 * @param output the new file.
 */
export async function makeExecutable(output: string): Promise<void> {
  const run = promisify(execFile);
  const directory = await mkdtemp(join(tmpdir(), 'keyhearth-executable-'));
  try {
    const made: Readonly<Record<string, string>> = {
      'load.cjs': 'module.exports = (url) => import(url);\n',
      'package.json': `${JSON.stringify({ type: 'module' })}\n`,
    };
    const assets: Record<string, string> = {};
    const manifest: Record<string, string> = {};
    for (const [name, text] of Object.entries(made)) {
      assets[name] = join(directory, name);
      manifest[name] = digestOf(text);
      await writeFile(assets[name], text);
    }
    for (const path of await contents()) {
      assets[path] = join(projectRoot, path);
      manifest[path] = digestOf(await readFile(join(projectRoot, path)));
    }
    assets['manifest'] = join(directory, 'manifest.json');
    await writeFile(assets['manifest'], JSON.stringify(manifest));
    const blob = join(directory, 'blob');
    const config = join(directory, 'config.json');
    await writeFile(
      config,
      JSON.stringify({
        main: await bundleBoot(join(directory, 'boot')),
        output: blob,
        disableExperimentalSEAWarning: true,
        useSnapshot: false,
        useCodeCache: false,
        // As the app's fuses have it: the environment puts no code into a process that holds keys.
        execArgvExtension: 'none',
        assets,
      }),
    );
    await run(process.execPath, ['--experimental-sea-config', config]);

    await mkdir(dirname(output), { recursive: true });
    await rm(output, { force: true });
    await copyFile(process.execPath, output);
    await chmod(output, 0o755);
    // A signature does not survive what follows.
    if (isMac) await run('codesign', ['--remove-signature', output]);
    await inject(output, 'NODE_SEA_BLOB', await readFile(blob), {
      sentinelFuse: fuse,
      ...(isMac ? { machoSegmentName: 'NODE_SEA' } : {}),
    });
    // Apple's processors run only signed code. The publisher signs it again under a name.
    if (isMac) await run('codesign', ['--sign', '-', output]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes the files beside the command: its completions, and the licenses of its parts. */
async function writeCompanions(executable: string, nodeLicense: string | undefined): Promise<void> {
  const directory = dirname(executable);
  const completions = join(directory, 'completions');
  await mkdir(completions, { recursive: true });
  for (const [shell, file] of [
    ['bash', 'keyhearth.bash'],
    ['zsh', '_keyhearth'],
    ['fish', 'keyhearth.fish'],
  ] as const) {
    const { stdout } = await promisify(execFile)(executable, ['completion', shell]);
    await writeFile(join(completions, file), stdout);
  }
  await copyFile(join(projectRoot, 'LICENSE'), join(directory, 'LICENSE'));
  if (nodeLicense !== undefined) await copyFile(nodeLicense, join(directory, 'LICENSE-node'));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      output: { type: 'string', default: join(projectRoot, 'release', 'command') },
      'node-license': { type: 'string' },
    },
  });
  const executable = join(
    resolve(values.output),
    process.platform === 'win32' ? 'keyhearth.exe' : 'keyhearth',
  );
  await makeExecutable(executable);
  await writeCompanions(executable, values['node-license']);
  process.stdout.write(`${executable}\n`);
}

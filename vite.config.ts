// One `vite build` makes everything that runs: dist/renderer (the window), dist/main (the Electron entry and the
// command, for Node), dist/preload (CommonJS, as a sandboxed preload must be), dist/reference (the code of the API's
// reference page, as its makers built it), dist/site (the documentation) and dist/standalone (programs that run without the rest). `vite` alone serves the window with hot reload in front of a throw-away vault.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';
import { buildSite } from './docs/site/build-site.ts';

const projectRoot = import.meta.dirname;
const dist = join(projectRoot, 'dist');

/** Packages that load a file from beside their own code (a native addon, a wasm module), and Electron's own module. */
const leftInNodeModules = ['@node-rs/argon2', 'better-sqlite3', 'electron', 'keytar', 'tiny-secp256k1'];

const shebang = '#!/usr/bin/env node\n';

/** Makes dist/main/cli.js a program of its own. */
function runnableCommand(): Plugin {
  return {
    name: 'keyhearth:runnable-command',
    apply: 'build',
    applyToEnvironment: (environment) => environment.name === 'main',
    generateBundle(_options, bundle) {
      const command = bundle['cli.js'];
      if (command?.type === 'chunk' && !command.code.startsWith('#!')) command.code = shebang + command.code;
    },
    async writeBundle(_options, bundle) {
      if (bundle['cli.js'] !== undefined) await chmod(join(dist, 'main/cli.js'), 0o755);
    },
  };
}

/**
 * A module that imports `node:http` has Node read each of its exports first. Some of those belong to `fetch`, which Node then
 * loads whole: a third of the processor time of a short command. The builtin itself is the same without.
 */
function httpWithoutFetch(): Plugin {
  return {
    name: 'keyhearth:http-without-fetch',
    apply: 'build',
    applyToEnvironment: (environment) => environment.name === 'main',
    renderChunk(code) {
      const found = code.replaceAll(/^import (.+) from "node:http";$/gm, (_line, names: string) => {
        const target = names.replaceAll(/ as /g, ': ');
        if (!/^(\w+|\{[^}]*\})$/.test(target))
          throw new Error(`"import ${names}" of node:http is of an unknown form`);
        return `var ${target} = process.getBuiltinModule("node:http");`;
      });
      return { code: found, map: null };
    },
  };
}

/** The styles that the entry begins with are the ground on which those of the parts stand, whichever files they are in. */
function groundFirst(): Plugin {
  return {
    name: 'keyhearth:ground-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { chunk }) {
        // The entry's own styles have its name. Styles that it shares with parts may stand beside them.
        const ground = [...(chunk?.viteMetadata?.importedCss ?? [])].filter((file) =>
          file.includes(`/${String(chunk?.name)}-`),
        );
        const links = html.match(/[ \t]*<link rel="stylesheet"[^>]*>\n/g) ?? [];
        const isGround = (link: string): boolean => ground.some((file) => link.includes(file));
        const [first] = links;
        if (first === undefined || !links.some(isGround)) {
          throw new Error('the page has no styles of its own');
        }
        const ordered = [...links.filter(isGround), ...links.filter((link) => !isGround(link))].join('');
        return html
          .replace(first, '\0')
          .replaceAll(/[ \t]*<link rel="stylesheet"[^>]*>\n/g, '')
          .replace('\0', ordered);
      },
    },
  };
}

/** Puts the reference page's code where the port serves it from. */
async function copyReference(): Promise<void> {
  const directory = join(dist, 'reference');
  await mkdir(directory, { recursive: true });
  const main = import.meta.resolve('@scalar/api-reference');
  await copyFile(new URL('browser/standalone.js', main), join(directory, 'scalar.js'));
}

/** Where each build lists the packages that are in it; gathered and removed at the end. */
const licenceList = 'licences.json';
const license = { fileName: licenceList };

interface Licence {
  readonly name: string;
  readonly version: string;
  readonly identifier: string | null;
  readonly text: string;
}

/** Packages that are shipped beside the bundles, with all that they need, as the installation has them. */
async function licencesBeside(names: readonly string[]): Promise<Licence[]> {
  const found = new Map<string, Licence>();
  const visit = async (name: string): Promise<void> => {
    if (found.has(name)) return;
    const directory = join(projectRoot, 'node_modules', name);
    const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => undefined);
    // A binary for another system, or one that is nested and of the same name.
    if (text === undefined) return;
    const manifest = JSON.parse(text) as {
      readonly name: string;
      readonly version: string;
      readonly license?: string;
      readonly dependencies?: Readonly<Record<string, string>>;
      readonly optionalDependencies?: Readonly<Record<string, string>>;
    };
    const files = await readdir(directory);
    const file = files.find((each) => /^(licen[cs]e|copying)/i.test(each));
    found.set(name, {
      name: manifest.name,
      version: manifest.version,
      identifier: manifest.license ?? null,
      text: file === undefined ? '' : await readFile(join(directory, file), 'utf8'),
    });
    for (const each of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      await visit(each);
    }
  };
  for (const name of names) await visit(name);
  return [...found.values()];
}

/** Notes beside the builds what they were built from, for the window to show: each package once. */
async function writeAbout(): Promise<void> {
  const lists = await Promise.all(
    ['renderer', 'main', 'preload'].map(async (name) => {
      const file = join(dist, name, licenceList);
      const list = JSON.parse(await readFile(file, 'utf8').catch(() => '[]')) as readonly Partial<Licence>[];
      await rm(file, { force: true });
      return list.map(({ name: of = '', version = '', identifier = null, text = '' }) => ({
        ...{ name: of, version, identifier, text },
      }));
    }),
  );
  const shipped = [
    ...lists.flat(),
    ...(await licencesBeside([
      ...leftInNodeModules.filter((name) => name !== 'electron'),
      '@scalar/api-reference',
    ])),
  ];
  const each = new Map(shipped.map((licence) => [`${licence.name} ${licence.version}`, licence]));
  const licences = [...each.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
  await writeFile(join(dist, 'about.json'), JSON.stringify({ commit: commitOf(), licences }));
}

/** @returns null outside a repository, as in an archive of the sources. */
function commitOf(): string | null {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : null;
}

/** The first line that `keyhearth dev` prints. */
interface Ready {
  readonly url: string;
  /** The one-time link that gives a browser its session. */
  readonly windowUrl?: string;
}

async function startService(): Promise<{ service: ChildProcess; ready: Ready }> {
  const argv = ['main/cli.ts', 'dev', '--ui', '--port', '0', '--json'];
  const service = spawn(process.execPath, argv, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'inherit'] });
  const ready = await new Promise<Ready>((resolve, reject) => {
    service.once('error', reject);
    service.once('exit', (code) => {
      reject(new Error(`"keyhearth dev" ended with exit code ${String(code)} before it was ready`));
    });
    createInterface(service.stdout).once('line', (line) => {
      resolve(JSON.parse(line) as Ready);
    });
  });
  return { service, ready };
}

/** Starts `keyhearth dev` beside the development server and passes the window's calls on to it. */
function developmentService(): Plugin {
  let running: Awaited<ReturnType<typeof startService>> | undefined;
  return {
    name: 'keyhearth:development-service',
    apply: 'serve',
    async config() {
      running ??= await startService();
      const target = running.ready.url;
      // The service takes its own host and origin only.
      return {
        server: { proxy: { '^/(window|docs)': { target, changeOrigin: true, headers: { origin: target } } } },
      };
    },
    configureServer(server) {
      const { service, ready } = running ?? {};
      server.httpServer?.once('close', () => service?.kill());
      process.once('exit', () => service?.kill());
      service?.once('exit', () => {
        server.config.logger.error('The service has ended; run "npm run dev" again.');
      });
      server.httpServer?.once('listening', () => {
        const { windowUrl } = ready ?? {};
        const base = server.resolvedUrls?.local[0];
        if (windowUrl === undefined || base === undefined) return;
        const link = new URL(windowUrl);
        server.config.logger.info(`  Window: ${new URL(link.pathname + link.search + link.hash, base).href}`);
      });
    },
  };
}

export default defineConfig({
  root: join(projectRoot, 'renderer'),
  cacheDir: join(projectRoot, 'node_modules/.cache/vite'),
  plugins: [react(), groundFirst(), httpWithoutFetch(), runnableCommand(), developmentService()],
  server: { host: '127.0.0.1' },
  build: { emptyOutDir: true, sourcemap: false },
  environments: {
    client: {
      build: {
        outDir: join(dist, 'renderer'),
        license,
        // The content security policy takes scripts and styles from files alone.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        // It is read from this computer, whole.
        chunkSizeWarningLimit: 2000,
      },
    },
    main: {
      consumer: 'server',
      resolve: { noExternal: true, external: leftInNodeModules },
      build: {
        outDir: join(dist, 'main'),
        license,
        // Stacks name the lines of the sources.
        sourcemap: true,
        target: 'node22',
        copyPublicDir: false,
        rolldownOptions: {
          input: {
            index: join(projectRoot, 'main/index.ts'),
            cli: join(projectRoot, 'main/cli.ts'),
            // A thread of its own, so a file of its own.
            'backup-worker': join(projectRoot, 'main/backup/backup-worker.ts'),
            'checkpoint-worker': join(projectRoot, 'main/storage/checkpoint-worker.ts'),
            'integrity-worker': join(projectRoot, 'main/storage/integrity/integrity-worker.ts'),
            'webhooks-worker': join(projectRoot, 'main/delivery/webhooks/webhooks-worker.ts'),
          },
          output: {
            format: 'es',
            entryFileNames: '[name].js',
            chunkFileNames: '[name]-[hash].js',
            sourcemapExcludeSources: true,
            // A package of @simplewebauthn/server's looks for a polyfill that is imported before it.
            strictExecutionOrder: true,
          },
        },
      },
    },
    preload: {
      consumer: 'server',
      resolve: { noExternal: true, external: leftInNodeModules },
      build: {
        outDir: join(dist, 'preload'),
        license,
        target: 'node22',
        copyPublicDir: false,
        rolldownOptions: {
          input: { index: join(projectRoot, 'preload/index.ts') },
          output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
        },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      // A source changed while the build runs is newer than the build.
      const started = new Date();
      for (const environment of Object.values(builder.environments)) {
        if (['client', 'main', 'preload'].includes(environment.name)) await builder.build(environment);
      }
      await copyReference();
      await buildSite(join(dist, 'site'));
      await writeAbout();
      await cp(join(projectRoot, 'main/standalone'), join(dist, 'standalone'), { recursive: true });
      await copyFile(
        join(projectRoot, 'docs/reference/backup-format.md'),
        join(dist, 'standalone/BACKUP-FORMAT.md'),
      );
      const stamp = join(dist, '.built');
      await writeFile(stamp, '');
      await utimes(stamp, started, started);
    },
  },
});

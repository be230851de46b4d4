// One `vite build` makes everything that runs: dist/renderer (the window), dist/main (the Electron entry and the
// command, for Node), dist/preload (CommonJS, as a sandboxed preload must be), dist/reference (the code of the API's
// reference page, as its makers built it) and dist/standalone (programs that run without the rest). `vite` alone serves the window with hot reload in front of a throw-away vault.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

const projectRoot = import.meta.dirname;
const dist = join(projectRoot, 'dist');

/** Packages that load a file from beside their own code (a native addon, a wasm module), and Electron's own module. */
const leftInNodeModules = ['@node-rs/argon2', 'better-sqlite3', 'electron', 'keytar', 'tiny-secp256k1'];

const shebang = '#!/usr/bin/env node\n';

/** Makes dist/main/cli.js a program of its own. */
function runnableCommand(): Plugin {
  return {
    name: 'latchkey:runnable-command',
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

/** Puts the reference page's code where the port serves it from. */
async function copyReference(): Promise<void> {
  const directory = join(dist, 'reference');
  await mkdir(directory, { recursive: true });
  const main = import.meta.resolve('@scalar/api-reference');
  await copyFile(new URL('browser/standalone.js', main), join(directory, 'scalar.js'));
}

/** The first line that `latchkey dev` prints. */
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
      reject(new Error(`"latchkey dev" ended with exit code ${String(code)} before it was ready`));
    });
    createInterface(service.stdout).once('line', (line) => {
      resolve(JSON.parse(line) as Ready);
    });
  });
  return { service, ready };
}

/** Starts `latchkey dev` beside the development server and passes the window's calls on to it. */
function developmentService(): Plugin {
  let running: Awaited<ReturnType<typeof startService>> | undefined;
  return {
    name: 'latchkey:development-service',
    apply: 'serve',
    async config() {
      running ??= await startService();
      const target = running.ready.url;
      // The service takes its own host and origin only.
      return {
        server: { proxy: { '/window': { target, changeOrigin: true, headers: { origin: target } } } },
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
  plugins: [react(), runnableCommand(), developmentService()],
  server: { host: '127.0.0.1' },
  build: { emptyOutDir: true, sourcemap: false },
  environments: {
    client: {
      build: {
        outDir: join(dist, 'renderer'),
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
        target: 'node22',
        copyPublicDir: false,
        rolldownOptions: {
          input: {
            index: join(projectRoot, 'main/index.ts'),
            cli: join(projectRoot, 'main/cli.ts'),
            // A thread of its own, so a file of its own.
            'backup-worker': join(projectRoot, 'main/backup/worker.ts'),
            'webhooks-worker': join(projectRoot, 'main/webhooks/worker.ts'),
          },
          output: {
            format: 'es',
            entryFileNames: '[name].js',
            chunkFileNames: '[name]-[hash].js',
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
      await cp(join(projectRoot, 'main/standalone'), join(dist, 'standalone'), { recursive: true });
      await copyFile(join(projectRoot, 'main/backup/FORMAT.md'), join(dist, 'standalone/BACKUP-FORMAT.md'));
      const stamp = join(dist, '.built');
      await writeFile(stamp, '');
      await utimes(stamp, started, started);
    },
  },
});

import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { quickDirectory } from './test/project/runner/quick-directory.ts';
import { CountsReporter } from './test/project/runner/reporter.ts';
import { LongestFirst } from './test/project/runner/sequencer.ts';

const minute = 60_000;

/** Tests wait for other processes, on a machine that may be busy. */
const patient = { poll: { timeout: minute / 3 } };

/**
 * Node strips the types of our sources in WebAssembly. V8 compiles a faster way from there to JavaScript after so many calls,
 * and ends the process where several threads do so at once (`Check failed: jit_page.has_value()`). The bundles strip nothing.
 */
const execArgv = ['--wasm-wrapper-tiering-budget=2000000000'];

// The files of tests, and the programs that they start, take it from here.
process.env['TMPDIR'] ??= quickDirectory();

/** Shared by all projects. */
const common = {
  execArgv,
  setupFiles: 'test/support/patience.ts',
  expect: patient,
  testTimeout: minute,
  hookTimeout: minute,
};

/** Runs what `vite build` makes. */
const built = { ...common, globalSetup: 'test/support/global-setup.ts' };

/**
 * Of the unit tests, those that need a process of their own: they change what others there would see, or replace a module, which
 * cannot be done once another file there has loaded it.
 */
const alone = globSync('{main,preload,renderer}/**/*.test.{ts,tsx}', { cwd: import.meta.dirname }).filter(
  (file) =>
    file === 'main/packaging/sign-mac.test.ts' ||
    readFileSync(`${import.meta.dirname}/${file}`, 'utf8').includes('vi.mock('),
);

/** The package reads the environment once, while it is loaded: another file there would load it first. */
const readsEnvironment = 'test/vendor/server-actions.test.ts';

// The files of a project that is not isolated share a process, and with it the modules: loading them takes longer than most
// of these files take. A file there leaves nothing behind that another would see.
export default defineConfig(({ mode }) => ({
  cacheDir: 'node_modules/.cache/vitest',
  test: {
    reporters: ['default', new CountsReporter()],
    // `npm run test:long` runs the campaigns at their full length.
    provide: { campaigns: mode === 'long' ? 'full' : 'short' },
    // Two files more than there are processors: the tests of the system wait for other processes, clocks and disks for about
    // half of their time.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['main/**/*.test.ts', 'preload/**/*.test.ts', 'renderer/**/*.test.{ts,tsx}'],
          exclude: alone,
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: 'unit-alone',
          include: [...alone, 'test/one-reading/*.test.ts', readsEnvironment],
        },
      },
      {
        test: { ...built, name: 'api', include: ['test/{api,doors,rpc,sign-in}/*.test.ts'], isolate: false },
      },
      {
        test: {
          ...built,
          name: 'system',
          include: ['test/{campaigns,delivery,keys,project,project/{lint,runner},storage,vendor}/*.test.ts'],
          exclude: [readsEnvironment],
          isolate: false,
        },
      },
      // The files share a Chromium too.
      {
        test: {
          ...built,
          name: 'browser',
          setupFiles: [common.setupFiles, 'test/browser/support/last-screens.ts'],
          include: ['test/browser/**/*.test.ts'],
          isolate: false,
          testTimeout: 5 * minute,
        },
      },
      { test: { ...built, name: 'desktop', include: ['test/desktop/*.test.ts'], testTimeout: 3 * minute } },
      { test: { ...built, name: 'commands', include: ['test/commands/*.test.ts'], isolate: false } },
    ],
  },
}));

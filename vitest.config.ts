import { defineConfig } from 'vitest/config';
import { CountsReporter } from './test/reporter.ts';

const minute = 60_000;

/** What is waited for comes from other processes, on a machine that may be busy. */
const patient = { poll: { timeout: minute / 3 } };

export default defineConfig({
  cacheDir: 'node_modules/.cache/vitest',
  test: {
    reporters: ['default', new CountsReporter()],
    // Much of a test's time is spent waiting for other processes: the runner's own needs no processor to itself.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          include: ['main/**/*.test.ts', 'preload/**/*.test.ts', 'renderer/**/*.test.{ts,tsx}'],
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
          expect: patient,
          testTimeout: minute,
          hookTimeout: minute,
        },
      },
      // A browser or an app at a time, after everything else: they take the whole machine.
      {
        test: {
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          expect: patient,
          testTimeout: 3 * minute,
          hookTimeout: minute,
        },
      },
      {
        test: {
          name: 'desktop',
          include: ['test/desktop/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          expect: patient,
          testTimeout: 3 * minute,
          hookTimeout: minute,
        },
      },
    ],
  },
});

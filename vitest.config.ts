import { defineConfig } from 'vitest/config';
import { CountsReporter } from './test/reporter.ts';
import { LongestFirst } from './test/sequencer.ts';

const minute = 60_000;

/** What is waited for comes from other processes, on a machine that may be busy. */
const patient = { poll: { timeout: minute / 3 } };

export default defineConfig(({ mode }) => ({
  cacheDir: 'node_modules/.cache/vitest',
  test: {
    reporters: ['default', new CountsReporter()],
    // `npm run test:long` runs the campaigns at their full length.
    provide: { campaigns: mode === 'long' ? 'full' : 'short' },
    // Much of a test's time is spent waiting for other processes: the runner's own needs no processor to itself.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'main/**/*.test.ts',
            'preload/**/*.test.ts',
            'renderer/**/*.test.{ts,tsx}',
            'test/one-reading/*.test.ts',
          ],
          setupFiles: 'test/patience.ts',
          expect: patient,
          testTimeout: minute,
          hookTimeout: minute,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/*.test.ts', 'test/campaigns/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
          setupFiles: 'test/patience.ts',
          expect: patient,
          testTimeout: minute,
          hookTimeout: minute,
        },
      },
      // Browsers after everything else, two at a time: one alone waits for half of its time.
      {
        test: {
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
          setupFiles: 'test/patience.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          expect: patient,
          testTimeout: 5 * minute,
          hookTimeout: minute,
        },
      },
      // An app at a time: some measure, and some pack it.
      {
        test: {
          name: 'desktop',
          include: ['test/desktop/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
          setupFiles: 'test/patience.ts',
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          expect: patient,
          testTimeout: 3 * minute,
          hookTimeout: minute,
        },
      },
    ],
  },
}));

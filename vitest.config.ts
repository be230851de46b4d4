import { defineConfig } from 'vitest/config';
import { CountsReporter } from './test/reporter.ts';

const minute = 60_000;

export default defineConfig({
  cacheDir: 'node_modules/.cache/vitest',
  test: {
    reporters: ['default', new CountsReporter()],
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
          testTimeout: 3 * minute,
          hookTimeout: minute,
        },
      },
    ],
  },
});

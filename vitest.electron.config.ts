// `npm run test:electron`: the packed application itself, on a machine that has Electron's runtime and a display.
import { defineConfig } from 'vitest/config';

const minute = 60_000;

export default defineConfig({
  cacheDir: 'node_modules/.cache/vitest-electron',
  test: {
    include: ['test/electron/*.test.ts'],
    globalSetup: 'test/electron/global-setup.ts',
    fileParallelism: false,
    expect: { poll: { timeout: minute / 2 } },
    testTimeout: 3 * minute,
    hookTimeout: minute,
  },
});

// Before each file of tests: what Vitest waits for by `vi` it would give up after a second, whatever its configuration says.
import { vi } from 'vitest';

const patience = { timeout: 20_000 } as const;

const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options = {}) =>
  waitFor(callback, typeof options === 'number' ? options : { ...patience, ...options });
vi.waitUntil = (callback, options = {}) =>
  waitUntil(callback, typeof options === 'number' ? options : { ...patience, ...options });

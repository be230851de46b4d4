import { join } from 'node:path';

/**
 * For the environment of a process that runs sources of the project: their types are stripped once, and not at each of its
 * hundred starts.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/compiled'),
} as const;

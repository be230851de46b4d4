import { join } from 'node:path';

/**
 * For the environment of a process that runs sources of the project, or its build: types are stripped and modules compiled
 * once, and not at each of a thousand starts.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/compiled'),
} as const;

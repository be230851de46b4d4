/** The first code of the single executable: unpacks the command and hands over to it. */
import { createRequire } from 'node:module';
import { platform } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { pathToFileURL } from 'node:url';
import { homeDirectory } from '../app/home-directory.ts';
import { unpack } from './unpack.ts';
import type { Manifest } from './unpack.ts';

/** The system's directory for files that can be created again. */
function cacheDirectory(): string {
  const { LOCALAPPDATA: local, XDG_CACHE_HOME: cache = '' } = process.env;
  switch (platform()) {
    case 'darwin':
      return join(homeDirectory(), 'Library', 'Caches', 'Keyhearth');
    case 'win32':
      return join(local ?? join(homeDirectory(), 'AppData', 'Local'), 'Keyhearth', 'Cache');
    default:
      return join(isAbsolute(cache) ? cache : join(homeDirectory(), '.cache'), 'keyhearth');
  }
}

try {
  const manifest = JSON.parse(getAsset('manifest', 'utf8')) as Manifest;
  const directory = unpack(cacheDirectory(), manifest, (path) => new Uint8Array(getRawAsset(path)));
  // This script is in no file, and loads only what Node has built in; the one below is in one, and loads what it likes.
  const load = createRequire(join(directory, 'load.cjs'))('./load.cjs') as (url: string) => Promise<unknown>;
  load(pathToFileURL(join(directory, 'dist/main/cli.js')).href).catch(fail);
} catch (error) {
  fail(error);
}

function fail(error: unknown): void {
  process.stderr.write(`keyhearth: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** Versions of what runs here, its parts and their licenses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { About, Licence } from '../../preload/contract.ts';
import { schemaVersion } from '../storage/migrations.ts';

/** Written by the build beside its output (`vite.config.ts`). */
interface BuildNote {
  readonly commit: string | null;
  readonly licences: readonly Licence[];
}

/** @param distDirectory Where the build is. */
export async function readAbout(distDirectory: string, version: string): Promise<About> {
  const { platform, arch } = process;
  // The runtime decides which versions exist.
  const versions: Readonly<Record<string, string | undefined>> = process.versions;
  const parts = [
    ['Electron', versions['electron']],
    ['Chromium', versions['chrome']],
    ['Node.js', versions['node']],
    ['V8', versions['v8']],
    ['OpenSSL', versions['openssl']],
  ] as const;
  const { commit } = await readNote(distDirectory);
  return {
    version,
    commit,
    schema: schemaVersion,
    system: `${platform} ${arch}`,
    runtime: parts.flatMap(([name, found]) => (found === undefined ? [] : [{ name, version: found }])),
  };
}

export async function readLicences(distDirectory: string): Promise<readonly Licence[]> {
  return (await readNote(distDirectory)).licences;
}

async function readNote(distDirectory: string): Promise<BuildNote> {
  try {
    return JSON.parse(await readFile(join(distDirectory, 'about.json'), 'utf8')) as BuildNote;
  } catch {
    // Run from its sources, it is not built.
    return { commit: null, licences: [] };
  }
}

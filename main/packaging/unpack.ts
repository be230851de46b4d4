/** Puts files of the single executable where Node can load them: native addons and threads come from real files alone. */
import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Paths, with slashes, and the SHA-256 in hex of what is there. */
export type Manifest = Readonly<Record<string, string>>;

export const digestOf = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/**
 * Makes a directory hold exactly the manifest's files, whatever was in it before. Each file is compared at
 * every start. A file that was changed, cut off or added is corrected before any of the code runs.
 * @param base the user's own directory for such files; created if it is missing.
 * @param read the right content of the file at that path.
 * @returns the directory, named for the manifest, so each version has its own.
 * @throws Error if another user could have written there.
 */
export function unpack(base: string, manifest: Manifest, read: (path: string) => Uint8Array): string {
  const directory = join(base, digestOf(JSON.stringify(manifest)).slice(0, 32));
  for (const target of [base, directory]) {
    mkdirSync(target, { recursive: true, mode: 0o700 });
    refuseShared(target);
  }
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const target = join(entry.parentPath, entry.name);
    const isOurs = Object.hasOwn(manifest, relative(directory, target).replaceAll(sep, '/'));
    if (!entry.isDirectory() && !(entry.isFile() && isOurs)) rmSync(target, { force: true });
  }
  for (const [path, digest] of Object.entries(manifest)) {
    const target = join(directory, path);
    if (contentDigest(target) === digest) continue;
    const bytes = read(path);
    if (digestOf(bytes) !== digest) throw new Error(`${path} is not what this program was made with`);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    // Another process may start from the same files at this moment: each sees a whole one.
    const unfinished = join(base, `.unfinished-${randomUUID()}`);
    try {
      writeFileSync(unfinished, bytes, { mode: 0o600, flag: 'wx' });
      renameSync(unfinished, target);
    } finally {
      rmSync(unfinished, { force: true });
    }
  }
  return directory;
}

function contentDigest(path: string): string | undefined {
  try {
    return digestOf(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** @throws Error unless it is a directory that its owner alone may write, and this user owns. */
function refuseShared(path: string): void {
  const found = lstatSync(path);
  const user = process.getuid?.();
  if (found.isDirectory() && (user === undefined || (found.uid === user && (found.mode & 0o022) === 0)))
    return;
  throw new Error(
    `${path} must be a directory that belongs to you and that nobody else may write: what is in it would be run`,
  );
}

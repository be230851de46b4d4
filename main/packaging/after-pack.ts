/**
 * electron-builder's hook between packing and the installers: refuses an application without the native modules of its
 * system and processor. npm installs one of them for the machine that it runs on alone, and a package for another would
 * start and then fail.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The part of electron-builder's context that is read here. */
export interface PackContext {
  readonly appOutDir: string;
  readonly electronPlatformName: string;
  /** electron-builder's number for a processor. */
  readonly arch: number;
  readonly packager: { getResourcesDir(appOutDir: string): string };
}

const processors: Readonly<Record<number, string>> = { 1: 'x64', 3: 'arm64' };

/** The addons that must be there, and nothing else. */
const addons = (target: string): readonly (readonly [name: string, path: RegExp])[] => [
  ['@node-rs/argon2', new RegExp(`/@node-rs/argon2-${target}(-gnu|-msvc)?/[^/]+[.]node$`)],
  ['better-sqlite3', new RegExp(`/better-sqlite3/prebuilds/${target}[.]node$`)],
  ['keytar', new RegExp(`/keytar/prebuilds/${target}/keytar[.]node$`)],
];

/** @throws Error naming what is missing, or what does not belong. */
export async function afterPack({
  appOutDir,
  electronPlatformName,
  arch,
  packager,
}: PackContext): Promise<void> {
  const target = `${electronPlatformName}-${processors[arch] ?? String(arch)}`;
  const unpacked = join(packager.getResourcesDir(appOutDir), 'app.asar.unpacked');
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).replaceAll('\\', '/'));
  const wanted = addons(target);
  const missing = wanted.filter(([, addon]) => !found.some((path) => addon.test(path)));
  const strange = found.filter((path) => !wanted.some(([, addon]) => addon.test(path)));
  if (missing.length === 0 && strange.length === 0) return;
  throw new Error(
    [
      `the application for ${target} does not have the native modules that it needs`,
      ...missing.map(([name]) => `missing: ${name}`),
      ...strange.map((path) => `not for it: ${path}`),
      'Build each package on a machine of its own system and processor.',
    ].join('\n  '),
  );
}

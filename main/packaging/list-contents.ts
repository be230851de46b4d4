/**
 * `node main/packaging/list-contents.ts`: prints what is shipped, as a list of parts in CycloneDX (SBOM): the packages in the
 * bundles, as the last build noted them, and those beside the bundles, for every system. Both are of the lock file.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const projectRoot = resolve(import.meta.dirname, '../..');

/** A list of parts, as far as it is read here. */
export interface PartsList {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    /** `pkg:npm/%40scope/name@1.2.3`: the name as it is published, whatever the project calls it. */
    readonly purl: string;
    readonly properties?: readonly { readonly name: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Package {
  readonly name: string;
  readonly version: string;
}

/**
 * @param all what npm lists of the lock file.
 * @param bundled what the build put into the bundles.
 * @throws Error where the list has not all of them.
 */
export function shippedParts(all: PartsList, bundled: readonly Package[]): PartsList {
  const wanted = new Set(bundled.map(({ name, version }) => `pkg:npm/${name}@${version}`));
  const published = (purl: string): string => decodeURIComponent(purl);
  const components = all.components.filter(
    ({ purl, properties = [] }) =>
      wanted.has(published(purl)) || !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  for (const { purl } of components) wanted.delete(published(purl));
  if (wanted.size > 0) throw new Error(`not in package-lock.json: ${[...wanted].join(', ')}. Build anew.`);
  const kept = new Set([all.metadata.component, ...components].map((component) => component['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
  return { ...all, components, dependencies };
}

/** @returns what is shipped of the last build. */
export async function listContents(): Promise<PartsList> {
  const argv = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { stdout } = await promisify(execFile)('npm', argv, {
    cwd: projectRoot,
    maxBuffer: 2 ** 26,
    shell: process.platform === 'win32',
  });
  const about = await readFile(join(projectRoot, 'dist/about.json'), 'utf8');
  const { licences } = JSON.parse(about) as { readonly licences: readonly Package[] };
  return shippedParts(JSON.parse(stdout) as PartsList, licences);
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(await listContents(), null, 2)}\n`);

/**
 * `npm run seal-release -- DIRECTORY [FROM...]`: gathers a release's files from the machines that built them, signs the
 * update metadata among them, and writes SHA256SUMS over all of them. The private key is in `KEYHEARTH_UPDATE_KEY`; without one, nothing is signed, and no app takes updates of it.
 */
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { updateKey } from '../desktop/updates/update-key.ts';
import { isUpdateMetadataSigned, signUpdateMetadata } from '../lib/update-signature.ts';

const sumsName = 'SHA256SUMS';

export interface ReleaseKey {
  readonly privateKey: string;
  /** The key that the apps of this release have pinned. */
  readonly publicKey: string;
}

/**
 * Copies the files of each directory into one. Two machines of one system, of different processors, write
 * metadata of the same name. These are merged, and each app takes the file for its own processor from the
 * result.
 * @throws Error if any other two files have the same name, or two machines built different versions.
 */
export async function gather(directory: string, from: readonly string[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  const metadata = new Map<string, string>();
  for (const source of from) {
    for (const name of (await readdir(source)).sort()) {
      const file = join(source, name);
      if (isMetadata(name)) {
        const text = await readFile(file, 'utf8');
        const other = metadata.get(name);
        metadata.set(name, other === undefined ? text : merge(name, other, text));
      } else {
        await copyFile(file, join(directory, name), constants.COPYFILE_EXCL);
      }
    }
  }
  for (const [name, text] of metadata) await writeFile(join(directory, name), text);
}

const isMetadata = (name: string): boolean => /^latest.*[.]yml$/.test(name);

/** The first, with the second's files after its own. */
function merge(name: string, first: string, second: string): string {
  const versions = [first, second].map((text) => /^version: (.+)$/m.exec(text)?.[1]);
  if (versions[0] !== versions[1]) {
    throw new Error(
      `${name} is of version ${String(versions[0])} in one place and ${String(versions[1])} in another`,
    );
  }
  const list = /^files:\n((?: .*\n)+)/m;
  const [, more = ''] = list.exec(second) ?? [];
  return first.replace(list, (files) => files + more);
}

/**
 * Signs each `latest….yml`, after its files' hashes were compared with the files beside it.
 * @returns names of what was signed. @throws Error where metadata names what is not there, or the key is not the pinned one.
 */
export async function signMetadata(
  directory: string,
  { privateKey, publicKey }: ReleaseKey,
): Promise<string[]> {
  const names = (await readdir(directory)).filter(isMetadata).sort();
  for (const name of names) {
    const text = await readFile(join(directory, name), 'utf8');
    for (const { url, sha512 } of filesIn(text)) {
      if ((await digest('sha512', join(directory, url))).toString('base64') === sha512) continue;
      throw new Error(
        `${name} has another SHA-512 of ${url} than the file: it was changed after it was built`,
      );
    }
    const signature = signUpdateMetadata(privateKey, name, text);
    if (!isUpdateMetadataSigned(publicKey, name, text, signature)) {
      throw new Error('the key is not the one that apps have pinned: they would refuse this release');
    }
    await writeFile(join(directory, `${name}.sig`), `${signature}\n`);
  }
  return names;
}

/** The list under `files:` as electron-builder writes it. @throws Error where there is none. */
function filesIn(text: string): { readonly url: string; readonly sha512: string }[] {
  const found = [...text.matchAll(/^ {2}- url: (.+)\n {4}sha512: (\S+)$/gm)].map(
    ([, url = '', sha512 = '']) => ({
      url,
      sha512,
    }),
  );
  if (found.length === 0) throw new Error('update metadata without files');
  return found;
}

/** Writes the sums of all files, as `sha256sum --check` reads them. */
export async function writeSums(directory: string): Promise<void> {
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name !== sumsName)
    .map(({ name }) => name)
    .sort();
  const lines: string[] = [];
  for (const name of names)
    lines.push(`${(await digest('sha256', join(directory, name))).toString('hex')}  ${name}\n`);
  await writeFile(join(directory, sumsName), lines.join(''));
}

async function digest(algorithm: 'sha256' | 'sha512', file: string): Promise<Buffer> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest();
}

if (import.meta.main) {
  const [directory = '', ...from] = process.argv.slice(2).map((path) => resolve(path));
  await gather(directory, from);
  const privateKey = (process.env['KEYHEARTH_UPDATE_KEY'] ?? '').trim();
  if (privateKey === '' || updateKey === null) {
    const missing =
      updateKey === null ? 'no key is pinned (npm run update-key)' : 'KEYHEARTH_UPDATE_KEY is empty';
    process.stderr.write(`Nothing is signed: ${missing}. Apps will take no updates of this release.\n`);
  } else {
    const signed = await signMetadata(directory, { privateKey, publicKey: updateKey });
    process.stdout.write(`Signed: ${signed.join(', ')}\n`);
  }
  await writeSums(directory);
}

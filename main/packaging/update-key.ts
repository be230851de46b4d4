/**
 * `npm run update-key -- FILE`: makes the key that signs updates. Its private half goes to a new file, which never belongs
 * into the project; its public half into the line of `main/desktop/updates/update-key.ts` that the app is built with.
 */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const pinnedIn = join(import.meta.dirname, '../desktop/updates/update-key.ts');

const line = /^export const updateKey: string [|] null = (null|'[0-9a-f]{64}');$/m;

/**
 * @param privateKeyFile a new file, for its owner alone.
 * @param source the text of the module that pins the public half.
 * @returns that text with the new public half.
 * @throws Error if the file exists, or another key is pinned: installed apps would refuse updates of the new
 * one.
 */
export function makeUpdateKey(privateKeyFile: string, source: string): string {
  const [, pinned] = line.exec(source) ?? [];
  if (pinned === undefined)
    throw new Error(`${pinnedIn} has no line "export const updateKey: string | null = …"`);
  if (pinned !== 'null') {
    throw new Error(
      `a key is pinned already (${pinned}): apps that are out there take updates of that one alone`,
    );
  }
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const hex = (text: string | undefined): string => Buffer.from(text ?? '', 'base64url').toString('hex');
  writeFileSync(privateKeyFile, `${hex(privateKey.export({ format: 'jwk' }).d)}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  return source.replace(
    line,
    `export const updateKey: string | null = '${hex(publicKey.export({ format: 'jwk' }).x)}';`,
  );
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    process.stderr.write('usage: npm run update-key -- FILE, where FILE is new and outside the project\n');
    process.exitCode = 2;
  } else {
    writeFileSync(pinnedIn, makeUpdateKey(resolve(file), readFileSync(pinnedIn, 'utf8')));
    process.stdout.write(
      `The private half is in ${resolve(file)}: keep it where releases are made, and a copy offline. The public half is in ${pinnedIn}: commit it.\n`,
    );
  }
}

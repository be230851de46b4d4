/** `keyhearth import ssh-key`: brings a private key of OpenSSH into the running vault. */
import type { Config } from '../../app/config.ts';
import { encodeSshKey, fingerprint } from '../../chains/ssh/wire.ts';
import { readSshKeyFile } from '../../lib/key-files/ssh-key-file.ts';
import { sealPrivateKey } from '../private-keys/import.ts';
import { readFileBytes } from '../shared/file-text.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi } from '../shared/api.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { canAsk } from '../shared/secrets.ts';
import {
  askFor,
  namedSource,
  mostBytesOfKey,
  readPassphrase,
  standardInput,
  type Source,
} from '../wallets/secret-sources.ts';

export interface ImportSshKeyOptions extends ApiOptions {
  readonly name: string;
  readonly keyFile?: string;
  readonly keyFd?: string;
  readonly passphraseFile?: string;
  readonly passphraseFd?: string;
}

type ReadKey = (ReturnType<typeof readSshKeyFile> & { readonly ok: true })['key'];

export async function importSshKey(config: Config, options: ImportSshKeyOptions): Promise<void> {
  const source = namedSource('--key', options.keyFile, options.keyFd) ?? standardInput();
  const passphrase = namedSource('--passphrase', options.passphraseFile, options.passphraseFd);
  if (source.from === undefined) {
    throw new CommandError(exitCodes.usage, 'expected --key-file with the file of the private key');
  }
  if (typeof source.from === 'number' && source.from === passphrase?.from) {
    throw new CommandError(
      exitCodes.usage,
      `${source.name} cannot give both key and passphrase: give one of them as a file`,
    );
  }
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const bytes = readFileBytes(source.from, source.name, mostBytesOfKey);
  const key = await openKeyFile(bytes, source.name, passphrase).finally(() => bytes.fill(0));
  const { name, json } = options;
  const shown = fingerprint(encodeSshKey(key));
  const { privateKeyId } = await sealPrivateKey(api, key.secret, {
    privateKeyName: name,
    curve: key.curve,
    addressFormats: [],
  });
  print(json, { privateKeyId, privateKeyName: name, curve: key.curve, fingerprint: shown }, [
    `Imported private key ${JSON.stringify(name)}: ${privateKeyId}`,
    `Fingerprint: ${shown}`,
    `To offer the key to SSH: keyhearth ssh keys --add ${JSON.stringify(name)}`,
  ]);
}

/** How often a person may mistype a passphrase, as with OpenSSH. */
const mostTries = 3;

/**
 * Reads a key file, and asks for its passphrase where it needs one.
 * @param given Where the passphrase is read from; undefined to ask.
 * @returns the key, whose secret the caller erases.
 * @throws CommandError where the file holds no key that the vault takes, or the passphrase is wrong.
 */
export async function openKeyFile(
  bytes: Uint8Array,
  name: string,
  given: Source | undefined,
): Promise<ReadKey> {
  const refuse = (problem: string): CommandError => new CommandError(exitCodes.usage, `${name}: ${problem}`);
  let reading = readSshKeyFile(bytes);
  for (let tries = 0; !reading.ok && reading.kind !== 'refused' && tries < mostTries; tries += 1) {
    if (tries > 0) note(reading.problem);
    if (given === undefined && !canAsk()) {
      throw refuse(`${reading.problem} Give it with --passphrase-file or --passphrase-fd.`);
    }
    const passphrase = await (given === undefined ? askFor(`passphrase of ${name}`) : readPassphrase(given));
    const secret = new TextEncoder().encode(passphrase);
    reading = readSshKeyFile(bytes, secret);
    secret.fill(0);
    if (given !== undefined) break;
  }
  if (reading.ok) return reading.key;
  throw refuse(reading.problem);
}

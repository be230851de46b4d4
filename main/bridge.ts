/** The service's side of the window's door: `preload/contract.ts`, over a vault. */
import { z } from 'zod';
import type {
  BackupRecord,
  BackupsStatus,
  Bridge,
  UnlockWith,
  VaultBridge,
  VaultEvent,
  VaultStatus,
  VerifiedBackup,
} from '../preload/contract.ts';
import { parse, parseSecret } from './activities/parse.ts';
import type { Backups } from './backup/backups.ts';
import { mnemonicFromEntropy } from './crypto/mnemonics.ts';
import { p256PublicKey, signP256 } from './crypto/p256.ts';
import { toHex } from './crypto/encodings.ts';
import { listKeyslots } from './db/keyslots.ts';
import { getOrganization } from './db/organizations.ts';
import { getServerKey, serverKeyPlace } from './db/server-keys.ts';
import { getUserRow } from './db/users.ts';
import { getVault, requireVault, type VaultRow } from './db/vault.ts';
import { handle, type Service } from './http/handle.ts';
import { openAnySlot, type OpenWith } from './keyslots/slots.ts';
import { assertNever, LatchkeyError } from './lib/errors.ts';
import { checkMissing, setUp, type SetupParts } from './setup.ts';

/** What the bridge says of the process around the vault. */
export interface Surroundings {
  readonly version: string;
  readonly directory: string | null;
  /** Known once the service listens. */
  readonly url: () => string;
}

const text = z.string().min(1).max(1000);
/** Its length in characters is the password slot's to check. */
const password = z.string().min(1).max(5000);
/** What a new vault is told of its owner. */
export const ownerForm = {
  organizationName: z.string().trim().min(1).max(64),
  userName: z.string().trim().min(1).max(64),
  userEmail: z.email('Expected an email address'),
};
const createParams = z.object({
  ...ownerForm,
  userEmail: ownerForm.userEmail.optional(),
  useKeychain: z.boolean(),
  password: password.optional(),
  confirmedWords: z
    .array(z.object({ position: z.int().min(1).max(24), word: text }))
    .min(3)
    .max(24),
});
const unlockParams = z.discriminatedUnion('with', [
  z.object({ with: z.literal('keychain') }),
  z.object({ with: z.literal('password'), password }),
  z.object({ with: z.literal('recovery'), phrase: text }),
]);
const backupSecret = z.discriminatedUnion('with', [
  z.object({ with: z.literal('password'), password }),
  z.object({ with: z.literal('recovery'), phrase: text }),
]);
const filePath = z.string().min(1).max(4096);
const backUpParams = z.object({
  file: filePath.optional(),
  replace: z.boolean().optional(),
  secret: backupSecret.optional(),
});
const verifyParams = z.object({ file: filePath, secret: backupSecret.optional() });
const scheduleParams = z
  .object({
    directory: filePath,
    hours: z
      .int()
      .min(1)
      .max(366 * 24),
  })
  .nullable();
const callPath = z
  .string()
  .regex(/^\/public\/v1\/(query|submit)\/[a-z0-9_]+$/, 'Expected a path like /public/v1/query/whoami');
const callBody = z.record(z.string(), z.unknown());

/** Public halves of the vault's own keys. */
export type ServerKeys = NonNullable<VaultStatus['serverKeys']>;

export class VaultDoor implements VaultBridge {
  readonly #parts: SetupParts;
  readonly #service: Service;
  readonly #around: Surroundings;
  readonly #backups: Backups;
  readonly #listeners = new Set<(event: VaultEvent) => void>();
  #phrase: string | undefined;
  #lastTimestamp = 0;
  #keychain: Promise<VaultStatus['keychain']> | undefined;

  constructor(parts: SetupParts, service: Service, around: Surroundings, backups: Backups) {
    this.#parts = parts;
    this.#backups = backups;
    this.#service = service;
    this.#around = around;
    parts.keyring.onChange(() => {
      this.announce({ kind: 'status' });
    });
  }

  async status(): Promise<VaultStatus> {
    const { units, keyring } = this.#parts;
    const keychain = await this.#probeKeychain();
    return units.read((tx) => {
      const vault = getVault(tx);
      const organization = vault && getOrganization(tx, vault.organizationId);
      const owner = vault && getUserRow(tx, vault.organizationId, vault.ownerUserId);
      return {
        state: vault === undefined ? 'none' : keyring.unlocked ? 'unlocked' : 'locked',
        version: this.#around.version,
        url: this.#around.url(),
        rpId: this.#service.rpId,
        directory: this.#around.directory,
        organization: organization ? { id: organization.id, name: organization.name } : null,
        owner: owner ? { userId: owner.id, userName: owner.name } : null,
        keyslots: listKeyslots(tx).map(({ kind }) => kind),
        keychain,
        serverKeys: vault === undefined ? null : this.serverKeys(),
      };
    });
  }

  async newRecoveryPhrase(): Promise<{ readonly phrase: string }> {
    checkMissing(this.#parts.units);
    const entropy = this.#parts.random('recovery phrase', 32);
    this.#phrase = mnemonicFromEntropy(entropy);
    entropy.fill(0);
    return Promise.resolve({ phrase: this.#phrase });
  }

  async create(input: unknown): Promise<VaultStatus> {
    const { confirmedWords, userEmail, password, ...rest } = parseSecret(createParams, input, 'vault');
    const phrase = this.#phrase;
    if (phrase === undefined) {
      throw new LatchkeyError(
        'INVALID_ARGUMENT',
        'no recovery phrase was drawn: ask for one, write it down, then create the vault',
      );
    }
    checkWords(phrase.split(' '), confirmedWords);
    if (!rest.useKeychain && password === undefined) {
      throw new LatchkeyError(
        'INVALID_ARGUMENT',
        'missing field vault.password: a vault without a keychain needs a password',
      );
    }
    // Taken while it is used: of two calls at once one makes the vault.
    this.#phrase = undefined;
    await setUp(this.#parts, {
      ...rest,
      ...(userEmail === undefined ? {} : { userEmail }),
      ...(password === undefined ? {} : { password }),
      recoveryPhrase: phrase,
      recoveryConfirmed: true,
    }).catch((error: unknown) => {
      this.#phrase ??= phrase;
      throw error;
    });
    // The keyring spoke when it was unlocked, before the vault was there to be read.
    this.announce({ kind: 'status' });
    return this.status();
  }

  async unlock(input: unknown): Promise<VaultStatus> {
    const how: UnlockWith = parseSecret(unlockParams, input, 'unlock');
    const { units, keyring, keychain } = this.#parts;
    const vault = this.#vault();
    const masterKey = await openAnySlot(vault.id, units.read(listKeyslots), toOpenWith(how, keychain));
    keyring.unlock(masterKey);
    masterKey.fill(0);
    return this.status();
  }

  async lock(): Promise<VaultStatus> {
    this.#vault();
    this.#parts.keyring.lock();
    return this.status();
  }

  async call(path: unknown, body: unknown): ReturnType<Bridge['call']> {
    const target = parse(callPath, path, 'path').slice('/public/v1/'.length);
    const vault = this.#vault();
    const request = {
      ...parse(callBody, body, 'body'),
      organizationId: vault.organizationId,
      ...(target.startsWith('submit/') ? { timestampMs: String(this.#nextTimestamp()) } : {}),
    };
    const raw = Buffer.from(JSON.stringify(request));
    return handle(this.#service, { path: target, raw, headers: { 'x-stamp': this.#stamp(vault, raw) } });
  }

  backups(): Promise<BackupsStatus> {
    return this.#backups.status();
  }

  async backUp(input: unknown): Promise<BackupRecord> {
    const { file, replace, secret } = parseSecret(backUpParams, input, 'backup');
    return this.#backups.make({
      ...(file === undefined ? {} : { file }),
      ...(replace === undefined ? {} : { replace }),
      ...(secret === undefined ? {} : { how: secret }),
    });
  }

  async verifyBackup(input: unknown): Promise<VerifiedBackup> {
    const { file, secret } = parseSecret(verifyParams, input, 'backup');
    return this.#backups.verify(file, secret);
  }

  async scheduleBackups(input: unknown): Promise<BackupsStatus> {
    await this.#backups.schedule(parse(scheduleParams, input, 'schedule'));
    return this.#backups.status();
  }

  onEvent(listener: (event: VaultEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells every window. */
  announce(event: VaultEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** @throws LatchkeyError VAULT_MISSING while there is none. */
  serverKeys(): ServerKeys {
    this.#vault();
    return {
      signer: this.#serverKey('signer').publicKey,
      notarizer: this.#serverKey('notarizer').publicKey,
      tlsFetcher: this.#serverKey('tlsFetcher').publicKey,
    };
  }

  #vault(): VaultRow {
    return this.#parts.units.read(requireVault);
  }

  #serverKey(name: Parameters<typeof getServerKey>[1]) {
    const key = this.#parts.units.read((tx) => getServerKey(tx, name));
    if (key === undefined) throw new Error(`the vault has no ${name} key`);
    return key;
  }

  /** The owner's stamp over a request of the window's. */
  #stamp(vault: VaultRow, raw: Uint8Array): string {
    const { sealed } = this.#serverKey('window');
    const place = serverKeyPlace('window', vault.organizationId);
    const { keyring } = this.#parts;
    const privateKey = keyring.cached('server key window', () => keyring.open(place, sealed));
    const stamp = {
      publicKey: toHex(p256PublicKey(privateKey)),
      scheme: 'SIGNATURE_SCHEME_TK_API_P256',
      signature: signP256(privateKey, raw),
    };
    return Buffer.from(JSON.stringify(stamp)).toString('base64url');
  }

  /** Rises with each call: the same request twice in a millisecond is meant twice. */
  #nextTimestamp(): number {
    this.#lastTimestamp = Math.max(this.#lastTimestamp + 1, this.#parts.clock.wall());
    return this.#lastTimestamp;
  }

  /** Asked once: it takes a round trip to another process, and what it says rarely changes while the vault runs. */
  #probeKeychain(): Promise<VaultStatus['keychain']> {
    return (this.#keychain ??= this.#parts.keychain.probe());
  }
}

function toOpenWith(how: UnlockWith, keychain: SetupParts['keychain']): OpenWith {
  switch (how.with) {
    case 'keychain':
      return { with: 'keychain', keychain };
    case 'password':
    case 'recovery':
      return how;
    default:
      return assertNever(how);
  }
}

function checkWords(
  phrase: readonly string[],
  confirmed: readonly { readonly position: number; readonly word: string }[],
): void {
  if (new Set(confirmed.map(({ position }) => position)).size < 3) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      'invalid vault.confirmedWords: expected three different positions at least',
    );
  }
  const wrong = confirmed.find(({ position, word }) => phrase[position - 1] !== word.trim().toLowerCase());
  if (wrong !== undefined) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `word ${String(wrong.position)} is not the one of the recovery phrase`,
    );
  }
}

/** Makes a new vault: master key, keyslots, the vault's own keys, the organization and its owner, in one transaction. */
import { generateP256, uncompressP256 } from '../crypto/keys/p256.ts';
import { toHex } from '../crypto/encodings.ts';
import type { SecretText } from '../crypto/secret-text.ts';
import { uuidV4 } from '../crypto/uuid.ts';
import { insertApiKey } from '../storage/tables/api-keys.ts';
import { putSealedRowKey, rowKeyContext } from '../storage/tables/integrity.ts';
import type { RowGuard } from '../storage/integrity/guard.ts';
import { insertKeyslot, type KeyslotRow } from '../storage/tables/keyslots.ts';
import { insertOrganization } from '../storage/tables/organizations.ts';
import {
  insertServerKey,
  serverKeyNames,
  serverKeyContext,
  type ServerKeyRow,
} from '../storage/tables/server-keys.ts';
import { noteWordsNotShown } from '../storage/tables/settings.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { insertUser } from '../storage/tables/users.ts';
import { getVault, insertVault } from '../storage/tables/vault.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { PasswordCost } from '../keys/keyslots/password.ts';
import {
  forgetKeychainSlot,
  makeKeychainSlot,
  makePasswordSlot,
  makeRecoverySlot,
} from '../keys/keyslots/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';

/** The parts of the service that create a vault. */
export interface SetupParts {
  readonly units: UnitOfWork;
  readonly guard: RowGuard;
  readonly keyring: Keyring;
  readonly keychain: Keychain;
  readonly random: Random;
  readonly clock: Clock;
  /** Cost of one attempt at the password. */
  readonly passwordCost: PasswordCost;
}

export interface NewVault {
  readonly organizationName: string;
  readonly userName: string;
  readonly userEmail?: string;
  readonly useKeychain: boolean;
  readonly password?: SecretText;
  readonly recoveryPhrase: SecretText;
  /** True if the owner has proved to have kept the phrase. */
  readonly recoveryConfirmed: boolean;
  /**
   * The window shows the words after the vault is created. Until `forgetWordsNotShown`, the vault records
   * that it did not.
   */
  readonly wordsAreYetToBeShown?: true;
  /** The owner's first API key besides the window's own; hex, compressed P-256. */
  readonly apiKey?: { readonly name: string; readonly publicKey: string };
}

export interface MadeVault {
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Makes the vault and leaves it unlocked.
 * @throws KeyhearthError ALREADY_EXISTS when the file holds one.
 */
export async function setUp(parts: SetupParts, vault: NewVault): Promise<MadeVault> {
  const { units, guard, keyring, keychain, random, clock, passwordCost } = parts;
  checkMissing(units);
  const now = clock.now();
  const vaultId = uuidV4(random('vault', 16));
  const organizationId = uuidV4(random('organization', 16));
  const userId = uuidV4(random('user', 16));
  const masterKey = random('master key', 32);
  const rowKey = random('row key', 32);
  const slotBase = { masterKey, vaultId, random, now };
  const slots: KeyslotRow[] = [];
  try {
    const recoverySlot = makeRecoverySlot({ ...slotBase, phrase: vault.recoveryPhrase });
    slots.push({ ...recoverySlot, confirmedAt: vault.recoveryConfirmed ? now : null });
    if (vault.password !== undefined)
      slots.push(await makePasswordSlot({ ...slotBase, password: vault.password, cost: passwordCost }));
    if (vault.useKeychain) slots.push(await makeKeychainSlot({ ...slotBase, keychain }));
    keyring.unlock(masterKey, rowKey);
    guard.begin();
    const serverKeys = serverKeyNames.map((name) => makeServerKey(name));
    // At once: what others write now that the vault is unlocked would be sealed in a vault that is not there yet.
    units.first((tx) => {
      if (getVault(tx)) throw vaultExists();
      insertVault(tx, { id: vaultId, organizationId, ownerUserId: userId, createdAt: now });
      putSealedRowKey(tx, keyring.seal(rowKeyContext, rowKey));
      for (const slot of slots) insertKeyslot(tx, slot);
      if (vault.wordsAreYetToBeShown === true) noteWordsNotShown(tx, recoverySlot.id, now);
      for (const key of serverKeys) insertServerKey(tx, key.row);
      const times = { createdAt: now, updatedAt: now };
      insertOrganization(tx, {
        id: organizationId,
        parentId: null,
        name: vault.organizationName,
        rootQuorumThreshold: 1,
        ...times,
      });
      insertUser(tx, {
        id: userId,
        organizationId,
        name: vault.userName,
        email: vault.userEmail ?? null,
        phoneNumber: null,
        emailVerifiedAt: null,
        phoneNumberVerifiedAt: null,
        root: 1,
        ...times,
      });
      const apiKeys = serverKeys
        .filter(({ row }) => row.name === 'window')
        .map(({ compressed }) => ({ name: 'Keyhearth window', publicKey: compressed }));
      for (const { name, publicKey } of [...apiKeys, ...(vault.apiKey ? [vault.apiKey] : [])]) {
        insertApiKey(tx, {
          id: uuidV4(random('api key', 16)),
          organizationId,
          userId,
          name,
          credentialType: 'CREDENTIAL_TYPE_API_KEY_P256',
          publicKey,
          expirationSeconds: null,
          expiresAt: null,
          sessionProfileId: null,
          ...times,
        });
      }
    });
  } catch (error) {
    keyring.lock();
    for (const slot of slots) await forgetKeychainSlot(keychain, vaultId, slot);
    throw error;
  } finally {
    masterKey.fill(0);
    rowKey.fill(0);
  }
  return { organizationId, userId };

  function makeServerKey(name: ServerKeyRow['name']): {
    readonly row: Omit<ServerKeyRow, 'tokenHash'>;
    readonly compressed: string;
  } {
    const pair = generateP256((length) => random(`server key ${name}`, length));
    try {
      return {
        row: {
          name,
          publicKey: toHex(uncompressP256(pair.publicKey)),
          sealed: keyring.seal(serverKeyContext(name, organizationId), pair.privateKey),
          createdAt: now,
        },
        compressed: toHex(pair.publicKey),
      };
    } finally {
      pair.privateKey.fill(0);
    }
  }
}

/** @throws KeyhearthError ALREADY_EXISTS when the file holds a vault. */
export function checkMissing(units: UnitOfWork): void {
  if (units.read(getVault)) throw vaultExists();
}

const vaultExists = (): KeyhearthError =>
  new KeyhearthError('ALREADY_EXISTS', 'there is a vault here already: it is not overwritten');

/**
 * Keyslots: each wraps the same master key under a key that one secret gives, so that any one of them opens the vault.
 * A slot is bound to its vault, its id, its kind and its parameters; changed or moved, it does not open.
 */
import { z } from 'zod';
import { checkBytes } from '../../crypto/bytes.ts';
import { encodeUtf8, toHex } from '../../crypto/encodings.ts';
import { unwrapKey, wrapKey } from '../../crypto/sealing.ts';
import { copyOfBytes, eraseSecret, type SecretText } from '../../crypto/secret-text.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { KeyslotRow } from '../../storage/tables/keyslots.ts';
import { assertNever, KeyhearthError } from '../../lib/errors.ts';
import type { Random } from '../../lib/random.ts';
import type { Keychain } from '../keychain/keychain.ts';
import { checkNewPassword, passwordKey, passwordParameters } from './password.ts';
import type { PasswordCost, PasswordParameters } from './password.ts';
import { recoveryKey, recoveryParameters } from './recovery.ts';
import type { RecoveryParameters } from './recovery.ts';
import { expectation } from '../../lib/parse.ts';

export interface NewSlot {
  /** 32 bytes, which the caller keeps and erases. */
  readonly masterKey: Uint8Array;
  readonly vaultId: string;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A secret that a user offers to open the vault with. */
export type OpenWith =
  | { readonly with: 'keychain'; readonly keychain: Keychain }
  | { readonly with: 'password'; readonly password: SecretText }
  | { readonly with: 'recovery'; readonly phrase: SecretText };

/** Erases the secret that opens, once nothing is opened with it any longer. */
export function eraseOpening(how: OpenWith): void {
  if (how.with === 'password') eraseSecret(how.password);
  else if (how.with === 'recovery') eraseSecret(how.phrase);
}

type Kind = KeyslotRow['kind'];

/** Each kind as a person reads it. */
const nouns = {
  keychain: 'keychain',
  password: 'password',
  recovery: 'recovery phrase',
} as const satisfies Record<Kind, string>;

/**
 * The stored parameters of a keychain slot: none, since the keychain holds the key under a name that the ids
 * give.
 */
const keychainParameters = z.strictObject({ version: z.literal(1) });

/**
 * @param slot.phrase 24 words.
 * @returns A slot with `confirmedAt` null: the owner has yet to show that the phrase was kept.
 * @throws KeyhearthError INVALID_ARGUMENT naming what is wrong with the phrase, never a word of it.
 */
export const makeRecoverySlot = ({
  phrase,
  ...slot
}: NewSlot & { readonly phrase: SecretText }): KeyslotRow => recoverySlot(slot, newSlotId(slot), phrase);

function recoverySlot(slot: NewSlot, id: string, phrase: SecretText): KeyslotRow {
  const parameters: RecoveryParameters = {
    version: 1,
    kdf: 'hkdf-sha256',
    salt: toHex(slot.random('keyslot.salt', 32)),
  };
  return wrapped(slot, id, 'recovery', parameters, recoveryKey(phrase, parameters));
}

/**
 * @param slot.password 8 to 1024 characters.
 * @param slot.cost What trying one password costs; stored in the slot.
 * @throws KeyhearthError INVALID_ARGUMENT for a password of another length.
 */
export async function makePasswordSlot({
  password,
  cost,
  ...slot
}: NewSlot & { readonly password: SecretText; readonly cost: PasswordCost }): Promise<KeyslotRow> {
  checkNewPassword(password);
  return passwordSlot(slot, newSlotId(slot), password, cost);
}

async function passwordSlot(
  slot: NewSlot,
  id: string,
  password: SecretText,
  { memoryKiB, passes, parallelism }: PasswordCost,
): Promise<KeyslotRow> {
  const parameters: PasswordParameters = passwordParameters.parse({
    version: 1,
    kdf: 'argon2id',
    memoryKiB,
    passes,
    parallelism,
    salt: toHex(slot.random('keyslot.salt', 16)),
  });
  return wrapped(slot, id, 'password', parameters, await passwordKey(password, parameters));
}

/**
 * Stores a fresh wrapping key in the keychain, under the vault's id and the slot's, and reads it back: a keychain that
 * forgets is found out while the vault can still be opened otherwise.
 * @throws KeyhearthError INVALID_ARGUMENT saying why the keychain cannot be used.
 */
export async function makeKeychainSlot({
  keychain,
  id: givenId,
  ...slot
}: NewSlot & {
  readonly keychain: Keychain;
  /** Generated before, by the code that had to show it. */
  readonly id?: string;
}): Promise<KeyslotRow> {
  const id = givenId ?? newSlotId(slot);
  checkBytes('masterKey', slot.masterKey, 32);
  const account = keychainAccount(slot.vaultId, id);
  const wrappingKey = slot.random('keyslot.wrapping-key', 32);
  try {
    await keychain.set(account, wrappingKey);
    const kept = await keychain.get(account);
    const isKept = kept !== undefined && Buffer.from(kept).equals(wrappingKey);
    kept?.fill(0);
    if (!isKept) {
      await keychain.delete(account);
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'The keychain took a key and did not give it back: use a password instead.',
      );
    }
    return wrapped(slot, id, 'keychain', { version: 1 }, copyOfBytes(wrappingKey));
  } finally {
    wrappingKey.fill(0);
  }
}

/**
 * Wraps another master key under a slot's secret. The slot keeps its id and its age, so that its owner sees
 * the same slot; its salt is new.
 * @param passwordCost Cost of one attempt at the password from now on.
 */
export async function remakeSlot(
  slot: KeyslotRow,
  how: Exclude<OpenWith, { with: 'keychain' }>,
  base: NewSlot,
  passwordCost: PasswordCost,
): Promise<KeyslotRow> {
  const made =
    how.with === 'password'
      ? await passwordSlot(base, slot.id, how.password, passwordCost)
      : recoverySlot(base, slot.id, how.phrase);
  return { ...made, createdAt: slot.createdAt, confirmedAt: slot.confirmedAt };
}

/** A slot as a person reads of it: `a password`. */
export const describeSlot = ({ kind }: Pick<KeyslotRow, 'kind'>): string => `a ${nouns[kind]}`;

/** Removes what a keychain slot left in the keychain. A slot of another kind left nothing. */
export async function forgetKeychainSlot(
  keychain: Keychain,
  vaultId: string,
  slot: Pick<KeyslotRow, 'id' | 'kind'>,
): Promise<void> {
  if (slot.kind === 'keychain') await keychain.delete(keychainAccount(vaultId, slot.id));
}

/**
 * Opens one slot.
 * @returns The master key (32 bytes), which the caller erases after use.
 * @throws KeyhearthError WRONG_SECRET where the secret is not the one, INTERNAL where the slot is damaged.
 */
export async function openSlot(vaultId: string, slot: KeyslotRow, how: OpenWith): Promise<Uint8Array> {
  if (slot.kind !== how.with) {
    throw new KeyhearthError(
      'WRONG_SECRET',
      `The keyslot ${JSON.stringify(slot.id)} opens with the ${nouns[slot.kind]}, not with the ${nouns[how.with]}.`,
    );
  }
  const wrappingKey = await wrappingKeyOf(vaultId, slot, how);
  try {
    const masterKey = unwrapKey(wrappingKey, slot.wrapped, binding(vaultId, slot));
    if (masterKey !== undefined) return masterKey;
  } finally {
    wrappingKey.fill(0);
  }
  throw new KeyhearthError('WRONG_SECRET', `The ${nouns[how.with]} does not open this vault.`);
}

/**
 * Opens the first slot of the offered kind that will.
 * @returns The master key (32 bytes), which the caller erases after use.
 * @throws KeyhearthError as `openSlot` does for the last slot tried; WRONG_SECRET where there is none of that kind; INTERNAL
 * where the slots together ask for more work than those of any vault.
 */
export async function openAnySlot(
  vaultId: string,
  slots: readonly KeyslotRow[],
  how: OpenWith,
): Promise<Uint8Array> {
  let refusal: unknown = new KeyhearthError(
    'WRONG_SECRET',
    `This vault has no ${nouns[how.with]} to unlock it with. It opens with: ${kindsOf(slots)}.`,
  );
  const tried = slots.filter(({ kind }) => kind === how.with);
  checkWork(tried);
  for (const slot of tried) {
    try {
      return await openSlot(vaultId, slot, how);
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

/** In KiB times passes, for all slots that are tried. An attacker who can write the file may have added any number of them. */
const mostWork = 64 * 1024 * 1024;

/** @throws KeyhearthError INTERNAL for slots that would keep the machine busy for hours. */
function checkWork(slots: readonly KeyslotRow[]): void {
  const work = slots.map(({ parameters }) => {
    const { data } = passwordParameters.safeParse(parseJson(parameters));
    return data === undefined ? 0 : data.memoryKiB * data.passes;
  });
  if (work.reduce((sum, each) => sum + each, 0) <= mostWork) return;
  throw new KeyhearthError(
    'INTERNAL',
    'The password keyslots of this file ask for more work than those of any vault: the file was changed outside Keyhearth, or is damaged.',
  );
}

/**
 * Refuses to remove the last slot that is not the keychain's. Keychains are lost with the user account, the
 * machine, or an update.
 * @throws KeyhearthError NOT_FOUND, or INVALID_ARGUMENT for the last such slot.
 */
export function checkRemovable(slots: readonly Pick<KeyslotRow, 'id' | 'kind'>[], id: string): void {
  const slot = slots.find((candidate) => candidate.id === id);
  if (slot === undefined) {
    throw new KeyhearthError('NOT_FOUND', `There is no keyslot ${JSON.stringify(id)} in this vault.`);
  }
  if (slot.kind === 'keychain') return;
  if (slots.some((other) => other.id !== id && other.kind !== 'keychain')) return;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `The ${nouns[slot.kind]} cannot be removed: without it only the keychain could open this vault, or nothing. Add a password or a recovery phrase first.`,
  );
}

/** @throws KeyhearthError WRONG_SECRET also for what cannot be a password or a phrase, saying why. */
async function wrappingKeyOf(vaultId: string, slot: KeyslotRow, how: OpenWith): Promise<Uint8Array> {
  switch (how.with) {
    case 'password':
      return passwordKey(how.password, parametersOf(slot, passwordParameters)).catch(openNothing);
    case 'recovery': {
      const parameters = parametersOf(slot, recoveryParameters);
      try {
        return recoveryKey(how.phrase, parameters);
      } catch (error) {
        return openNothing(error);
      }
    }
    case 'keychain':
      parametersOf(slot, keychainParameters);
      return keychainKey(how.keychain, keychainAccount(vaultId, slot.id));
    default:
      return assertNever(how);
  }
}

function openNothing(error: unknown): never {
  const isMalformed = error instanceof KeyhearthError && error.code === 'INVALID_ARGUMENT';
  throw isMalformed ? new KeyhearthError('WRONG_SECRET', error.message) : error;
}

async function keychainKey(keychain: Keychain, account: string): Promise<Uint8Array> {
  const key = await keychain.get(account);
  if (key?.length === 32) return key;
  key?.fill(0);
  // A locked keychain may answer as if it held nothing: say which of the two it is.
  const state = await keychain.probe();
  if (!state.available) throw new KeyhearthError('INVALID_ARGUMENT', state.reason);
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    'The keychain holds no key for this vault: it was removed, or belongs to another user or machine. Unlock the vault with its password or recovery phrase, then add the keychain to what opens it.',
  );
}

/** Takes over the wrapping key, and erases it. */
function wrapped(
  { masterKey, vaultId, random, now }: NewSlot,
  id: string,
  kind: Kind,
  parameters: object,
  wrappingKey: Uint8Array,
): KeyslotRow {
  try {
    const slot = { id, kind, parameters: JSON.stringify(parameters) };
    return {
      ...slot,
      wrapped: wrapKey(wrappingKey, masterKey, binding(vaultId, slot), random),
      createdAt: now,
      confirmedAt: null,
    };
  } finally {
    wrappingKey.fill(0);
  }
}

export const newSlotId = ({ random }: Pick<NewSlot, 'random'>): string => uuidV4(random('keyslot.id', 16));

/** The keychain's account name for the log's rollback anchor, in vaults that have a keychain slot. */
export const anchorAccount = (vaultId: string): string => `${vaultId}/witness`;

/** The keychain's account name for a slot's key. */
export const keychainAccount = (vaultId: string, slotId: string): string => `${vaultId}/${slotId}`;

/** A JSON array of strings: each field ends where its quotes do, so no two slots encode alike. */
const binding = (
  vaultId: string,
  { id, kind, parameters }: Pick<KeyslotRow, 'id' | 'kind' | 'parameters'>,
): Uint8Array =>
  encodeUtf8('keyslot', JSON.stringify(['latchkey keyslot', 1, vaultId, id, kind, parameters]));

function parametersOf<T>(slot: KeyslotRow, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(parseJson(slot.parameters));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(
    (issue) => `${['parameters', ...issue.path].join('.')}: ${expectation(issue)}`,
  );
  throw new KeyhearthError(
    'INTERNAL',
    `The keyslot ${JSON.stringify(slot.id)} (${nouns[slot.kind]}) is damaged, or was made by a newer version: ${faults.join('; ')}.`,
  );
}

/** Answers undefined for invalid JSON, which every schema refuses. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindsOf(slots: readonly KeyslotRow[]): string {
  const kinds = new Set(slots.map(({ kind }) => nouns[kind]));
  return kinds.size === 0 ? 'nothing yet' : [...kinds].join(', ');
}

/**
 * Bundles carry a secret between the vault and a client: encrypted to the receiver's key (HPKE), and signed
 * by the vault's signer if the vault is the sender.
 */
import { z } from 'zod';
import type { ActivityContext, GatherContext } from '../../activities/define.ts';
import { decodeHex, toHex } from '../../crypto/encodings.ts';
import { openWithPrivateKey, sealToPublicKey } from '../../crypto/hpke.ts';
import {
  compressP256,
  generateP256,
  isP256PublicKey,
  signP256,
  uncompressP256,
} from '../../crypto/keys/p256.ts';
import { uuidV5 } from '../../crypto/uuid.ts';
import {
  deleteImportTarget,
  getImportTarget,
  importTargetsTable,
  insertImportTarget,
  listImportTargets,
  type ImportTargetRow,
} from '../../storage/tables/import-targets.ts';
import type { ServerKeyName } from '../../storage/tables/server-keys.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { parsePlainJson } from '../../lib/plain-json.ts';
import { limits } from './limits.ts';
import { serverKey, type Sealing } from './server-keys.ts';

const hour = 60 * 60_000;

/** Milliseconds for which an import bundle can be used, and bundles of a kind that a user may have open. */
const importTargets = {
  lifetimeMs: hour,
  most: { 'private key': 10, wallet: 10, secret: 2 * limits.secretsPerRequest },
} as const;

/** A client's P-256 public key in hex, uncompressed as the SDKs send it, or compressed. */
export const targetPublicKey = z
  .string()
  .regex(
    /^(04[0-9a-fA-F]{128}|0[23][0-9a-fA-F]{64})$/,
    'Expected a P-256 public key in hex: 130 characters that start with 04, or 66 that start with 02 or 03',
  );

/** A secret encrypted to a client, unsigned: what is sealed of an export before the signer puts its name to it. */
export interface Encrypted {
  readonly encappedPublic: string;
  readonly ciphertext: string;
}

/** As `targetPublicKey`, and a point of the curve. */
export const targetPoint = targetPublicKey.refine(isP256PublicKey, 'Expected a point of P-256');

/** A client's key in its one form: compressed. @throws KeyhearthError INVALID_ARGUMENT for a key that is not a point. */
export function compressedTarget(publicKey: string, at: string): Uint8Array {
  const bytes = decodeHex(at, publicKey);
  return bytes.length === 33 ? bytes : compressP256(bytes, at);
}

/** Encrypts a secret to a client's key, and wipes it. */
export async function encryptTo(target: string, secret: Uint8Array): Promise<Encrypted> {
  try {
    const at = 'parameters.targetPublicKey';
    const key = uncompressP256(compressedTarget(target, at), at);
    const { encapsulatedKey, ciphertext } = await sealToPublicKey(key, secret);
    return { encappedPublic: toHex(encapsulatedKey), ciphertext: toHex(ciphertext) };
  } finally {
    secret.fill(0);
  }
}

/** The text of an `exportBundle`: the encrypted secret, for this organization, signed. */
export const exportBundle = (context: Sealing, encrypted: Encrypted): string =>
  signedEnvelope(context, { ...encrypted, organizationId: context.organizationId });

/** The text of a signed statement of whose key it is that stamped a request. */
export const callerStatement = (context: Sealing & Pick<ActivityContext<unknown>, 'caller'>): string => {
  const { organizationId, caller } = context;
  return signedEnvelope(context, {
    organizationId,
    userId: caller.userId,
    publicKey: caller.stamp.publicKey,
  });
};

/** Wraps data as clients check it: hex of its JSON, a signature over those bytes, and the key that made it. */
function signedEnvelope(context: Sealing, data: object, by: ServerKeyName = 'signer'): string {
  const { privateKey, publicKey } = serverKey(context, by);
  const bytes = new Uint8Array(Buffer.from(JSON.stringify(data)));
  return JSON.stringify({
    version: 'v1.0.0',
    data: toHex(bytes),
    dataSignature: signP256(privateKey, bytes),
    enclaveQuorumPublic: publicKey,
  });
}

/**
 * Makes a key that a client encrypts a one-time code to.
 * @returns its private half, which the caller seals and erases, and the text of an `otpEncryptionTargetBundle`.
 */
export function codeTarget(context: Sealing & Pick<ActivityContext<unknown>, 'random'>): {
  readonly privateKey: Uint8Array;
  readonly bundle: string;
} {
  const { random, organizationId } = context;
  const { privateKey, publicKey } = generateP256((length) => random('one-time code target', length));
  const target = { targetPublic: toHex(uncompressP256(publicKey)), organizationId };
  return { privateKey, bundle: signedEnvelope(context, target, 'tlsFetcher') };
}

/**
 * Opens what a client encrypted to a key.
 * @param text As `encryptedText` takes it.
 * @returns undefined where it does not open; else the plaintext, which the caller erases.
 */
export async function openBundle(privateKey: Uint8Array, text: string): Promise<Uint8Array | undefined> {
  const bundle = parsedBundle(text);
  try {
    return await openWithPrivateKey(privateKey, {
      encapsulatedKey: decodeHex('encappedPublic', bundle?.encappedPublic ?? ''),
      ciphertext: decodeHex('ciphertext', bundle?.ciphertext ?? ''),
    });
  } catch (error) {
    if (!(error instanceof KeyhearthError) || error.code !== 'INVALID_ARGUMENT') throw error;
    return undefined;
  }
}

/**
 * Makes a key for one import by one user.
 * @returns the text of an `importBundle`.
 */
export function initImport(
  context: Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId' | 'random' | 'now'>,
  userId: string,
  kind: ImportTargetRow['kind'],
): string {
  const { tx, keys, organizationId, random, now } = context;
  const pair = generateP256((length) => random('import target', length));
  const publicKey = toHex(pair.publicKey);
  const id = targetIdOf(organizationId, publicKey);
  try {
    const sealed = keys.seal({ table: importTargetsTable, rowId: id, organizationId }, pair.privateKey);
    insertImportTarget(
      tx,
      { id, organizationId, userId, kind, sealed, createdAt: now },
      { createdAfter: now - importTargets.lifetimeMs, most: importTargets.most[kind] },
    );
  } finally {
    pair.privateKey.fill(0);
  }
  return signedEnvelope(context, {
    targetPublic: toHex(uncompressP256(pair.publicKey)),
    organizationId,
    userId,
  });
}

/** @param publicKey Hex, compressed. */
const targetIdOf = (organizationId: string, publicKey: string): string =>
  uuidV5(organizationId, `import target ${publicKey}`);

/** An import that opened: the secret, which `wipeImport` wipes, and the key that opened it, which it spends. */
export interface OpenedImport {
  readonly secret: Uint8Array;
  readonly targetId: string;
}

const encryptedBundle = z.object({
  encappedPublic: z
    .string()
    .regex(/^04[0-9a-fA-F]{128}$/, 'Expected an uncompressed P-256 public key in hex'),
  ciphertext: z.string().regex(/^(?:[0-9a-fA-F]{2})+$/, 'Expected hex'),
});

/** The tag at the end of a ciphertext. */
const tagBytes = 16;

/**
 * A client's encrypted secret: JSON text of `encappedPublic` and `ciphertext`, both hex. A client that forgets to encrypt
 * sends the secret itself, so an error does not repeat it.
 * @param most Bytes of the longest secret.
 */
const encryptedText = (most: number) =>
  z
    .string()
    .refine((text) => readBundle(text, most) !== undefined, {
      error: `Expected JSON text of { encappedPublic, ciphertext }, both hex, the first an uncompressed P-256 public key, of a secret of at most ${String(most)} bytes`,
      params: { secret: true },
    })
    .meta({ format: 'password' });

/** A key, the words of a wallet, a one-time code. */
export const encryptedBundleText = encryptedText(4096 - tagBytes);

export const encryptedSecretText = encryptedText(limits.secretBytes);

/** Of a bundle, what is not its ciphertext. */
const otherCharacters = 1000;

function readBundle(text: string, most: number): z.output<typeof encryptedBundle> | undefined {
  const digits = 2 * (most + tagBytes);
  if (text.length > digits + otherCharacters) return undefined;
  const bundle = parsedBundle(text);
  const length = bundle?.ciphertext.length ?? 0;
  return length >= 2 * tagBytes && length <= digits ? bundle : undefined;
}

function parsedBundle(text: string): z.output<typeof encryptedBundle> | undefined {
  try {
    return encryptedBundle.safeParse(parsePlainJson(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Kinds of target keys that an import may be encrypted to: the specification has one operation that gives
 * any.
 */
const targetKinds = {
  'private key': ['private key'],
  wallet: ['wallet', 'private key'],
  secret: ['secret'],
} as const satisfies Record<ImportTargetRow['kind'], readonly ImportTargetRow['kind'][]>;

/** A key that a client may have encrypted an import to. */
interface ImportKey {
  readonly targetId: string;
  readonly privateKey: Uint8Array;
}

/** Gathers the keys that a user's import may be encrypted to, newest first; `openImport` wipes them. */
export const importKeys = (
  { tx, keys, now }: Pick<GatherContext<unknown>, 'tx' | 'keys' | 'now'>,
  userId: string,
  kind: ImportTargetRow['kind'],
): readonly ImportKey[] =>
  listImportTargets(tx, userId, targetKinds[kind], now - importTargets.lifetimeMs).map(
    ({ id, organizationId, sealed }) => ({
      targetId: id,
      privateKey: keys.open({ table: importTargetsTable, rowId: id, organizationId }, sealed),
    }),
  );

/** Gathers the one key that a request names; none where it is not the user's, or is used up. */
export function importKeyNamed(
  { tx, keys, now, organizationId }: Pick<GatherContext<unknown>, 'tx' | 'keys' | 'now' | 'organizationId'>,
  userId: string,
  kind: ImportTargetRow['kind'],
  publicKey: string,
): readonly ImportKey[] {
  const targetId = targetIdOf(organizationId, toHex(compressedTarget(publicKey, 'targetPublicKey')));
  const target = getImportTarget(tx, { id: targetId, userId, kind }, now - importTargets.lifetimeMs);
  if (target === undefined) return [];
  const context = { table: importTargetsTable, rowId: targetId, organizationId };
  return [{ targetId, privateKey: keys.open(context, target.sealed) }];
}

/**
 * Opens what a client encrypted to one of the user's import keys. Which of them is not said in the bundle, so each is
 * tried.
 * @throws KeyhearthError when none opens it.
 */
export async function openImport(
  targets: readonly ImportKey[],
  kind: ImportTargetRow['kind'],
  text: string,
  at = bundleField,
): Promise<OpenedImport> {
  try {
    for (const { targetId, privateKey } of targets) {
      const secret = await openBundle(privateKey, text);
      if (secret !== undefined) return { secret, targetId };
    }
    throw cannotOpen(kind, at);
  } finally {
    for (const { privateKey } of targets) privateKey.fill(0);
  }
}

export const wipeImport = ({ secret }: OpenedImport): void => {
  secret.fill(0);
};

/** Marks an import's key as used: a bundle is taken once. @throws KeyhearthError when it was used meanwhile. */
export function spendImport(
  tx: ActivityContext<unknown>['tx'],
  { targetId }: OpenedImport,
  kind: ImportTargetRow['kind'],
  at = bundleField,
): void {
  if (!deleteImportTarget(tx, targetId)) throw cannotOpen(kind, at);
}

const bundleField = 'parameters.encryptedBundle';

const cannotOpen = (kind: ImportTargetRow['kind'], at: string): KeyhearthError =>
  new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid ${at}: it opens with none of this user's import bundles for a ${kind}. ` +
      'A bundle is good for one import within an hour: ask for a new one, and encrypt to its target key.',
  );

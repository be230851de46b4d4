/**
 * Secrets: values that programs need, such as a password or a token. As the keys they come and go encrypted between client
 * and vault, and lie sealed in between.
 */
import { z } from 'zod';
import {
  activity,
  query,
  type ActivityContext,
  type GatherContext,
  type Item,
} from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  countSecrets,
  deleteSecret,
  getSecretRow,
  insertSecret,
  listSecretNames,
  listSecretRows,
  secretsTable,
  updateSecretValue,
  type SecretRow,
} from '../../storage/tables/secrets.ts';
import { defined } from '../../lib/defined.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { once } from '../../lib/once.ts';
import {
  encryptedSecretText,
  encryptTo,
  exportBundle,
  importKeyNamed,
  initImport,
  openImport,
  spendImport,
  targetPoint,
  wipeImport,
  type OpenedImport,
} from '../shared/bundles.ts';
import { limits } from '../shared/limits.ts';
import {
  checkDistinct,
  checkLimit,
  checkRequest,
  checkUnmistakable,
  id,
  name,
  nameTaken,
  orNotFound,
  page,
  pagination,
} from '../shared/parameters.ts';
import { uuid, uuids } from '../shared/resources.ts';
import { checkProperties, properties, propertyFacts, readProperties } from './secret-properties.ts';

/** The one way in which secrets are encrypted between client and vault: that of every bundle. */
const encryptionSuite = z.literal('TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1');

const listOf = <Element extends z.ZodType>(element: Element) =>
  z.array(element).min(1).max(limits.secretsPerRequest);

export const initImportSecrets = activity({
  path: 'init_import_secrets',
  summary: 'Gives the caller public keys of the vault, to encrypt a secret to each.',
  title: 'Start an import of secrets',
  type: 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS',
  intent: 'initImportSecretsIntent',
  result: 'initImportSecretsResult',
  authority: { resource: 'SECRET', action: 'IMPORT' },
  params: z.object({ encryptionSuite, numSecrets: z.int().min(1).max(limits.secretsPerRequest) }),
  returns: z.object({ enclaveTargetMessages: z.array(z.string()) }),
  run: (context) => ({
    enclaveTargetMessages: Array.from({ length: context.params.numSecrets }, () =>
      initImport(context, context.caller.userId, 'secret'),
    ),
  }),
});

/** An encrypted value, and the import key that it is encrypted to. */
const encryptedValue = {
  secretPayload: encryptedSecretText,
  targetPublicKey: targetPoint,
  encryptionSuite,
};

type EncryptedValue = z.output<z.ZodObject<typeof encryptedValue>>;

const openValue = (
  { gathered, params }: { readonly gathered: ReturnType<typeof keyFor>; readonly params: EncryptedValue },
  at: string,
): Promise<OpenedImport> => openImport(gathered, 'secret', params.secretPayload, `${at}.secretPayload`);

const keyFor = (context: GatherContext<unknown>, { targetPublicKey }: EncryptedValue) =>
  importKeyNamed(context, context.caller.userId, 'secret', targetPublicKey);

/** @throws KeyhearthError INVALID_ARGUMENT for a value that is empty, or a key that was used meanwhile. */
function takeValue(tx: ActivityContext<unknown>['tx'], opened: OpenedImport, at: string): Uint8Array {
  spendImport(tx, opened, 'secret', `${at}.secretPayload`);
  if (opened.secret.length > 0) return opened.secret;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    `invalid ${at}.secretPayload: expected a secret of 1 to ${String(limits.secretBytes)} bytes in it, got none`,
  );
}

const importedSecret = z.object({
  ...encryptedValue,
  /** Some clients write an empty one where they mean none. */
  name: z.union([z.literal(''), name]).optional(),
  staticProperties: properties.optional(),
});

const nameOf = ({ name: given = '' }: { readonly name?: string | undefined }): string | null =>
  given === '' ? null : given;

const secretAt = (index: number): string => `parameters.secrets[${String(index)}]`;

export const importSecrets = activity({
  path: 'import_secrets',
  summary: 'Stores secrets that the client encrypted to the vault.',
  title: 'Add secrets',
  type: 'ACTIVITY_TYPE_IMPORT_SECRETS',
  intent: 'importSecretsIntent',
  result: 'importSecretsResult',
  authority: {
    resource: 'SECRET',
    action: 'IMPORT',
    facts: ({ params: { secrets } }) =>
      secrets.map((secret) => ({
        'secret.name': () => nameOf(secret) ?? '',
        'secret.static_properties': () => propertyFacts(secret.staticProperties ?? []),
      })),
  },
  params: z.object({ secrets: listOf(importedSecret) }),
  returns: z.object({ secretIds: uuids }),
  gather: (context) => context.params.secrets.map((secret) => keyFor(context, secret)),
  async prepare({ gathered, params: { secrets } }) {
    const opened: OpenedImport[] = [];
    try {
      for (const [index, params] of secrets.entries()) {
        opened.push(await openValue({ gathered: gathered[index] ?? [], params }, secretAt(index)));
      }
      return opened;
    } catch (error) {
      opened.forEach(wipeImport);
      throw error;
    } finally {
      for (const { privateKey } of gathered.flat()) privateKey.fill(0);
    }
  },
  wipe: (opened) => {
    opened.forEach(wipeImport);
  },
  run(context) {
    const { tx, organizationId, params, prepared } = context;
    checkDistinct(
      'parameters.secrets',
      params.secrets.flatMap((secret) => nameOf(secret) ?? []),
    );
    checkLimit(
      tx,
      'secrets',
      countSecrets(tx, organizationId),
      params.secrets.length,
      limits.secretsPerOrganization,
    );
    return {
      secretIds: params.secrets.map((secret, index) => addSecret(context, secret, prepared[index], index)),
    };
  },
});

function addSecret(
  { tx, keys, random, organizationId, now }: ActivityContext<unknown, unknown>,
  { staticProperties = [], ...secret }: z.output<typeof importedSecret>,
  opened: OpenedImport | undefined,
  index: number,
): string {
  if (opened === undefined) throw new Error('a secret was not opened');
  const at = secretAt(index);
  const wanted = nameOf(secret);
  if (wanted !== null) {
    const taken = listSecretNames(tx, organizationId);
    if (taken.some((other) => other.name === wanted)) throw nameTaken(`${at}.name`, 'secret name', wanted);
    checkUnmistakable(`${at}.name`, 'secret name', wanted, () => taken);
  }
  checkProperties(`${at}.staticProperties`, staticProperties);
  const value = takeValue(tx, opened, at);
  const secretId = uuidV4(random('secret id', 16));
  insertSecret(tx, {
    id: secretId,
    organizationId,
    name: wanted,
    staticProperties: JSON.stringify(staticProperties),
    sealed: keys.seal(contextOf({ id: secretId, organizationId }), value),
    createdAt: now,
    updatedAt: now,
  });
  return secretId;
}

const contextOf = ({ id: rowId, organizationId }: Pick<SecretRow, 'id' | 'organizationId'>) => ({
  table: secretsTable,
  rowId,
  organizationId,
});

/** Facts of a secret that is stored. */
function secretFacts(tx: Reader, organizationId: string, secretId: string): Item {
  const row = once(() => getSecretRow(tx, organizationId, secretId));
  return {
    'secret.id': () => row()?.id,
    'secret.name': () => {
      const found = row();
      return found === undefined ? undefined : (found.name ?? '');
    },
    'secret.static_properties': () => {
      const found = row();
      return found === undefined ? undefined : propertyFacts(readProperties(found.staticProperties));
    },
  };
}

/** The real API has no way to change a secret: it would be deleted first, and gone where the import then fails. */
export const updateSecret = activity({
  path: 'update_secret',
  summary:
    'Gives a secret another value that the client encrypted to the vault; its name and properties stay.',
  title: 'Replace a secret’s value',
  own: true,
  type: 'ACTIVITY_TYPE_UPDATE_SECRET',
  intent: 'updateSecretIntent',
  result: 'updateSecretResult',
  authority: {
    resource: 'SECRET',
    action: 'UPDATE',
    facts: ({ tx, organizationId, params: { secretId } }) => secretFacts(tx, organizationId, secretId),
  },
  params: z.object({ secretId: id, ...encryptedValue }),
  returns: z.object({ secretId: uuid }),
  gather: (context) => keyFor(context, context.params),
  prepare: ({ gathered, params }) => openValue({ gathered, params }, 'parameters'),
  wipe: wipeImport,
  run({ tx, keys, organizationId, now, params: { secretId }, prepared }) {
    const secret = findSecret(tx, organizationId, secretId);
    const value = takeValue(tx, prepared, 'parameters');
    updateSecretValue(tx, secretId, keys.seal(contextOf(secret), value), now);
    return { secretId };
  },
});

/** Facts that policies decide each secret of a request by. */
const factsOfEach = (tx: Reader, organizationId: string, secretIds: readonly string[]): readonly Item[] =>
  secretIds.map((secretId) => secretFacts(tx, organizationId, secretId));

export const exportSecrets = activity({
  path: 'export_secrets',
  summary: 'Hands secrets out, each encrypted to a key of the client’s.',
  title: 'Export secrets',
  type: 'ACTIVITY_TYPE_EXPORT_SECRETS',
  intent: 'exportSecretsIntent',
  result: 'exportSecretsResult',
  authority: {
    resource: 'SECRET',
    action: 'EXPORT',
    facts: ({ tx, organizationId, params: { secrets } }) =>
      factsOfEach(
        tx,
        organizationId,
        secrets.map(({ secretId }) => secretId),
      ),
  },
  stepUp: { for: 'export' },
  params: z.object({
    secrets: listOf(
      z.object({
        secretId: id,
        targetPublicKey: targetPoint,
        encryptionSuite,
        /** Kept in the log, for people. */
        requestContext: properties.optional(),
      }),
    ),
  }),
  returns: z.object({ secretPayloads: z.array(z.string()) }),
  gather({ tx, keys, organizationId, params: { secrets } }) {
    const rows = secrets.map(({ secretId }) => findSecret(tx, organizationId, secretId));
    const bytes = rows.reduce((sum, { sealed }) => sum + sealed.length, 0);
    checkRequest('parameters.secrets', 'bytes', bytes, limits.secretBytesPerRequest);
    return rows.map((row) => keys.open(contextOf(row), row.sealed));
  },
  async prepare({ gathered, params: { secrets } }) {
    try {
      return await Promise.all(
        secrets.map(({ targetPublicKey }, index) =>
          encryptTo(targetPublicKey, gathered[index] ?? new Uint8Array()),
        ),
      );
    } finally {
      for (const value of gathered) value.fill(0);
    }
  },
  run(context) {
    const { tx, organizationId, params, prepared } = context;
    params.secrets.forEach(({ secretId }) => findSecret(tx, organizationId, secretId));
    return { secretPayloads: prepared.map((encrypted) => exportBundle(context, encrypted)) };
  },
});

export const deleteSecrets = activity({
  path: 'delete_secrets',
  summary: 'Deletes secrets.',
  title: 'Delete secrets',
  type: 'ACTIVITY_TYPE_DELETE_SECRETS',
  intent: 'deleteSecretsIntent',
  result: 'deleteSecretsResult',
  authority: {
    resource: 'SECRET',
    action: 'DELETE',
    facts: ({ tx, organizationId, params: { secretIds } }) => factsOfEach(tx, organizationId, secretIds),
  },
  params: z.object({ secretIds: listOf(id) }),
  returns: z.object({ secretIds: uuids }),
  run({ tx, organizationId, params: { secretIds } }) {
    checkDistinct('parameters.secretIds', secretIds);
    for (const secretId of secretIds) deleteSecret(tx, findSecret(tx, organizationId, secretId).id);
    return { secretIds };
  },
});

const notFound = (secretId: string): string => `unable to find secret ${secretId}`;

const findSecret = (tx: Reader, organizationId: string, secretId: string): SecretRow =>
  orNotFound(getSecretRow(tx, organizationId, secretId), notFound(secretId));

const shownSecret = z
  .object({
    secretId: uuid,
    name: z.string().optional(),
    staticProperties: z.array(z.object({ key: z.string(), value: z.string() })),
    /** Milliseconds since the epoch, in digits. */
    createdAtUnixMs: z.string(),
  })
  .meta({ id: 'Secret' });

export const listSecrets = query({
  path: 'list_secrets',
  summary: 'Lists secrets, the newest first: their names and properties, never their values.',
  params: z.object({ paginationOptions: pagination }),
  returns: z.object({ secrets: z.array(shownSecret) }),
  run: ({ tx, organizationId, params: { paginationOptions } }) => ({
    secrets: orNotFound(
      listSecretRows(tx, organizationId, page(paginationOptions)),
      'invalid paginationOptions: after and before name a secret of this organization',
    ).map((row) => ({
      secretId: row.id,
      ...defined({ name: row.name ?? undefined }),
      staticProperties: readProperties(row.staticProperties),
      createdAtUnixMs: String(row.createdAt),
    })),
  }),
});

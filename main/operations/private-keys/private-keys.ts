/** Private keys that stand alone, outside any wallet. */
import { z } from 'zod';
import { activity, older, query } from '../../activities/define.ts';
import { curves } from '../../crypto/keys/curves.ts';
import type { Reader } from '../../storage/connection.ts';
import {
  countPrivateKeys,
  deletePrivateKey,
  getPrivateKeyRow,
  listPrivateKeyRows,
  markPrivateKeyExported,
  privateKeyContext,
  toPrivateKey,
  type PrivateKeyRow,
} from '../../storage/tables/private-keys.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { forAnother } from '../credentials/authority.ts';
import { privateKeyFacts } from '../signing/key-facts.ts';
import { limits } from '../shared/limits.ts';
import {
  encryptedBundleText,
  encryptTo,
  exportBundle,
  initImport,
  importKeys,
  openImport,
  wipeImport,
  spendImport,
  targetPublicKey,
} from '../shared/bundles.ts';
import {
  addressFormat,
  checkDistinct,
  checkLimit,
  curve,
  orNotFound,
  id,
  ids,
  name,
  notExported,
} from '../shared/parameters.ts';
import { addPrivateKey, makePrivateKeys, privateKeyParams } from './private-key-registration.ts';
import { shownAddress, shownPrivateKey, uuid, uuids } from '../shared/resources.ts';

const params = z.object({ privateKeys: z.array(privateKeyParams).min(1).max(limits.batch) });

/** Clients of the first type read the ids alone, as a list. */
type KeysParams = z.output<typeof params> & { readonly listIds?: true };

export const createPrivateKeys = activity({
  path: 'create_private_keys',
  summary: 'Makes private keys.',
  title: 'Create private keys',
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
  intent: 'createPrivateKeysIntentV2',
  result: 'createPrivateKeysResultV2',
  authority: { resource: 'PRIVATE_KEY', action: 'CREATE' },
  params,
  returns: z.object({
    /** For the first type alone. */
    privateKeyIds: uuids.optional(),
    privateKeys: z.array(z.object({ privateKeyId: uuid, addresses: z.array(shownAddress) })),
  }),
  accepts: {
    ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: older({
      intent: 'createPrivateKeysIntent',
      result: 'createPrivateKeysResult',
      params,
      upgrade: (value): KeysParams => ({ ...value, listIds: true }),
    }),
  },
  run(context) {
    const { privateKeys: wanted, listIds }: KeysParams = context.params;
    const privateKeys = makePrivateKeys(context, wanted);
    return {
      ...(listIds && { privateKeyIds: privateKeys.map(({ privateKeyId }) => privateKeyId) }),
      privateKeys,
    };
  },
});

export const initImportPrivateKey = activity({
  path: 'init_import_private_key',
  summary: 'Gives a user a public key of the vault, to encrypt a private key to.',
  title: 'Start a private key import',
  type: 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY',
  intent: 'initImportPrivateKeyIntent',
  result: 'initImportPrivateKeyResult',
  authority: { resource: 'PRIVATE_KEY', action: 'IMPORT', refuses: forAnother },
  params: z.object({ userId: id }),
  returns: z.object({ importBundle: z.string() }),
  run: (context) => ({ importBundle: initImport(context, context.params.userId, 'private key') }),
});

export const importPrivateKey = activity({
  path: 'import_private_key',
  summary: 'Stores a private key that the client encrypted to the vault.',
  title: 'Import a private key',
  type: 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY',
  intent: 'importPrivateKeyIntent',
  result: 'importPrivateKeyResult',
  authority: { resource: 'PRIVATE_KEY', action: 'IMPORT', changesRights: true, refuses: forAnother },
  params: z.object({
    userId: id,
    privateKeyName: name,
    encryptedBundle: encryptedBundleText,
    curve,
    addressFormats: z.array(addressFormat).max(limits.batch),
  }),
  returns: z.object({ privateKeyId: uuid, addresses: z.array(shownAddress) }),
  gather: (context) => importKeys(context, context.params.userId, 'private key'),
  prepare: ({ gathered, params }) => openImport(gathered, 'private key', params.encryptedBundle),
  wipe: wipeImport,
  run(context) {
    const { tx, organizationId, params, prepared } = context;
    spendImport(tx, prepared, 'private key');
    if (!curves[params.curve].isPrivateKey(prepared.secret)) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid parameters.encryptedBundle: expected a private key of ${params.curve}, 32 bytes, in it`,
      );
    }
    checkLimit(
      tx,
      'private keys',
      countPrivateKeys(tx, organizationId),
      1,
      limits.privateKeysPerOrganization,
    );
    return {
      ...addPrivateKey(context, { ...params, secret: prepared.secret, imported: true }, 'parameters'),
    };
  },
});

export const exportPrivateKey = activity({
  path: 'export_private_key',
  summary: 'Hands a private key out, encrypted to the client’s key.',
  title: 'Export a private key',
  type: 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY',
  intent: 'exportPrivateKeyIntent',
  result: 'exportPrivateKeyResult',
  authority: {
    resource: 'PRIVATE_KEY',
    action: 'EXPORT',
    shows: (shown) => ({ target_public_key: shown.targetPublicKey }),
    facts: ({ params: { privateKeyId }, ...where }) => privateKeyFacts(where, privateKeyId),
  },
  stepUp: { for: 'export' },
  params: z.object({ privateKeyId: id, targetPublicKey }),
  returns: z.object({ privateKeyId: uuid, exportBundle: z.string() }),
  gather({ tx, keys, organizationId, params }) {
    const key = findPrivateKey(tx, organizationId, params.privateKeyId);
    return keys.open(privateKeyContext(key), key.sealed);
  },
  prepare: ({ gathered, params }) => encryptTo(params.targetPublicKey, gathered),
  run(context) {
    const { tx, organizationId, params, prepared, now } = context;
    const key = findPrivateKey(tx, organizationId, params.privateKeyId);
    markPrivateKeyExported(tx, key.id, now);
    return { privateKeyId: key.id, exportBundle: exportBundle(context, prepared) };
  },
});

export const deletePrivateKeys = activity({
  path: 'delete_private_keys',
  summary: 'Deletes private keys that were exported, or that may be lost.',
  title: 'Delete private keys',
  type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
  intent: 'deletePrivateKeysIntent',
  result: 'deletePrivateKeysResult',
  authority: {
    resource: 'PRIVATE_KEY',
    action: 'DELETE',
    facts: ({ params: { privateKeyIds }, ...where }) =>
      privateKeyIds.map((privateKeyId) => privateKeyFacts(where, privateKeyId)),
  },
  params: z.object({ privateKeyIds: ids.min(1), deleteWithoutExport: z.boolean().optional() }),
  returns: z.object({ privateKeyIds: uuids }),
  run({ tx, organizationId, params }) {
    checkDistinct('parameters.privateKeyIds', params.privateKeyIds);
    for (const privateKeyId of params.privateKeyIds) {
      const key = findPrivateKey(tx, organizationId, privateKeyId);
      if (params.deleteWithoutExport !== true && key.exported === 0) throw notExported('private key', key.id);
      deletePrivateKey(tx, key.id);
    }
    return { privateKeyIds: params.privateKeyIds };
  },
});

function findPrivateKey(tx: Reader, organizationId: string, privateKeyId: string): PrivateKeyRow {
  return orNotFound(
    getPrivateKeyRow(tx, organizationId, privateKeyId),
    `unable to find private key ${privateKeyId}`,
  );
}

export const getPrivateKey = query({
  path: 'get_private_key',
  summary: 'Shows one private key: its public half, its addresses and tags.',
  params: z.object({ privateKeyId: id }),
  returns: z.object({ privateKey: shownPrivateKey }),
  run: ({ tx, organizationId, params }) => ({
    privateKey: toPrivateKey(tx, findPrivateKey(tx, organizationId, params.privateKeyId)),
  }),
});

export const listPrivateKeys = query({
  path: 'list_private_keys',
  summary: 'Lists all private keys: their public halves, addresses and tags.',
  params: z.object({}),
  returns: z.object({ privateKeys: z.array(shownPrivateKey) }),
  run: ({ tx, organizationId }) => ({
    privateKeys: listPrivateKeyRows(tx, organizationId).map((row) => toPrivateKey(tx, row)),
  }),
});

/** Private keys that stand alone, outside any wallet. */
import { z } from 'zod';
import { activity, query, type ActivityContext } from '../activities/define.ts';
import { encodeAddress } from '../crypto/addresses.ts';
import { curves, type Curve } from '../crypto/curves.ts';
import { toHex } from '../crypto/encodings.ts';
import { uuidV5 } from '../crypto/uuid.ts';
import {
  countPrivateKeys,
  findPrivateKeyByName,
  getPrivateKeyRow,
  insertPrivateKey,
  listPrivateKeyRows,
  privateKeysTable,
  toPrivateKey,
  type Address,
} from '../db/private-keys.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { limits } from './limits.ts';
import { addressFormat, checkDistinct, checkLimit, curve, found, id, ids, name } from './parameters.ts';

const privateKeyParams = z.object({
  privateKeyName: name,
  curve,
  privateKeyTags: ids,
  addressFormats: z.array(addressFormat).max(limits.batch),
});

const params = z.object({ privateKeys: z.array(privateKeyParams).min(1).max(limits.batch) });

export const createPrivateKeys = activity({
  path: 'create_private_keys',
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
  intent: 'createPrivateKeysIntentV2',
  result: 'createPrivateKeysResultV2',
  params,
  accepts: {
    ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: {
      intent: 'createPrivateKeysIntent',
      result: 'createPrivateKeysResult',
      params,
      upgrade: (value) => value as z.output<typeof params>,
    },
  },
  run(context) {
    const { tx, organizationId, random } = context;
    const wanted = context.params.privateKeys;
    checkDistinct(
      'parameters.privateKeys',
      wanted.map(({ privateKeyName }) => privateKeyName),
    );
    checkLimit(
      'private keys',
      countPrivateKeys(tx, organizationId),
      wanted.length,
      limits.privateKeysPerOrganization,
    );
    return {
      privateKeys: wanted.map((key, index) => {
        const at = `parameters.privateKeys[${String(index)}]`;
        if (key.privateKeyTags[0] !== undefined) {
          throw new LatchkeyError(
            'NOT_FOUND',
            `invalid ${at}.privateKeyTags[0]: there is no private key tag ${key.privateKeyTags[0]}`,
          );
        }
        const secret = curves[key.curve].generate((length) => random('private key', length));
        try {
          return addPrivateKey(context, { ...key, secret, imported: false }, at);
        } finally {
          secret.fill(0);
        }
      }),
    };
  },
});

interface NewPrivateKey {
  readonly privateKeyName: string;
  readonly curve: Curve;
  readonly addressFormats: readonly z.output<typeof addressFormat>[];
  readonly secret: Uint8Array;
  readonly imported: boolean;
}

/**
 * Stores a key, sealed, under an id that follows from its public half: the same key cannot be stored twice.
 * @param at The name of the key in the request, for errors.
 */
function addPrivateKey(
  { tx, keys, organizationId, now }: Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId' | 'now'>,
  key: NewPrivateKey,
  at: string,
): { readonly privateKeyId: string; readonly addresses: readonly Address[] } {
  if (findPrivateKeyByName(tx, organizationId, key.privateKeyName)) {
    throw new LatchkeyError(
      'ALREADY_EXISTS',
      `invalid ${at}.privateKeyName: private key name must be unique, ${JSON.stringify(key.privateKeyName)} is taken`,
    );
  }
  const publicKey = curves[key.curve].publicKey(key.secret);
  const publicHex = toHex(publicKey);
  const privateKeyId = uuidV5(organizationId, `private key ${key.curve} ${publicHex}`);
  if (getPrivateKeyRow(tx, organizationId, privateKeyId)) {
    throw new LatchkeyError(
      'ALREADY_EXISTS',
      `private key with ID ${privateKeyId} has already been imported in this organization`,
    );
  }
  const addresses = key.addressFormats.map((format) => ({
    format,
    address: encodeAddress(format, key.curve, publicKey),
  }));
  insertPrivateKey(
    tx,
    {
      id: privateKeyId,
      organizationId,
      name: key.privateKeyName,
      curve: key.curve,
      publicKey: publicHex,
      sealed: keys.seal({ table: privateKeysTable, rowId: privateKeyId, organizationId }, key.secret),
      exported: 0,
      imported: key.imported ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    },
    addresses,
    [],
  );
  return { privateKeyId, addresses };
}

export const getPrivateKey = query({
  path: 'get_private_key',
  params: z.object({ privateKeyId: id }),
  run: ({ tx, organizationId, params }) => ({
    privateKey: toPrivateKey(
      tx,
      found(
        getPrivateKeyRow(tx, organizationId, params.privateKeyId),
        `unable to find private key ${params.privateKeyId}`,
      ),
    ),
  }),
});

export const listPrivateKeys = query({
  path: 'list_private_keys',
  params: z.object({}),
  run: ({ tx, organizationId }) => ({
    privateKeys: listPrivateKeyRows(tx, organizationId).map((row) => toPrivateKey(tx, row)),
  }),
});

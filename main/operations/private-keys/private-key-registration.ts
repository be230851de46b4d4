/** Parameters of a new private key, and creating and storing one. */
import { z } from 'zod';
import type { ActivityContext } from '../../activities/define.ts';
import { encodeAddress } from '../../chains/addresses/addresses.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';
import { toHex } from '../../crypto/encodings.ts';
import {
  countPrivateKeys,
  findPrivateKeyByName,
  getPrivateKeyRow,
  insertPrivateKey,
  listPrivateKeyRows,
  privateKeyContext,
  type Address,
} from '../../storage/tables/private-keys.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { requestLimits } from '../../lib/published-limits.ts';
import { limits } from '../shared/limits.ts';
import {
  addressFormat,
  checkDistinct,
  checkLimit,
  checkRequest,
  checkUnmistakable,
  curve,
  ids,
  name,
  nameTaken,
} from '../shared/parameters.ts';
import { privateKeyIdOf } from './private-key-ids.ts';
import { tagHolder } from '../tags/tag-holders.ts';

export const privateKeyParams = z.object({
  privateKeyName: name,
  curve,
  privateKeyTags: ids,
  addressFormats: z.array(addressFormat).max(limits.batch),
});

type KeyContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'random' | 'organizationId' | 'now'>;

interface AddedPrivateKey {
  readonly privateKeyId: string;
  readonly addresses: readonly Address[];
}

/** The name of the keys in a request, for errors. */
const field = 'parameters.privateKeys';

/** Generates keys and stores them, with their tags. */
export function makePrivateKeys(
  context: KeyContext,
  wanted: readonly z.output<typeof privateKeyParams>[],
): readonly AddedPrivateKey[] {
  const { tx, organizationId, random } = context;
  const formats = wanted.flatMap(({ addressFormats }) => addressFormats);
  checkRequest(field, 'address formats', formats.length, requestLimits.addresses);
  checkDistinct(
    field,
    wanted.map(({ privateKeyName }) => privateKeyName),
  );
  checkLimit(
    tx,
    'private keys',
    countPrivateKeys(tx, organizationId),
    wanted.length,
    limits.privateKeysPerOrganization,
  );
  return wanted.map((key, index) => {
    const at = `${field}[${String(index)}]`;
    const secret = curves[key.curve].generate((length) => random('private key', length));
    try {
      const added = addPrivateKey(context, { ...key, secret, imported: false }, at);
      tagHolder(
        context,
        'TAG_TYPE_PRIVATE_KEY',
        added.privateKeyId,
        key.privateKeyTags,
        `${at}.privateKeyTags`,
      );
      return added;
    } finally {
      secret.fill(0);
    }
  });
}

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
export function addPrivateKey(
  { tx, keys, organizationId, now }: Omit<KeyContext, 'random'>,
  key: NewPrivateKey,
  at: string,
): AddedPrivateKey {
  const [field, label] = [`${at}.privateKeyName`, 'private key name'];
  if (findPrivateKeyByName(tx, organizationId, key.privateKeyName)) {
    throw nameTaken(field, label, key.privateKeyName);
  }
  checkUnmistakable(field, label, key.privateKeyName, () => listPrivateKeyRows(tx, organizationId));
  const publicKey = curves[key.curve].publicKey(key.secret);
  const publicHex = toHex(publicKey);
  const privateKeyId = privateKeyIdOf(organizationId, key.curve, publicHex);
  if (getPrivateKeyRow(tx, organizationId, privateKeyId)) {
    throw new KeyhearthError(
      'ALREADY_EXISTS',
      `private key with ID ${privateKeyId} has already been imported in this organization`,
    );
  }
  const addresses = key.addressFormats.map((format, index) => ({
    format,
    address: encodeAddress(format, key.curve, publicKey, `${at}.addressFormats[${String(index)}]`),
  }));
  insertPrivateKey(
    tx,
    {
      id: privateKeyId,
      organizationId,
      name: key.privateKeyName,
      curve: key.curve,
      publicKey: publicHex,
      sealed: keys.seal(privateKeyContext({ id: privateKeyId, organizationId }), key.secret),
      exported: 0,
      imported: key.imported ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    },
    addresses,
  );
  return { privateKeyId, addresses };
}

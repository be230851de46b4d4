/** `keyhearth private-keys`: the private keys of the running vault, and new ones. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { findPrivateKey, privateKeyList, type PrivateKeyItem } from '../shared/named.ts';
import { print } from '../shared/output.ts';
import { readAddressFormat, readCurve } from '../wallets/account-options.ts';

interface PrivateKeysOptions {
  readonly apiKey: string;
  readonly json: boolean;
}

export interface CreatePrivateKeyOptions extends PrivateKeysOptions {
  readonly name: string;
  readonly curve: string;
  readonly addressFormat: readonly string[];
}

const createActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
  result: z.object({
    privateKeys: z.array(
      z.object({
        privateKeyId: z.string(),
        addresses: z.array(z.object({ format: z.string(), address: z.string() })),
      }),
    ),
  }),
  options: {
    'parameters.privateKeys[0].privateKeyName': '--name',
    'parameters.privateKeys[0].addressFormats': '--address-format',
  },
  isOfUseLater: true,
});

export async function listPrivateKeys(config: Config, { apiKey, json }: PrivateKeysOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { privateKeys } = await api.query('list_private_keys', privateKeyList, {});
  print(json, { privateKeys }, privateKeys.map(keyLine).join('\n') || 'No private key.');
}

const keyLine = ({ privateKeyId, privateKeyName, curve, imported, exported }: PrivateKeyItem): string => {
  const marks = [curve, ...(imported ? ['imported'] : []), ...(exported ? ['exported'] : [])];
  return `${privateKeyId}  ${visibleName(privateKeyName)}  (${marks.join(', ')})`;
};

const addressLine = ({ format, address }: { readonly format: string; readonly address: string }): string =>
  `${format} ${address}`;

/** @param wanted The key's id, how it begins, or the name. */
export async function showPrivateKey(
  config: Config,
  wanted: string,
  { apiKey, json }: PrivateKeysOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const key = await findPrivateKey(api, wanted);
  print(
    json,
    key,
    [keyLine(key), `Public key ${key.publicKey}`, ...key.addresses.map(addressLine)].join('\n'),
  );
}

export async function createPrivateKey(config: Config, options: CreatePrivateKeyOptions): Promise<void> {
  const curve = readCurve('--curve', options.curve);
  const addressFormats = options.addressFormat.map((format) =>
    readAddressFormat('--address-format', format, curve),
  );
  const api = await VaultApi.connect(config, options.apiKey);
  const {
    privateKeys: [made = { privateKeyId: '', addresses: [] }],
  } = await api.submit(createActivity, {
    privateKeys: [{ privateKeyName: options.name, curve, privateKeyTags: [], addressFormats }],
  });
  print(
    options.json,
    { ...made, privateKeyName: options.name, curve },
    [
      `Private key ${JSON.stringify(options.name)} created: ${made.privateKeyId}`,
      ...made.addresses.map(addressLine),
      'It is in the vault and its backups alone. `keyhearth export private-key` writes it out.',
    ].join('\n'),
  );
}

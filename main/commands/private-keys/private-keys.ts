/** `keyhearth private-keys`: the private keys of the running vault, and new ones. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { listings } from '../shared/named.ts';
import { print } from '../shared/output.ts';
import { fields, table, type Table } from '../shared/table.ts';
import { curveName, readAddressFormat, readCurve } from '../wallets/account-options.ts';
import { formatName } from '../wallets/format-names.ts';
import { marksOf } from '../wallets/wallets.ts';

export interface CreatePrivateKeyOptions extends ApiOptions {
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

export async function listPrivateKeys(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const privateKeys = await listings.privateKey.all(api);
  print(
    json,
    { privateKeys },
    privateKeys.length === 0
      ? 'No private keys. Create one with: keyhearth private-keys create --name NAME --curve secp256k1'
      : table(
          ['ID', 'Name', 'Curve', 'Notes'],
          privateKeys.map((key) => [
            key.privateKeyId,
            key.privateKeyName,
            curveName(key.curve),
            marksOf(key),
          ]),
        ),
  );
}

export const addressTable = (
  addresses: readonly { readonly format: string; readonly address: string }[],
): Table =>
  table(
    ['Format', 'Address'],
    addresses.map(({ format, address }) => [formatName(format), address]),
  );

/** @param wanted The key's id, how it begins, or the name. */
export async function showPrivateKey(
  config: Config,
  wanted: string,
  { apiKey, json }: ApiOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const key = await listings.privateKey.find(api, wanted);
  print(json, key, [
    fields([
      ['Private key', key.privateKeyName],
      ['ID', key.privateKeyId],
      ['Curve', curveName(key.curve)],
      ['Public key', key.publicKey],
      ['Notes', marksOf(key)],
    ]),
    ...(key.addresses.length === 0 ? [] : ['', addressTable(key.addresses)]),
  ]);
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
  print(options.json, { ...made, privateKeyName: options.name, curve }, [
    `Created private key ${JSON.stringify(options.name)}: ${made.privateKeyId}`,
    ...(made.addresses.length === 0 ? [] : [addressTable(made.addresses)]),
    'The key exists only in the vault and its backups. To export it: keyhearth export private-key',
  ]);
}

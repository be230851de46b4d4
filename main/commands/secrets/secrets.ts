/** `keyhearth secret`: values that programs need, kept in the running vault. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { quoted } from '../../lib/errors.ts';
import { requestLimits } from '../../lib/published-limits.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { agreeToDelete } from '../requests/agree.ts';
import { readFileBytes } from '../shared/file-text.ts';
import type { ApiOptions } from '../shared/options.ts';
import { activityKind, VaultApi, type Api } from '../shared/api.ts';
import { Listing } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { table } from '../shared/table.ts';
import { handOut, takeAll, type ExportOptions } from '../wallets/hand-out.ts';
import { encryptFor } from '../wallets/sealed-import.ts';
import { askFor, namedSource, standardInput, type Source } from '../wallets/secret-sources.ts';

const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1' as const;

const secretList = z.object({
  secrets: z.array(
    z.object({
      secretId: z.string(),
      name: z.string().optional(),
      staticProperties: z.array(z.object({ key: z.string(), value: z.string() })),
      createdAtUnixMs: z.string(),
    }),
  ),
});
type SecretItem = z.output<typeof secretList>['secrets'][number];

const pageSize = 100;

async function listAll(api: Api): Promise<readonly SecretItem[]> {
  const all: SecretItem[] = [];
  for (;;) {
    const paginationOptions = { limit: String(pageSize), ...defined({ after: all.at(-1)?.secretId }) };
    const { secrets } = await api.query('list_secrets', secretList, { paginationOptions });
    all.push(...secrets);
    if (secrets.length < pageSize) return all;
  }
}

export const secretListing = new Listing('secret', listAll, ({ secretId: id, name }) => ({
  id,
  ...defined({ name }),
}));

const initImport = activityKind({
  type: 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS',
  result: z.object({ enclaveTargetMessages: z.array(z.string()).length(1) }),
});

const importSecrets = activityKind({
  type: 'ACTIVITY_TYPE_IMPORT_SECRETS',
  result: z.object({ secretIds: z.array(z.string()).length(1) }),
  options: {
    'parameters.secrets[0].name': '<name>',
    'parameters.secrets[0].staticProperties': '--property',
    'parameters.secrets[0].secretPayload': 'value',
  },
  isOfUseLater: true,
});

const updateSecret = activityKind({
  type: 'ACTIVITY_TYPE_UPDATE_SECRET',
  result: z.object({ secretId: z.string() }),
  isOfUseLater: true,
});

const exportSecretsActivity = activityKind({
  type: 'ACTIVITY_TYPE_EXPORT_SECRETS',
  result: z.object({ secretPayloads: z.array(z.string()) }),
});

const deleteSecrets = activityKind({
  type: 'ACTIVITY_TYPE_DELETE_SECRETS',
  result: z.object({ secretIds: z.array(z.string()) }),
  isOfUseLater: true,
});

export interface SetSecretOptions extends ApiOptions {
  readonly valueFile?: string;
  readonly valueFd?: string;
  readonly property: readonly string[];
  readonly replace?: boolean;
}

/** Stores a secret under a new name, or gives the one of that name another value. */
export async function setSecret(config: Config, name: string, options: SetSecretOptions): Promise<void> {
  const { replace = false, json } = options;
  if (name === '')
    throw new CommandError(exitCodes.usage, 'invalid <name>: expected a name, got an empty one');
  const staticProperties = options.property.map(readProperty);
  if (replace && staticProperties.length > 0) {
    throw new CommandError(
      exitCodes.usage,
      'invalid --property: the properties of a secret stay as they are; remove the secret first',
    );
  }
  const source = namedSource('--value', options.valueFile, options.valueFd) ?? standardInput();
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const known = replace ? await secretListing.find(api, name) : undefined;
  if (known === undefined && (await listAll(api)).some((secret) => secret.name === name)) {
    throw new CommandError(
      exitCodes.failed,
      `there is a secret ${quoted(name)}: --replace gives it another value`,
    );
  }
  const payload = await encrypt(api, await readValue(source));
  if (known !== undefined) {
    const { secretId } = known;
    await api.submit(updateSecret, { secretId, ...payload });
    print(
      json,
      { secretId, name: known.name },
      `Replaced the value of ${visibleName(known.name ?? secretId)}.`,
    );
    return;
  }
  const { secretIds } = await api.submit(importSecrets, {
    secrets: [{ name, staticProperties: [...staticProperties], ...payload }],
  });
  const [secretId = ''] = secretIds;
  print(json, { secretId, name, staticProperties }, `Stored ${visibleName(name)}: ${secretId}`);
}

function readProperty(text: string): { readonly key: string; readonly value: string } {
  const at = text.indexOf('=');
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  throw new CommandError(exitCodes.usage, `invalid --property ${quoted(text)}: expected KEY=VALUE`);
}

/** @returns the value to the letter, but for the line end of a single line. The taker wipes it. */
async function readValue(source: Source): Promise<Uint8Array> {
  if (source.from === undefined) return Buffer.from(await askFor('value of the secret'));
  const bytes = readFileBytes(source.from, source.name, requestLimits.secretBytes);
  const lineEnd = bytes.indexOf('\n');
  if (lineEnd !== -1 && lineEnd === bytes.length - 1) {
    return bytes.subarray(0, bytes[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd);
  }
  return bytes;
}

const carriageReturn = 0x0d;

/** @param value Erased. */
async function encrypt(api: VaultApi, value: Uint8Array) {
  if (value.length === 0) throw new CommandError(exitCodes.usage, 'the value is empty: nothing was stored');
  const init = async (): Promise<string> => {
    const { enclaveTargetMessages } = await api.submit(initImport, { encryptionSuite, numSecrets: 1 });
    return enclaveTargetMessages[0] ?? '';
  };
  const { targetPublicKey, encryptedBundle } = await encryptFor(api, init, value);
  return { encryptionSuite, targetPublicKey, secretPayload: encryptedBundle } as const;
}

/** @param wanted The secret's id or name. */
export async function getSecret(config: Config, wanted: string, options: ExportOptions): Promise<void> {
  const api = await VaultApi.connect(config, options.apiKey);
  api.requireSigner();
  const { secretId, name } = await secretListing.find(api, wanted);
  await handOut(api, options, {
    what: `value of secret ${JSON.stringify(name ?? secretId)}`,
    about: { secretId, ...defined({ name }) },
    submit: async (targetPublicKey) => {
      const { secretPayloads } = await submitExport(api, [secretId], [targetPublicKey]);
      return { exportBundle: secretPayloads[0] ?? '' };
    },
    write: (secret) => secret.slice(),
    ends: 'to the letter',
    show: (text) =>
      isUtf8(text)
        ? { secret: Buffer.from(text).toString('utf8') }
        : { secretBase64: Buffer.from(text).toString('base64') },
  });
}

/** @param targets The public key for each secret. */
const submitExport = (api: VaultApi, secretIds: readonly string[], targets: readonly string[]) =>
  api.submit(exportSecretsActivity, {
    secrets: secretIds.map((secretId, index) => ({
      secretId,
      targetPublicKey: targets[index] ?? '',
      encryptionSuite,
    })),
  });

/** Values that one request exports, however long they are. */
const atOnce = Math.floor(requestLimits.secretBytesTogether / (requestLimits.secretBytes + 1000));

/** @returns the values in the same order; the taker wipes them. */
export async function takeSecrets(
  api: VaultApi,
  secretIds: readonly string[],
): Promise<readonly Uint8Array[]> {
  const values: Uint8Array[] = [];
  for (let from = 0; from < secretIds.length; from += atOnce) {
    const some = secretIds.slice(from, from + atOnce);
    values.push(
      ...(await takeAll(
        api,
        some.length,
        async (targets) => (await submitExport(api, some, targets)).secretPayloads,
      )),
    );
  }
  return values;
}

export async function listSecrets(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const secrets = await secretListing.all(api);
  print(
    json,
    { secrets },
    secrets.length === 0
      ? 'No secrets. Store one with: keyhearth secret set NAME'
      : table(
          ['ID', 'Name', 'Properties', 'Created'],
          secrets.map(({ secretId, name = '', staticProperties, createdAtUnixMs }) => [
            secretId,
            visibleName(name),
            visibleName(staticProperties.map(({ key, value }) => `${key}=${value}`).join(', ')),
            new Date(Number(createdAtUnixMs)).toISOString(),
          ]),
        ),
  );
}

/** @param wanted Ids or names. */
export async function removeSecrets(
  config: Config,
  wanted: readonly string[],
  { apiKey, json, yes }: ApiOptions & { readonly yes?: boolean },
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const found = await secretListing.findEach(api, wanted);
  const names = found.map(({ name, secretId }) => visibleName(name ?? secretId)).join(', ');
  await agreeToDelete(`the ${found.length === 1 ? 'secret' : 'secrets'} ${names}`, yes);
  const secretIds = found.map(({ secretId }) => secretId);
  await api.submit(deleteSecrets, { secretIds });
  print(json, { secretIds }, `Deleted ${names}.`);
}

/** `keyhearth keygen`: an API key pair as files, and on request registered for a user or the owner. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { checkUnlocked, requireRunning } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { quoted } from '../../lib/errors.ts';
import { deleteKeyFiles, keyFilesTable, newKeyPair, writeKeyFiles, type KeyFiles } from './key-files.ts';
import { activityKind, type Api } from '../shared/api.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { connectAsOwner, ownerApiOf, type OwnerOptions } from '../shared/owner-api.ts';

export interface KeygenOptions extends OwnerOptions {
  readonly name: string;
  readonly register: boolean;
  /** For whom the key is registered instead of the owner. */
  readonly user?: string;
  readonly json: boolean;
}

export async function keygen(config: Config, options: KeygenOptions): Promise<void> {
  if (options.user !== undefined) {
    await keygenFor(config, options.user, options);
    return;
  }
  const running = options.register ? await requireRunning(dataDirectory(config)) : undefined;
  const status = await running?.status();
  if (status !== undefined) checkUnlocked(status, ', then register the key');
  const files = writeKeyFiles(config.keysDirectory, options.name, newKeyPair());
  const { publicKey, publicKeyFile, privateKeyFile } = files;
  if (running && status) {
    const api = ownerApiOf(config, running, options);
    await register(api, files, { userId: status.owner?.userId ?? '', name: options.name });
  }
  print(
    options.json,
    { name: options.name, publicKey, publicKeyFile, privateKeyFile, registered: running !== undefined },
    [
      keyFilesTable(files),
      running
        ? 'Registered for the owner.'
        : 'Not registered yet. To register a key, give --user or --register.',
    ],
  );
}

export const createApiKeysActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
  result: z.object({ apiKeyIds: z.array(z.string()) }),
  options: { 'parameters.apiKeys[0].apiKeyName': '--name' },
  isOfUseLater: true,
});

/** @param wanted The user's id, how it begins, or the name. */
async function keygenFor(config: Config, wanted: string, options: KeygenOptions): Promise<void> {
  const { name, json } = options;
  const api = await connectAsOwner(config, options);
  const { userId, userName } = await listings.user.find(api, wanted);
  const files = writeKeyFiles(config.keysDirectory, name, newKeyPair());
  const { publicKey, publicKeyFile, privateKeyFile } = files;
  await register(api, files, { userId, name });
  print(json, { name, publicKey, publicKeyFile, privateKeyFile, registered: true, userId, userName }, [
    keyFilesTable(files),
    `Registered for ${quoted(userName)}. Policies decide what the key may do.`,
  ]);
}

/** Registers a key whose files are written. Where that is refused, the files go: the same command makes them again. */
async function register(
  api: Api,
  files: KeyFiles,
  { userId, name }: { readonly userId: string; readonly name: string },
): Promise<void> {
  try {
    const key = { apiKeyName: name, publicKey: files.publicKey, curveType: 'API_KEY_CURVE_P256' } as const;
    await api.submit(createApiKeysActivity, { userId, apiKeys: [key] });
  } catch (error) {
    // A key that waits for approvals is of use later. One whose fate is not known may be registered.
    const isRefused =
      error instanceof CommandError &&
      ([exitCodes.failed, exitCodes.usage, exitCodes.locked] as number[]).includes(error.exitCode);
    if (isRefused) deleteKeyFiles(files);
    throw error;
  }
}

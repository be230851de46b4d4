/** `keyhearth keygen`: an API key pair as files, and on request registered for a user or the owner. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { checkUnlocked, requireRunning } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { quoted } from '../../lib/errors.ts';
import {
  deleteKeyFiles,
  findKeyFiles,
  hasKeyFiles,
  keyFilesTable,
  newKeyPair,
  writeKeyFiles,
  type KeyFiles,
} from './key-files.ts';
import { activityKind, type Api } from '../shared/api.ts';
import { listings, type UserItem } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { connectAsOwner, ownerApiOf, type OwnerOptions } from '../shared/owner-api.ts';

export interface KeygenOptions extends OwnerOptions {
  readonly name: string;
  readonly register?: boolean;
  /** For whom the key is registered instead of the owner. */
  readonly user?: string;
  readonly json: boolean;
}

export async function keygen(config: Config, options: KeygenOptions): Promise<void> {
  if (options.user !== undefined) {
    await keygenFor(config, options.user, options);
    return;
  }
  const running = options.register === true ? await requireRunning(dataDirectory(config)) : undefined;
  const status = await running?.status();
  if (status !== undefined) checkUnlocked(status, ', then register the key');
  const owner = status?.owner?.userId ?? '';
  const api = running && ownerApiOf(config, running, options);
  if (api) checkNotRegistered(config, options.name, await listings.user.find(api, owner));
  const files = writeKeyFiles(config.keysDirectory, options.name, newKeyPair());
  const { publicKey, publicKeyFile, privateKeyFile } = files;
  if (api) {
    await register(api, files, { userId: owner, name: options.name });
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
  const user = await listings.user.find(api, wanted);
  const { userId, userName } = user;
  checkNotRegistered(config, name, user);
  const files = writeKeyFiles(config.keysDirectory, name, newKeyPair());
  const { publicKey, publicKeyFile, privateKeyFile } = files;
  await register(api, files, { userId, name });
  print(json, { name, publicKey, publicKeyFile, privateKeyFile, registered: true, userId, userName }, [
    keyFilesTable(files),
    `Registered for ${quoted(userName)}. Policies decide what the key may do.`,
  ]);
}

/**
 * A command that was killed may have registered the key of files that are there, or have been about to.
 * @throws CommandError that says so, where its key is the user's already.
 */
function checkNotRegistered({ keysDirectory }: Config, name: string, { apiKeys, userName }: UserItem): void {
  if (!hasKeyFiles(keysDirectory, name)) return;
  const { publicKey, privateKeyFile } = findKeyFiles(keysDirectory, name);
  if (!apiKeys.some(({ credential }) => credential.publicKey === publicKey)) return;
  throw new CommandError(
    exitCodes.failed,
    `${privateKeyFile} is there already, and its key is registered for ${quoted(userName)}: use it, or give the new key another name`,
  );
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

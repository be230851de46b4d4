/** `keyhearth keygen`: an API key pair as files, and on request registered for a user or the owner. */
import { stepUpRequired, type VaultStatus } from '../../../preload/contract.ts';
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { submitAsOwner } from '../../rpc/owner-calls.ts';
import { checkUnlocked, ownerOf, requireRunning, type Running } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { quoted } from '../../lib/errors.ts';
import { deleteKeyFiles, keyFilesTable, newKeyPair, writeKeyFiles } from './key-files.ts';
import { activityKind } from '../shared/api.ts';
import { listings } from '../shared/named.ts';
import { CommandError, detailsOfRefusal, exitCodes, print } from '../shared/output.ts';
import { connectAsOwner, type OwnerOptions } from '../shared/owner-api.ts';
import { withSecret } from '../shared/proof.ts';

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
    const prove = async (): Promise<void> => {
      try {
        await withSecret(options, status, (secret) => running.call('prove', secret));
      } catch (error) {
        // The same command with a secret creates them again.
        deleteKeyFiles(files);
        throw error;
      }
    };
    await register(running, status, { name: options.name, publicKey }, prove);
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
  try {
    const key = { apiKeyName: name, publicKey, curveType: 'API_KEY_CURVE_P256' } as const;
    await api.submit(createApiKeysActivity, { userId, apiKeys: [key] });
  } catch (error) {
    // A key that waits for approvals is of use later. One whose fate is not known may be registered.
    const isRefused =
      error instanceof CommandError &&
      ([exitCodes.failed, exitCodes.usage, exitCodes.locked] as number[]).includes(error.exitCode);
    if (isRefused) deleteKeyFiles(files);
    throw error;
  }
  print(json, { name, publicKey, publicKeyFile, privateKeyFile, registered: true, userId, userName }, [
    keyFilesTable(files),
    `Registered for ${quoted(userName)}. Policies decide what the key may do.`,
  ]);
}

/** The message of a refusal, which an answer does not have. */
const refusal = z.looseObject({ message: z.string().optional(), turnkeyErrorCode: z.string().optional() });

/** @param prove Shows a secret of the owner's, which the service asks for where it was shown none lately. */
async function register(
  running: Running,
  status: VaultStatus,
  { name, publicKey }: { readonly name: string; readonly publicKey: string },
  prove: () => Promise<void>,
): Promise<void> {
  const create = async () => {
    const answer = await submitAsOwner(ownerOf(running), 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
      userId: status.owner?.userId ?? '',
      apiKeys: [{ apiKeyName: name, publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    return {
      status: answer.status,
      body: refusal.parse(answer.body),
      details: detailsOfRefusal(answer.body),
    };
  };
  let answer = await create();
  if (answer.body.turnkeyErrorCode === stepUpRequired) {
    await prove();
    answer = await create();
  }
  if (answer.status === 200) return;
  throw new CommandError(
    exitCodes.failed,
    `the key files were created, but the key was not registered: ${answer.body.message ?? String(answer.status)}`,
    answer.details,
  );
}

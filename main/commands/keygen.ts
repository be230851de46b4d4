/** `latchkey keygen`: an API key pair as files, and on request registered for the owner. */
import type { CallAnswer, VaultStatus } from '../../preload/contract.ts';
import type { Config } from '../config.ts';
import { requireRunning, type Running } from './client.ts';
import { dataDirectory } from './control.ts';
import { newKeyPair, writeKeyFiles } from './key-files.ts';
import { CommandError, exitCodes, print } from './output.ts';

export interface KeygenOptions {
  readonly name: string;
  readonly register: boolean;
  readonly json: boolean;
}

export async function keygen(config: Config, options: KeygenOptions): Promise<void> {
  const running = options.register ? await requireRunning(dataDirectory(config)) : undefined;
  const status = await running?.status();
  if (status?.state === 'locked') {
    throw new CommandError(
      exitCodes.locked,
      'the vault is locked: run `latchkey unlock`, then register the key',
    );
  }
  const files = writeKeyFiles(config.keysDirectory, options.name, newKeyPair());
  const { publicKey, publicKeyFile, privateKeyFile } = files;
  if (running && status) await register(running, status, options.name, publicKey);
  print(
    options.json,
    { name: options.name, publicKey, publicKeyFile, privateKeyFile, registered: running !== undefined },
    [
      `Public key  ${publicKey}`,
      `Files       ${publicKeyFile}`,
      `            ${privateKeyFile}`,
      running ? 'Registered for the owner.' : 'Not registered yet: use --register, or create_api_keys.',
    ].join('\n'),
  );
}

async function register(
  running: Running,
  status: VaultStatus,
  name: string,
  publicKey: string,
): Promise<void> {
  const { status: code, body } = (await running.call('call', '/public/v1/submit/create_api_keys', {
    type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
    parameters: {
      userId: status.owner?.userId,
      apiKeys: [{ apiKeyName: name, publicKey, curveType: 'API_KEY_CURVE_P256' }],
    },
  })) as CallAnswer;
  if (code === 200) return;
  const { message } = body as { readonly message?: string };
  throw new CommandError(
    exitCodes.failed,
    `the key files are made, but the key is not registered: ${message ?? String(code)}`,
  );
}

/** `keyhearth ssh agent` and `keyhearth ssh keys`. */
import type { Config } from '../../app/config.ts';
import { findProgram } from '../doors/doors.ts';
import { changeKeyTagActivity, keyTagList } from '../doors/key-tags.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { connectAsOwner, type OwnerOptions } from '../shared/owner-api.ts';
import { listAgentKeys, publicLine } from './agent-client.ts';

/** @throws CommandError where the program has no socket. */
export async function socketOf(config: Config, name: string | undefined): Promise<string> {
  const { socket, name: found } = await findProgram(config, 'ssh', name);
  if (socket !== null) return socket;
  throw new CommandError(
    exitCodes.failed,
    `the program ${found} has no socket: \`keyhearth doors list\` says why`,
  );
}

export async function showAgent(config: Config, name: string | undefined, json: boolean): Promise<void> {
  const socket = await socketOf(config, name);
  print(json, { socket }, `SSH_AUTH_SOCK='${socket.replaceAll("'", "'\\''")}'; export SSH_AUTH_SOCK;`);
}

export interface KeysOptions extends OwnerOptions {
  readonly program?: string;
  readonly add?: string;
  readonly remove?: string;
  readonly json: boolean;
}

export async function changeKeys(config: Config, options: KeysOptions): Promise<void> {
  const { add, remove, program, json } = options;
  const socket = await socketOf(config, program);
  if (add !== undefined || remove !== undefined) await changeTag(config, options);
  const keys = await listAgentKeys(socket);
  const lines = keys.map(publicLine);
  print(json, { keys: lines }, lines.join('\n') || 'No keys. Offer one with: keyhearth ssh keys --add NAME');
}

async function changeTag(config: Config, options: KeysOptions): Promise<void> {
  const api = await connectAsOwner(config, options);
  const { privateKeyTags } = await api.query('list_private_key_tags', keyTagList, {});
  const tag = privateKeyTags.find(({ tagName }) => tagName === 'ssh');
  if (tag === undefined) {
    throw new CommandError(
      exitCodes.failed,
      'there is no tag ssh: pair a program with `keyhearth doors add NAME`',
    );
  }
  const idOf = async (wanted: string | undefined): Promise<string[]> =>
    wanted === undefined ? [] : [await sshKeyId(wanted)];
  const sshKeyId = async (wanted: string): Promise<string> => {
    const { privateKeyId, curve } = await listings.privateKey.find(api, wanted);
    if (curve !== 'CURVE_SECP256K1') return privateKeyId;
    throw new CommandError(exitCodes.usage, 'SSH has no keys on secp256k1: expected one on Ed25519 or P-256');
  };
  await api.submit(changeKeyTagActivity, {
    privateKeyTagId: tag.tagId,
    addPrivateKeyIds: await idOf(options.add),
    removePrivateKeyIds: await idOf(options.remove),
  });
}

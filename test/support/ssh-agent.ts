/** Paired programs of the door for SSH, and a client of an agent that may say anything. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { encodeSshKey, sshString } from '../../main/chains/ssh/wire.ts';
import { readSignedMessage, signMessageRequest } from '../../main/commands/ssh/agent-messages.ts';
import { doorKinds } from '../../main/lib/policies/doors.ts';
import { resultOf, type Json, type TestVault } from './support.ts';

/** A private key on Ed25519 with the tag `ssh`. */
export interface TaggedKey {
  readonly tagId: string;
  readonly privateKeyId: string;
  /** As SSH writes it. */
  readonly blob: Uint8Array;
}

export async function makeTaggedKey({ root }: TestVault, name = 'github'): Promise<TaggedKey> {
  const key = { privateKeyName: name, curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] };
  const { privateKeys } = resultOf(
    await root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] }),
  ) as unknown as { privateKeys: readonly { privateKeyId: string }[] };
  const privateKeyId = privateKeys[0]?.privateKeyId ?? '';
  const { privateKeyTagId: tagId } = resultOf(
    await root.submit('create_private_key_tag', 'CREATE_PRIVATE_KEY_TAG', {
      privateKeyTagName: doorKinds.ssh.keyTag,
      privateKeyIds: [privateKeyId],
    }),
  ) as unknown as { privateKeyTagId: string };
  const { body = {} } = await root.query('get_private_key', { privateKeyId });
  const { publicKey } = body['privateKey'] as { publicKey: string };
  const blob = encodeSshKey({ curve: 'CURVE_ED25519', publicKey: Buffer.from(publicKey, 'hex') });
  return { tagId, privateKeyId, blob };
}

export interface TestProgram {
  readonly userId: string;
  readonly socket: string;
}

/** Pairs a program as the window does, with the door on. */
export async function pairSshProgram(
  { root, vault, rootUserId }: TestVault,
  { tagId }: TaggedKey,
  name: string,
  {
    asks = false,
    forwarders = [],
    seconds,
  }: { readonly asks?: boolean; readonly forwarders?: readonly string[]; readonly seconds?: number } = {},
): Promise<TestProgram> {
  await vault.rpc.changeDoors({ change: 'switch', door: 'ssh', on: true });
  const { doors } = await vault.rpc.changeDoors({ change: 'pair', door: 'ssh', name });
  const programs = doors.flatMap((each) => (each.door === 'ssh' ? each.programs : []));
  const { publicKey = '', socket = '' } = programs.find((each) => each.name === name) ?? {};
  const user = { userName: `ssh ${name}`, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] };
  const { userIds } = resultOf(await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] }));
  const [userId = ''] = userIds;
  const approverId = asks ? rootUserId : undefined;
  const bounds = { userId, tagId, accounts: [], forwarders, spending: undefined, approverId };
  const policies = doorKinds.ssh.policies?.(name, bounds);
  resultOf(await root.submit('create_policies', 'CREATE_POLICIES', { policies }));
  const key: Json = {
    apiKeyName: name,
    publicKey,
    curveType: 'API_KEY_CURVE_P256',
    ...(seconds !== undefined && { expirationSeconds: String(seconds) }),
  };
  resultOf(await root.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId, apiKeys: [key] }));
  return { userId, socket: socket ?? '' };
}

export const connectTo = async (path: string): Promise<Socket> => {
  const socket = createConnection(path);
  // The agent may cut the connection off.
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
};

/** @param length As the frame says it. */
export function framed(bytes: Uint8Array, length = bytes.length): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(length);
  return Buffer.concat([head, bytes]);
}

/** The answers of one connection, one after the other. @returns undefined once the connection is closed. */
export function answersOf(socket: Socket): () => Promise<Buffer | undefined> {
  const read = (async function* () {
    let unread = Buffer.alloc(0);
    for await (const chunk of socket) {
      unread = Buffer.concat([unread, chunk as Buffer]);
      while (unread.length >= 4 && unread.length >= 4 + unread.readUInt32BE()) {
        const end = 4 + unread.readUInt32BE();
        yield unread.subarray(4, end);
        unread = unread.subarray(end);
      }
    }
  })();
  return async () => {
    try {
      const { value } = await read.next();
      return value ?? undefined;
    } catch {
      return undefined;
    }
  };
}

/** @param messages Without their lengths. @returns the answers on one connection; undefined where it is closed. */
export async function ask(
  path: string,
  ...messages: readonly Uint8Array[]
): Promise<readonly (Buffer | undefined)[]> {
  const socket = await connectTo(path);
  const next = answersOf(socket);
  const answers: (Buffer | undefined)[] = [];
  for (const message of messages) {
    socket.write(framed(message));
    answers.push(await next());
  }
  socket.destroy();
  return answers;
}

/** A request to sign bytes. @param key As SSH writes it. */
export const signRequest = (key: Uint8Array, data: Uint8Array): Uint8Array =>
  Buffer.concat([Uint8Array.of(13), sshString(key), sshString(data), new Uint8Array(4)]);

/** A message that is to be signed, as `keyhearth-ssh-sign` sends it. */
export interface Wanted {
  readonly namespace?: string;
  readonly repository?: string;
  readonly branch?: string;
}

/** Asks for a signature over a message. `answer` is undefined where the connection is closed. */
export async function askToSign(
  path: string,
  key: Uint8Array,
  message: string | Uint8Array,
  { namespace = 'file', repository = '', branch = '' }: Wanted = {},
): Promise<{
  readonly socket: Socket;
  readonly answer: Promise<ReturnType<typeof readSignedMessage> | undefined>;
}> {
  const socket = await connectTo(path);
  const next = answersOf(socket);
  socket.write(signMessageRequest({ key, namespace, message: Buffer.from(message), repository, branch }));
  return { socket, answer: next().then((bytes) => bytes && readSignedMessage(bytes)) };
}

/** `sign_raw_payload` through the real port: a vault on disk, durable commits, unique bodies, every one stamped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { signP256 } from '../../main/crypto/p256.ts';
import { runLoad, type Load, type LoadRequest } from './load.ts';

/** More than any machine gets through. */
const preparedPerSecond = 8000;

const command = join(import.meta.dirname, '..', '..', 'dist', 'main', 'cli.js');

interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: Uint8Array;
}

export async function measureSigning(directory: string, seconds: number): Promise<Load> {
  const passwordFile = join(directory, 'password');
  writeFileSync(passwordFile, 'correct horse battery staple\n', { mode: 0o600 });
  const options = [
    ...['--data-dir', join(directory, 'vault'), '--config-dir', join(directory, 'config')],
    ...['--password-file', passwordFile, '--no-keychain', '--json'],
  ];
  const made = await firstLine(start(['init', ...options]));
  const key = {
    publicKey: text(made, 'apiPublicKey'),
    privateKey: new Uint8Array(Buffer.from(readFileSync(text(made, 'privateKeyFile'), 'utf8').trim(), 'hex')),
  };
  const organizationId = text(made, 'organizationId');
  const service = start(['serve', '--port', '0', ...options]);
  try {
    const base = `${text(await firstLine(service), 'url')}/public/v1/submit`;
    const signWith = await createKey(base, key, organizationId);
    const prepared = Array.from({ length: seconds * preparedPerSecond }, () =>
      stamped(key, {
        type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: {
          signWith,
          payload: randomBytes(32).toString('hex'),
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        },
      }),
    );
    const next = (): LoadRequest | undefined => prepared.pop();
    await runLoad(`${base}/sign_raw_payload`, next, Math.min(1, seconds / 5));
    return await runLoad(`${base}/sign_raw_payload`, next, seconds);
  } finally {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
}

async function createKey(base: string, key: KeyPair, organizationId: string): Promise<string> {
  const { body, headers } = stamped(key, {
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    timestampMs: String(Date.now()),
    organizationId,
    parameters: {
      privateKeys: [
        { privateKeyName: 'bench', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] },
      ],
    },
  });
  const response = await fetch(`${base}/create_private_keys`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
  const answer = (await response.json()) as {
    activity: { result: { createPrivateKeysResultV2: { privateKeys: [{ privateKeyId: string }] } } };
  };
  return answer.activity.result.createPrivateKeysResultV2.privateKeys[0].privateKeyId;
}

function stamped({ publicKey, privateKey }: KeyPair, request: object): LoadRequest {
  const body = JSON.stringify(request);
  const signature = signP256(privateKey, new Uint8Array(Buffer.from(body)));
  const stamp = { publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature };
  return { body, headers: { 'X-Stamp': Buffer.from(JSON.stringify(stamp)).toString('base64url') } };
}

const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

async function firstLine(child: ChildProcess): Promise<Record<string, unknown>> {
  if (child.stdout === null) throw new Error('the command has no standard output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return JSON.parse(line) as Record<string, unknown>;
}

function text(from: Record<string, unknown>, name: string): string {
  const value = from[name];
  if (typeof value !== 'string') throw new Error(`the command did not answer ${name}`);
  return value;
}

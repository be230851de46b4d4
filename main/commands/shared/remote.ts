/** The vault that a command reaches by its URL and an API key: what options, variables and a vault file name, checked. */
import { isIPv4 } from 'node:net';
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { quoted } from '../../lib/errors.ts';
import { pairOf, readKeyFiles, readKeyValue, type KeyPair } from '../credentials/key-files.ts';
import { readTextFile } from './file-text.ts';
import { CommandError, exitCodes } from './output.ts';

/** A vault that is not found by its directory. What is missing was not named. */
export interface Remote {
  /** Without a slash at its end. */
  readonly url?: string;
  readonly organizationId?: string;
  /** Hex, uncompressed. */
  readonly signer?: string;
}

/** @returns undefined where nothing names another vault than the one of this machine. */
export function readRemote({ remote }: Pick<Config, 'remote'>): Remote | undefined {
  if (remote === undefined) return undefined;
  const file = remote.vaultFile === undefined ? undefined : readVaultLine(remote.vaultFile);
  const url = remote.url ?? file?.url;
  const signer = remote.signer ?? file?.signerPublicKey;
  if (signer !== undefined && !signerHex.safeParse(signer).success) {
    throw usage('invalid KEYHEARTH_SIGNER: expected 04 and 128 hex digits, a public key of P-256');
  }
  return defined({
    url: url === undefined ? undefined : checkUrl(url, remote.allowHttp),
    organizationId: remote.organizationId ?? file?.organizationId,
    signer,
  });
}

/**
 * The key that a command stamps with: key files that the command line names, `KEYHEARTH_API_KEY`, the vault file's, the key
 * files that are usual.
 */
export function readApiKey({ apiKey, apiKeyNamed, remote, keysDirectory }: Config, name: string): KeyPair {
  if (apiKey !== undefined) return readKeyValue(apiKey);
  const file = apiKeyNamed || remote?.vaultFile === undefined ? undefined : readVaultLine(remote.vaultFile);
  if (file?.apiPublicKey !== undefined && file.apiPrivateKey !== undefined) {
    return pairOf(file.apiPublicKey, file.apiPrivateKey, String(remote?.vaultFile));
  }
  return readKeyFiles(keysDirectory, name);
}

const signerHex = z.string().regex(/^04[0-9a-f]{128}$/);

/** The line that `keyhearth dev` writes, as far as commands need it. The keys may be given another way. */
const vaultLine = z.looseObject({
  url: z.string(),
  organizationId: z.string(),
  signerPublicKey: signerHex.optional(),
  apiPublicKey: z.string().optional(),
  apiPrivateKey: z.string().optional(),
});

/** It holds a private key: nothing of it is quoted. */
function readVaultLine(file: string): z.output<typeof vaultLine> {
  const text = readTextFile(file, `the vault file ${quoted(file)}`);
  try {
    return vaultLine.parse(JSON.parse(text));
  } catch {
    throw usage(
      `the vault file ${quoted(file)} does not hold the line that \`keyhearth dev\` writes: expected JSON with url, organizationId, apiPublicKey and apiPrivateKey`,
    );
  }
}

/** @throws CommandError for an address that stamps shall not go to. */
function checkUrl(text: string, allowHttp: boolean): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#\\]/.test(text)) {
    throw usage(`invalid --url ${quoted(text)}: expected http://… or https://…, without a query`);
  }
  // A password there would reach logs and the list of processes.
  if (url.username !== '' || url.password !== '') {
    throw usage('invalid --url: expected none with a user name or a password');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowHttp) {
    throw usage(
      `${quoted(url.host)} is another machine, and http:// lets everything between read and change what the vault answers: expected https://…, or --allow-http (KEYHEARTH_ALLOW_HTTP=1) on a network that you trust`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** Names that the resolver may send elsewhere are none. */
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

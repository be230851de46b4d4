/** `latchkey request`: one stamped request, its answer on standard output; `latchkey stamp`: the stamp alone. */
import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { signP256 } from '../crypto/p256.ts';
import { requireRunning } from './client.ts';
import { dataDirectory } from './control.ts';
import { readKeyFiles, type KeyPair } from './key-files.ts';
import { CommandError, exitCodes, print } from './output.ts';

export interface RequestOptions {
  readonly path: string;
  readonly body: string;
  readonly key: string;
  readonly url?: string;
  readonly raw: boolean;
  readonly json: boolean;
}

export async function request(config: Config, options: RequestOptions): Promise<void> {
  if (!options.path.startsWith('/')) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --path ${JSON.stringify(options.path)}: expected /public/v1/…`,
    );
  }
  if (options.url !== undefined && !/^https?:\/\/./.test(options.url)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --url ${JSON.stringify(options.url)}: expected http://… or https://…`,
    );
  }
  const pair = readKeyFiles(config.keysDirectory, options.key);
  const running =
    options.url === undefined || !options.raw ? await requireRunning(dataDirectory(config)) : undefined;
  const url = options.url ?? running?.url ?? '';
  const given = readBody(options.body);
  const body =
    options.raw || !running ? given : fillIn(given, options.path, (await running.status()).organization?.id);
  const response = await post(url, options.path, { pair, body });
  const text = await response.text();
  process.stdout.write(`${options.json ? text : pretty(text)}\n`);
  if (!response.ok) process.exitCode = exitCodes.failed;
}

async function post(
  url: string,
  path: string,
  { pair, body }: { readonly pair: KeyPair; readonly body: string },
): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Stamp': stamp(pair, body) },
      body,
    });
  } catch (error) {
    // What went wrong is in the cause; the error itself says "fetch failed".
    const { cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : String(error);
    throw new CommandError(exitCodes.absent, `nothing answers at ${url}: ${reason}`);
  }
}

/** Writes the `X-Stamp` of a body, for a client that has no stamper, such as curl. */
export function writeStamp(config: Config, options: Pick<RequestOptions, 'body' | 'key' | 'json'>): void {
  const value = stamp(readKeyFiles(config.keysDirectory, options.key), readBody(options.body));
  print(options.json, { header: 'X-Stamp', value }, value);
}

/** `X-Stamp` over the very bytes that are sent. */
function stamp({ publicKey, privateKey }: KeyPair, body: string): string {
  const signature = signP256(
    new Uint8Array(Buffer.from(privateKey, 'hex')),
    new Uint8Array(Buffer.from(body)),
  );
  return Buffer.from(
    JSON.stringify({ publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature }),
  ).toString('base64url');
}

function readBody(source: string): string {
  try {
    if (source === '-') return readFileSync(0, 'utf8');
    return source.startsWith('@') ? readFileSync(source.slice(1), 'utf8') : source;
  } catch (error) {
    throw new CommandError(
      exitCodes.usage,
      `--body ${source} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Adds what every request carries, where the caller left it out. */
function fillIn(text: string, path: string, organizationId: string | undefined): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new CommandError(exitCodes.usage, '--body is not JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new CommandError(exitCodes.usage, '--body is not a JSON object');
  }
  return JSON.stringify({
    ...(organizationId === undefined ? {} : { organizationId }),
    ...(path.includes('/submit/') ? { timestampMs: String(Date.now()) } : {}),
    ...body,
  });
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

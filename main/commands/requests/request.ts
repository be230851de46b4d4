/** `keyhearth request`: one stamped request, its answer on standard output; `keyhearth stamp`: the stamp alone. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { visibleJson } from '../../lib/text/visible-text.ts';
import { toBeSigned } from '../../lib/text/to-be-signed.ts';
import type { KeyPair } from '../credentials/key-files.ts';
import type { ApiOptions } from '../shared/options.ts';
import { send, stamp } from '../shared/api.ts';
import { readTextFile } from '../shared/file-text.ts';
import { requireRunning } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { checkRead, describeAnswer } from './descriptions.ts';
import { readApiKey, readRemote } from '../shared/remote.ts';
import { CommandError, exitCodeOfRefusal, exitCodes, print, refusedWith } from '../shared/output.ts';

const submits = '/public/v1/submit/';

export interface StampOptions extends ApiOptions {
  readonly body: string;
  /** The name that `--api-key` had before other commands had it. */
  readonly key?: string;
}

export interface RequestOptions extends StampOptions {
  readonly path: string;
  readonly raw?: boolean;
  /** Queries what would be decided, instead. */
  readonly dryRun?: boolean;
}

const keyOf = (config: Config, { key, apiKey }: StampOptions): KeyPair => readApiKey(config, key ?? apiKey);

export async function request(config: Config, options: RequestOptions): Promise<void> {
  if (!options.path.startsWith('/')) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --path ${JSON.stringify(options.path)}: expected /public/v1/…`,
    );
  }
  const { raw = false, dryRun = false } = options;
  if (dryRun && !options.path.startsWith(submits)) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --dry-run: what only reads carries nothing out; expected a path of ${submits}…`,
    );
  }
  const { url, organizationId } = await whereTo(config, raw);
  const pair = keyOf(config, options);
  const given = readBody(options.body);
  const wanted = raw ? given : fillIn(given, options.path, organizationId);
  const path = dryRun ? '/public/v1/query/explain_policies' : options.path;
  const body = dryRun
    ? JSON.stringify({ organizationId: organizationId ?? namedIn(wanted), requestBody: wanted })
    : wanted;
  const { ok, text } = await postStamped(url, path, pair, body);
  process.stdout.write(`${visibleJson(options.json ? text : pretty(text))}\n`);
  if (!ok) process.exitCode = exitCodeOfRefusal(codeIn(text));
  else if (dryRun) await checkReadable(url, pair, wanted, organizationId ?? namedIn(wanted));
}

const postStamped = (url: string, path: string, pair: KeyPair, body: string) =>
  send(url, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Stamp': stamp(pair, body) },
    body,
  });

const signing = z.looseObject({ type: z.string(), parameters: z.record(z.string(), z.unknown()) });

/** Policies may allow what the vault cannot read. @throws CommandError where it would refuse to sign one of the payloads. */
async function checkReadable(
  url: string,
  pair: KeyPair,
  wanted: string,
  organizationId: unknown,
): Promise<void> {
  const { data } = signing.safeParse(JSON.parse(wanted));
  if (data === undefined) return;
  for (const payload of toBeSigned({ type: data.type, intent: { parameters: data.parameters } })) {
    const body = JSON.stringify({ organizationId, ...payload });
    const { ok, text } = await postStamped(url, '/public/v1/query/describe_payload', pair, body);
    if (ok) checkRead(describeAnswer.parse(JSON.parse(text)).description);
    else throw refusedWith(JSON.parse(text));
  }
}

/** The organization is this machine's vault's where a URL alone is named, and of no use to a body that is sent to the letter. */
async function whereTo(
  config: Config,
  raw: boolean,
): Promise<{ readonly url: string; readonly organizationId?: string | undefined }> {
  const { url, organizationId } = readRemote(config) ?? {};
  if (url !== undefined && (raw || organizationId !== undefined)) return { url, organizationId };
  const local = url === undefined ? config : { ...config, remote: undefined };
  const running = await requireRunning(dataDirectory(local));
  return { url: url ?? running.url, organizationId: (await running.status()).organization?.id };
}

/** Writes the `X-Stamp` of a body, for a client that has no stamper, such as curl. */
export function writeStamp(config: Config, options: StampOptions): void {
  const value = stamp(keyOf(config, options), readBody(options.body));
  print(options.json, { header: 'X-Stamp', value }, value);
}

function readBody(source: string): string {
  const file = source === '-' ? 0 : source.startsWith('@') ? source.slice(1) : undefined;
  return file === undefined ? source : readTextFile(file, `--body ${source}`);
}

/** The organization that a body is for, where it says so. */
function namedIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { readonly organizationId?: unknown } | null)?.organizationId;
  } catch {
    throw new CommandError(exitCodes.usage, '--body is not JSON');
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
    ...defined({ organizationId }),
    ...(path.includes('/submit/') ? { timestampMs: String(Date.now()) } : {}),
    ...body,
  });
}

/** The code of a refusal, where the answer has one. */
function codeIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly turnkeyErrorCode?: unknown } | null)?.turnkeyErrorCode;
  } catch {
    return undefined;
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

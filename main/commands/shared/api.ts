/**
 * The running vault's API, for commands that move secrets: requests stamped with a key file, and the proof that the
 * process which answers is the vault whose file this is. A port proves nothing: another program may have taken it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { toHex } from '../../crypto/encodings.ts';
import { compressP256, signP256, verifyP256 } from '../../crypto/keys/p256.ts';
import { Connection } from '../../storage/connection.ts';
import { getServerKey } from '../../storage/tables/server-keys.ts';
import { requireVault } from '../../storage/tables/vault.ts';
import { quoted } from '../../lib/errors.ts';
import { pathOfType } from '../../lib/text/activity-types.ts';
import { resultOf } from '../../lib/text/to-be-signed.ts';
import type {
  ActivityParameters,
  ActivityResult,
  ActivityType,
  Answer,
  QueryParameters,
  QueryPath,
  Reading,
  VoteType,
} from '../../operations/api.ts';
import { checkUnlocked, requireRunning } from './client.ts';
import { dataDirectory } from '../vault/control.ts';
import type { KeyPair } from '../credentials/key-files.ts';
import { readApiKey, readRemote, type Remote } from './remote.ts';
import { CommandError, exitCodes, refusal, refusedWith } from './output.ts';
import { Outbound, OutboundError, type Answer as HttpAnswer } from '../../net/outbound.ts';

/** An activity as a command submits it. */
export interface ActivityKind<Type extends ActivityType, Shape extends z.ZodType> {
  readonly type: Type;
  /** The part of the result that the command reads. */
  readonly result: Shape;
  /** The options that fields of the request come from, for errors. */
  readonly options?: Readonly<Record<string, string>>;
  /** True if the result is useful to the caller after others have approved it and this command has ended. */
  readonly isOfUseLater?: boolean;
}

export const activityKind = <Type extends ActivityType, Shape extends z.ZodType>(
  kind: ActivityKind<Type, Shape & Reading<ActivityResult<Type>, Shape>>,
): ActivityKind<Type, Shape> => kind;

export const hex = z.string().regex(/^([0-9a-f]{2})+$/);
/** Of P-256, uncompressed. */
export const publicKeyHex = z.string().regex(/^04[0-9a-f]{128}$/);

/**
 * The identity of the vault, from its own file or from the options with the URL. The server that answers
 * cannot change it.
 */
interface Identity {
  /** For errors. */
  readonly name: string;
  readonly organizationId: string;
  /** Hex, uncompressed; undefined where nothing but the server itself names it. */
  readonly signer: string | undefined;
}

/** The API for commands, for any caller. */
export type Api = Pick<VaultApi, 'query' | 'submit' | 'vote'>;

export class VaultApi {
  readonly url: string;
  readonly #pair: KeyPair;
  readonly #identity: Identity;
  readonly #waitSeconds: number;

  private constructor(url: string, pair: KeyPair, identity: Identity, waitSeconds: number) {
    this.#waitSeconds = waitSeconds;
    this.url = url;
    this.#pair = pair;
    this.#identity = identity;
  }

  /**
   * Finds the running vault, checks that it is the one in this directory, and that it is unlocked.
   * @param keyName The API key files to stamp with.
   */
  static async connect(config: Config, keyName: string): Promise<VaultApi> {
    const remote = readRemote(config);
    if (remote !== undefined) return VaultApi.#reach(config, remote, keyName);
    const directory = dataDirectory(config);
    // Without a vault, say that first, and not that a key is missing.
    const running = await requireRunning(directory);
    const pair = readApiKey(config, keyName);
    const api = new VaultApi(running.url, pair, readIdentity(directory), config.waitSeconds);
    await api.#checkDiscoveryKeys();
    checkUnlocked(await running.status());
    return api;
  }

  /** The same of a vault that is named by its URL. Only its own answers say whether it is locked. */
  static async #reach(config: Config, remote: Remote, keyName: string): Promise<VaultApi> {
    const { url, organizationId, signer } = remote;
    if (url === undefined || organizationId === undefined) {
      throw new CommandError(
        exitCodes.usage,
        url === undefined
          ? 'the organization or the signer of a vault is named, but not where it is: expected --url (KEYHEARTH_URL) or --vault-file (KEYHEARTH_VAULT_FILE) too'
          : 'a vault is named, but no organization: expected --organization-id (KEYHEARTH_ORGANIZATION) or --vault-file (KEYHEARTH_VAULT_FILE) too',
      );
    }
    const identity = { name: `the vault of organization ${quoted(organizationId)}`, organizationId, signer };
    const api = new VaultApi(url, readApiKey(config, keyName), identity, config.waitSeconds);
    if (signer !== undefined) await api.#checkDiscoveryKeys();
    return api;
  }

  /**
   * Checks, before any prompt, that a bundle of this vault can be verified.
   * @throws CommandError if only the server itself could say which key signs for it.
   */
  requireSigner(): void {
    if (this.#identity.signer !== undefined) return;
    throw new CommandError(
      exitCodes.usage,
      `the signer key of this vault is unknown, and another server could answer in its place, so no secret is sent to it: expected KEYHEARTH_SIGNER, the signer key that \`keyhearth status\` shows on the vault's machine, or --vault-file`,
    );
  }

  /** @param options The options that fields of the request come from, for errors. */
  async query<Path extends QueryPath, Shape extends z.ZodType>(
    path: Path,
    shape: Shape & Reading<Answer<Path>, Shape>,
    parameters: QueryParameters<Path>,
    options: Readonly<Record<string, string>> = {},
  ): Promise<z.output<Shape>> {
    const body = { organizationId: this.#identity.organizationId, ...(parameters as object) };
    return this.#post(`query/${path}`, body, shape, options);
  }

  /** @returns the result of the completed activity. */
  async submit<Type extends ActivityType, Shape extends z.ZodType>(
    kind: ActivityKind<Type, Shape>,
    parameters: ActivityParameters<Type>,
  ): Promise<z.output<Shape>> {
    const { type, result, options = {} } = kind;
    const path = pathOfType(type);
    const body = {
      type,
      timestampMs: String(Date.now()),
      organizationId: this.#identity.organizationId,
      parameters,
      // The same body is the same activity, and two commands may run in one millisecond.
      nonce: randomUUID(),
    };
    const { activity } = await this.#decided(path, body, activityAnswer, options);
    return this.#read(path, result, completedResult(kind, activity));
  }

  /**
   * Votes on an activity.
   * @returns it as it is by then.
   */
  async vote<Activity extends z.ZodType>(
    type: VoteType,
    fingerprint: string,
    shape: Activity,
  ): Promise<z.output<Activity>> {
    const path = pathOfType(type);
    const body = {
      type,
      timestampMs: String(Date.now()),
      organizationId: this.#identity.organizationId,
      parameters: { fingerprint },
    };
    const answer = await this.#decided(path, body, z.object({ activity: statusOnly }));
    return this.#read(path, shape, answer.activity);
  }

  /**
   * Submits an activity, and waits for the approvals that it needs as long as the command may. Each repeat is the same
   * activity: the vault does nothing twice.
   */
  async #decided<Shape extends z.ZodType<{ readonly activity: { readonly status: string } }>>(
    path: string,
    body: object,
    shape: Shape,
    options: Readonly<Record<string, string>> = {},
  ): Promise<z.output<Shape>> {
    const end = performance.now() + this.#waitSeconds * 1000;
    for (;;) {
      const seconds = Math.min(Math.ceil((end - performance.now()) / 1000), longestPart);
      const sent = performance.now();
      const answer = await this.#post(`submit/${path}`, body, shape, options, Math.max(0, seconds));
      if (answer.activity.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED' || seconds <= 0) return answer;
      // A vault that is frozen, or has many requests waiting, answers at once.
      if (performance.now() - sent < shortestPart) await pause(shortestPart);
    }
  }

  /**
   * Tells whose key this command stamps with, as the vault signed it. A server between the two could name another user of the
   * organization, who could then read what is encrypted for the import.
   */
  async signedUserId(): Promise<string> {
    const { statement } = await this.query('get_signed_whoami', z.object({ statement: z.string() }), {});
    const { userId, publicKey } = this.readSigned(statement, callerStatement);
    if (publicKey === this.#pair.publicKey) return userId;
    throw this.#foreign(
      `its statement is about the key ${quoted(publicKey)}, expected this command's own, ${quoted(this.#pair.publicKey)}`,
    );
  }

  /**
   * Reads the key of an import bundle for a user.
   * @returns the key to encrypt to: uncompressed, hex.
   */
  readImportTarget(bundle: string, expected: string): string {
    const { targetPublic, userId } = this.readSigned(bundle, importTarget);
    if (userId === expected) return targetPublic;
    throw this.#foreign(`its import bundle is for user ${quoted(userId)}, expected ${quoted(expected)}`);
  }

  /**
   * Checks a bundle that the vault handed out: this vault's signer signed it, for this organization.
   * @returns what was signed.
   */
  readSigned<Data extends z.ZodType>(bundle: string, shape: Data): z.output<Data> {
    this.requireSigner();
    const { signer = '', organizationId } = this.#identity;
    const envelope = this.#read('bundle', signedEnvelope, parseJson(bundle));
    this.#checkSigner(envelope.enclaveQuorumPublic);
    const data = bytesOf(envelope.data);
    if (!verifyP256(toHex(compressP256(bytesOf(signer))), bytesOf(envelope.dataSignature), data)) {
      throw this.#foreign('the signature of its bundle does not hold');
    }
    const content = parseJson(Buffer.from(data).toString('utf8'));
    const named = this.#read('bundle', organizationOnly, content).organizationId;
    if (named !== organizationId) {
      throw this.#foreign(
        `its bundle is for organization ${quoted(named)}, expected ${quoted(organizationId)}`,
      );
    }
    return this.#read('bundle', shape, content);
  }

  async #checkDiscoveryKeys(): Promise<void> {
    const path = '/public/v1/discovery/keys';
    const { ok, text } = await send(this.url, path, {});
    const answer = parseJson(text);
    if (!ok) throw refusedWith(this.#read(path, refusal, answer));
    this.#checkSigner(this.#read(path, discoveryKeys, answer).signer);
  }

  #checkSigner(publicKey: string): void {
    if (publicKey === this.#identity.signer) return;
    throw this.#foreign(
      `its signer key is ${quoted(publicKey)}, expected the vault's own, ${quoted(String(this.#identity.signer))}`,
    );
  }

  #foreign(problem: string): CommandError {
    return new CommandError(
      exitCodes.failed,
      `what answers at ${this.url} is not ${this.#identity.name}: ${problem}`,
    );
  }

  async #post<Answer extends z.ZodType>(
    path: string,
    content: object,
    shape: Answer,
    options: Readonly<Record<string, string>> = {},
    waitSeconds = 0,
  ): Promise<z.output<Answer>> {
    const body = JSON.stringify(content);
    const { ok, text } = await send(this.url, `/public/v1/${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Stamp': stamp(this.#pair, body),
        ...(waitSeconds > 0 && { Prefer: `wait=${String(waitSeconds)}` }),
      },
      body,
    });
    const answer = parseJson(text);
    if (ok) {
      this.#checkOrganization(this.#read(path, ofOrganization, answer));
      return this.#read(path, shape, answer);
    }
    throw refusedWith(this.#read(path, refusal, answer), { fields: options });
  }

  /** An answer that is about another organization is none to this request. */
  #checkOrganization({ organizationId: own, activity }: z.output<typeof ofOrganization>): void {
    const { organizationId } = this.#identity;
    const named = own ?? activity?.organizationId ?? organizationId;
    if (named === organizationId) return;
    throw this.#foreign(
      `its answer is for organization ${quoted(named)}, expected ${quoted(organizationId)}`,
    );
  }

  /** Nothing of an answer is quoted: it may hold what it should not. */
  #read<Shape extends z.ZodType>(what: string, shape: Shape, answer: unknown): z.output<Shape> {
    const read = shape.safeParse(answer);
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const at = issue === undefined || issue.path.length === 0 ? '' : `, at ${issue.path.join('.')}`;
    throw this.#foreign(`its answer has not the form expected of ${what}${at}`);
  }
}

/**
 * @returns the result of an activity.
 * @throws CommandError unless it is completed.
 */
export function completedResult(
  { type, isOfUseLater = false }: Pick<ActivityKind<ActivityType, z.ZodType>, 'type' | 'isOfUseLater'>,
  activity: z.output<typeof activityAnswer>['activity'],
): unknown {
  if (activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') throw waiting(activity, isOfUseLater);
  if (activity.status === 'ACTIVITY_STATUS_COMPLETED') return resultOf(activity);
  throw new CommandError(
    exitCodes.failed,
    `${pathOfType(type)} was not completed: its activity ${activity.id} is ${activity.status}, expected ACTIVITY_STATUS_COMPLETED`,
  );
}

/** The next steps for an activity that needs approvals. */
function waiting(
  { id, fingerprint }: { readonly id: string; readonly fingerprint: string },
  isOfUseLater: boolean,
): CommandError {
  const rest = isOfUseLater
    ? [
        '  Other users approve it in the window, under Approvals, or with',
        `    keyhearth approvals approve ${id}`,
        '  Its result is then in',
        `    keyhearth approvals show ${id}`,
      ]
    : [
        '  Only this run of the command could read the result. Cancel the request, and run the command again with --wait:',
        `    keyhearth approvals reject ${id}`,
      ];
  return new CommandError(
    exitCodes.waits,
    [
      `not done yet: activity ${id}, fingerprint ${fingerprint}, needs approvals of other users`,
      ...rest,
    ].join('\n'),
    { activityId: id, fingerprint },
  );
}

const statusOnly = z.looseObject({ status: z.string() });
/** These stand in commands that a person pastes: a server that lies writes no other command there. */
const pasted = z.string().regex(/^[\w:-]+$/);
export const activityAnswer = z.object({
  activity: z.object({
    id: pasted,
    status: pasted,
    fingerprint: pasted,
    result: z.record(z.string(), z.unknown()),
  }),
});
const discoveryKeys = z.object({ signer: z.string() });
const ofOrganization = z.object({
  organizationId: z.string().optional(),
  activity: z.looseObject({ organizationId: z.string().optional() }).optional(),
});
const organizationOnly = z.object({ organizationId: z.string() });
const callerStatement = z.object({ userId: z.string(), publicKey: z.string() });
const importTarget = z.object({ targetPublic: publicKeyHex, userId: z.string() });
const signedEnvelope = z.object({
  version: z.literal('v1.0.0'),
  data: hex,
  dataSignature: hex,
  enclaveQuorumPublic: publicKeyHex,
});

/** Read from the file, which no other user can write, and not from the process that listens. */
function readIdentity(directory: string): Identity {
  const connection = Connection.openReadOnly(join(directory, 'vault.db'));
  try {
    const { organizationId } = requireVault(connection);
    const signer = getServerKey(connection, 'signer');
    if (signer === undefined) throw new Error('the vault has no signer key');
    return { name: `the vault in ${directory}`, organizationId, signer: signer.publicKey };
  } finally {
    connection.close();
  }
}

/** `X-Stamp` over the very bytes that are sent. */
export function stamp({ publicKey, privateKey }: KeyPair, body: string): string {
  const signature = signP256(bytesOf(privateKey), new Uint8Array(Buffer.from(body)));
  return Buffer.from(
    JSON.stringify({ publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature }),
  ).toString('base64url');
}

/** In milliseconds. */
const longestAnswer = 120_000;

/** In bytes. The longest list of a vault is a fraction of this. */
const largestAnswer = 64 * 1024 * 1024;

/** In seconds: a wait is cut into requests that end before the answer is missed. */
const longestPart = 60;

/** In milliseconds, from one request of a wait to the next. */
const shortestPart = 1000;

interface VaultRequest {
  /** GET unless given. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @throws CommandError absent when nothing answers, busy where the answer does not come, failed where it is too large. */
export async function send(
  url: string,
  path: string,
  { method = 'GET', headers, body }: VaultRequest,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const answer = await ask(url, path, method, headers, body);
  const { status, encoding, isWhole } = answer;
  if (status >= 300 && status < 400) {
    throw new CommandError(
      exitCodes.absent,
      `nothing answers at ${url}: it redirects, which is not followed`,
    );
  }
  if (encoding !== undefined) throw noVault(url, 'is encoded, which was not asked for');
  if (!isWhole) {
    throw noVault(
      url,
      `is larger than ${String(largestAnswer / 1024 / 1024)} MiB, and the rest was not read`,
    );
  }
  return { ok: status >= 200 && status < 300, text: answer.body.toString('utf8') };
}

const noVault = (url: string, problem: string): CommandError =>
  new CommandError(exitCodes.failed, `what answers at ${url} is not a vault: its answer ${problem}`);

async function ask(
  url: string,
  path: string,
  method: string,
  headers: VaultRequest['headers'],
  body: string | undefined,
): Promise<HttpAnswer> {
  // The URL was checked when it was read.
  const bounds = { reach: 'anywhere', timeoutMs: longestAnswer, mostBytes: largestAnswer } as const;
  try {
    return await new Outbound(new URL(`${url}${path}`), { ...bounds, method }).send(headers, body);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.kind === 'late') {
      throw new CommandError(
        exitCodes.busy,
        `${url} has not answered for ${String(longestAnswer / 1000)} s. The request may have been executed: the same one, sent again, tells`,
      );
    }
    throw new CommandError(exitCodes.absent, `nothing answers at ${url}: ${error.message}`);
  }
}

/** @param text Hex that was checked to be such. */
export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

/** @returns undefined for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

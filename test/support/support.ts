/**
 * Shared by the whole-system tests: real vaults in directories of their own, the command as a process, raw
 * requests.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { makeConfig } from '../../main/app/config.ts';
import type { Config, ConfigOptions } from '../../main/app/config.ts';
import { postControl } from '../../main/control/client.ts';
import { entropyLength, mnemonicFromEntropy } from '../../main/crypto/keys/mnemonics.ts';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import type { Keychain } from '../../main/keys/keychain/keychain.ts';
import type { Clock } from '../../main/lib/clock.ts';
import { operations } from '../../main/operations/index.ts';
import type { NewVault } from '../../main/app/create-vault.ts';
import { startVault } from '../../main/app/compose.ts';
import type { Substitutes, Vault } from '../../main/app/compose.ts';
import { cheapPassword } from '../keys/password-cost.ts';
import { compileCache } from './compile-cache.ts';
import { CommandHost, isHosted, type RanCommand } from './hosted-commands.ts';
import { filesIn, SecretWatch } from './secret-watch.ts';
import { refuseForeignWords } from './foreign-words.ts';

const projectRoot = join(import.meta.dirname, '../..');

/** The command as `vite build` makes it. */
export const command = join(projectRoot, 'dist/main/cli.js');

export type Json = Record<string, unknown>;

/** A directory that goes with the test. */
export function temporaryDirectory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'keyhearth-test-'));
  return {
    path,
    [Symbol.dispose]: () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

/** Runs as the machine's clock does until a test moves it. */
export class TestClock implements Clock {
  #offset = 0;

  now(): number {
    return Date.now() + this.#offset;
  }

  wall(): number {
    return this.now();
  }

  advance(milliseconds: number): void {
    this.#offset += milliseconds;
  }
}

/** A keychain in memory, which keeps what it is given, and whose ways a test may change. */
export function memoryKeychain(): {
  readonly keychain: { -readonly [Call in keyof Keychain]: Keychain[Call] };
  readonly entries: Map<string, Uint8Array>;
} {
  const entries = new Map<string, Uint8Array>();
  return {
    entries,
    keychain: {
      get: (account) => {
        const entry = entries.get(account);
        return Promise.resolve(entry === undefined ? undefined : Uint8Array.from(entry));
      },
      set: (account, secret) => {
        entries.set(account, Uint8Array.from(secret));
        return Promise.resolve();
      },
      delete: (account) => {
        entries.delete(account);
        return Promise.resolve();
      },
      probe: () => Promise.resolve({ available: true }),
    },
  };
}

/** An API key whose private half is here; P-256, signed with the platform's own ECDSA. */
export interface TestKey {
  /** Hex, compressed. */
  readonly publicKey: string;
  /** Hex, the scalar. */
  readonly privateKey: string;
  /** @returns the value of `X-Stamp` over these bytes. */
  stamp(body: string | Uint8Array): string;
}

/** A fresh P-256 API key. */
export function newTestKey(): TestKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return testKey(privateKey);
}

/** The key that a command wrote to its files, or `dev` printed. Both hex: the scalar, and the compressed point. */
export function testKeyOf(privateKey: string, publicKey: string): TestKey {
  const sec1 = Buffer.concat([
    Buffer.from('30310201010420', 'hex'),
    Buffer.from(privateKey, 'hex'),
    Buffer.from('a00a06082a8648ce3d030107', 'hex'),
  ]);
  return { ...testKey(createPrivateKey({ key: sec1, format: 'der', type: 'sec1' })), publicKey };
}

function testKey(key: KeyObject): TestKey {
  const { d = '', x = '', y = '' } = key.export({ format: 'jwk' });
  const odd = (Buffer.from(y, 'base64url').at(-1) ?? 0) & 1;
  const publicKey = `0${String(2 + odd)}${Buffer.from(x, 'base64url').toString('hex')}`;
  return {
    publicKey,
    privateKey: Buffer.from(d, 'base64url').toString('hex'),
    stamp: (body) =>
      stampText({
        publicKey,
        scheme: 'SIGNATURE_SCHEME_TK_API_P256',
        signature: sign('sha256', Buffer.from(body), key).toString('hex'),
      }),
  };
}

/** @returns the header's form of a stamp: base64url of its JSON. */
export const stampText = (stamp: unknown): string => Buffer.from(JSON.stringify(stamp)).toString('base64url');

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed text; undefined if it is not a JSON object. */
  readonly body: Json | undefined;
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  /** Replace what would be sent; undefined leaves a header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array;
  /** The address to connect to, if it is not the URL's host. */
  readonly address?: string;
}

// `fetch` decides Host, Origin and Content-Length itself, and these tests are about such headers.
const agent = new Agent({ keepAlive: false });

/** One request, every header as given. */
export async function send(url: string, raw: RawRequest = {}): Promise<Answer> {
  const target = new URL(raw.path ?? '/', url);
  const body = Buffer.from(raw.body ?? '');
  const headers = Object.entries<string | undefined>({
    host: target.host,
    ...(body.length > 0 ? { 'content-length': String(body.length) } : {}),
    ...raw.headers,
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const request = httpRequest({
    agent,
    host: raw.address ?? target.hostname.replace(/^\[|\]$/g, ''),
    port: target.port,
    path: raw.path ?? '/',
    method: raw.method ?? 'POST',
    setHost: false,
    headers: Object.fromEntries(headers),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = await readAll(response);
  return { status: response.statusCode ?? 0, headers: response.headers, text, body: parseObject(text) };
}

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Posts as one user of one organization, stamped. */
export class TestClient {
  readonly url: string;
  readonly organizationId: string;
  readonly key: TestKey;
  #lastTimestamp = 0;

  constructor(url: string, organizationId: string, key: TestKey) {
    this.url = url;
    this.organizationId = organizationId;
    this.key = key;
  }

  /** The same, as another user. */
  as(key: TestKey): TestClient {
    return new TestClient(this.url, this.organizationId, key);
  }

  /**
   * Stamps and posts a body to the letter.
   * @param path What follows `/public/v1/`.
   */
  async post(path: string, body: string, headers: RawRequest['headers'] = {}): Promise<Answer> {
    const answer = await send(this.url, {
      path: `/public/v1/${path}`,
      headers: { 'content-type': 'application/json', 'x-stamp': this.key.stamp(body), ...headers },
      body,
    });
    checkDeclared(path, answer);
    if (answer.status >= 400) refuseForeignWords(path, String(answer.body?.['message']));
    return answer;
  }

  /** A query by its last part of the path; the organization is filled in. */
  async query(operation: string, parameters: Json = {}): Promise<Answer> {
    return this.post(
      `query/${operation}`,
      JSON.stringify({ organizationId: this.organizationId, ...parameters }),
    );
  }

  /** An activity by its last part of the path and its type without the prefix. */
  async submit(operation: string, type: string, parameters: Json, overrides: Json = {}): Promise<Answer> {
    return this.post(`submit/${operation}`, this.submitBody(type, parameters, overrides));
  }

  /** The body of a submit, with a timestamp of its own. */
  submitBody(type: string, parameters: unknown, overrides: Json = {}): string {
    return JSON.stringify({
      type: `ACTIVITY_TYPE_${type}`,
      timestampMs: String(this.nextTimestamp()),
      organizationId: this.organizationId,
      parameters,
      ...overrides,
    });
  }

  nextTimestamp(): number {
    this.#lastTimestamp = Math.max(this.#lastTimestamp + 1, Date.now());
    return this.#lastTimestamp;
  }
}

/** Whatever a test is about: an answer holds what its operation declares, and nothing beside. */
function checkDeclared(path: string, { status, body = {} }: Answer): void {
  const operation = operations.byPath.get(path);
  if (status !== 200 || operation === undefined) return;
  const [shown] =
    operation.kind === 'activity' ? Object.values((body['activity'] as ActivityBody).result) : [body];
  if (shown === undefined) return;
  const declared = operation.returns.parse(shown);
  const envelope = operation.kind === 'query' && { activity: body['activity'] };
  deepStrictEqual({ ...envelope, ...(declared as Json) }, shown, `${path} answers what it declares`);
}

export interface TestVaultOptions {
  /** Settings beside the directories, which are the test's own. */
  readonly config?: ConfigOptions;
  readonly substitutes?: Substitutes;
  /** Issuers of ID tokens; on this machine they need no TLS. */
  readonly oidcIssuers?: readonly string[];
  /** Without a password the vault opens with its recovery phrase alone. */
  readonly password?: string;
  /** Leaves the directory without a vault in it. */
  readonly empty?: boolean;
}

/** A vault on disk, served in this process. */
export interface TestVault extends AsyncDisposable {
  readonly vault: Vault;
  readonly url: string;
  readonly config: Config;
  /** The vault's own directory. */
  readonly directory: string;
  readonly organizationId: string;
  readonly rootUserId: string;
  readonly recoveryPhrase: string;
  readonly key: TestKey;
  /** The root user. */
  readonly root: TestClient;
  readonly clock: TestClock;
  /** Errors that the service reports as its own. A test that expects one takes it out: the rest fail the test. */
  readonly faults: unknown[];
  /** The generated secrets of the vault: its files are searched for them when it is disposed of. */
  readonly secrets: SecretWatch;
  /** A user without the root quorum's rights, and a key of theirs. */
  newUser(name: string): Promise<{ readonly userId: string; readonly client: TestClient }>;
  unlock(): Promise<void>;
}

/** Creates a policy that allows what the condition holds for, once so many users have voted for it. */
export async function allowByVotes(
  root: TestClient,
  policyName: string,
  condition: string,
  votes: number,
): Promise<void> {
  resultOf(
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName,
      effect: 'EFFECT_ALLOW',
      condition,
      consensus: `approvers.count() >= ${String(votes)}`,
      notes: '',
    }),
  );
}

/** A user without the root quorum's rights, and a key of theirs. */
export async function newUserBy(
  root: TestClient,
  name: string,
): Promise<{ readonly userId: string; readonly client: TestClient }> {
  const userKey = newTestKey();
  const apiKeys = [{ apiKeyName: name, publicKey: userKey.publicKey, curveType: 'API_KEY_CURVE_P256' }];
  const user = { userName: name, apiKeys, authenticators: [], oauthProviders: [], userTags: [] };
  const answer = await root.submit('create_users', 'CREATE_USERS_V3', { users: [user] });
  const [userId = ''] = resultOf(answer).userIds;
  return { userId, client: root.as(userKey) };
}

/** @returns the one root user of a new sub-organization, who has one key. */
export async function newSubOrganization(
  parent: TestClient,
  name?: string,
): Promise<{ readonly rootUserId: string; readonly client: TestClient }> {
  const key = newTestKey();
  const apiKeys = [{ apiKeyName: 'Key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
  const answer = await parent.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V8', {
    subOrganizationName: name ?? `Sub ${key.publicKey.slice(-8)}`,
    rootUsers: [{ userName: 'Root', apiKeys, authenticators: [], oauthProviders: [] }],
    rootQuorumThreshold: 1,
  });
  const made = resultOf(answer) as Json;
  const [rootUserId = ''] = made['rootUserIds'] as string[];
  return { rootUserId, client: new TestClient(parent.url, String(made['subOrganizationId']), key) };
}

export async function startTestVault(options: TestVaultOptions = {}): Promise<TestVault> {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(temporaryDirectory());
  const directory = join(path, 'vault');
  const clock = new TestClock();
  const faults: unknown[] = [];
  const config = makeConfig(
    { dataDir: directory, configDir: join(path, 'config'), port: '0', keychain: false, ...options.config },
    {},
  );
  const { oidcIssuers = config.oidcIssuers } = options;
  const secrets = new SecretWatch();
  const random = secrets.random(options.substitutes?.random);
  const vault = await startVault(
    { ...config, oidcIssuers, allowLoopbackIssuers: true },
    {
      clock,
      onFault: (fault) => faults.push(fault),
      passwordCost: cheapPassword,
      ...options.substitutes,
      random,
    },
  );
  resources.defer(() => {
    const found = secrets.find(filesIn(path));
    if (found.length > 0) throw new Error(`there are secrets on the disk: ${found.join(', ')}`);
  });
  resources.defer(() => vault.close());
  const key = newTestKey();
  const recoveryPhrase = mnemonicFromEntropy(random('test recovery phrase', entropyLength(24)));
  if (options.password !== undefined) secrets.addText('the password', options.password);
  const setup: NewVault = {
    organizationName: 'Tests',
    userName: 'Root',
    useKeychain: false,
    ...(options.password === undefined ? {} : { password: options.password }),
    recoveryPhrase,
    recoveryConfirmed: true,
    apiKey: { name: 'root', publicKey: key.publicKey },
  };
  const { organizationId, userId } =
    options.empty === true ? { organizationId: '', userId: '' } : await vault.setUp(setup);
  const root = new TestClient(vault.url, organizationId, key);
  const owned = resources.move();
  return {
    vault,
    url: vault.url,
    config,
    directory,
    organizationId,
    rootUserId: userId,
    recoveryPhrase,
    key,
    root,
    clock,
    faults,
    secrets,
    newUser: (name) => newUserBy(root, name),
    unlock: async () => {
      await vault.rpc.unlock({ with: 'recovery', phrase: recoveryPhrase });
    },
    [Symbol.asyncDispose]: async () => {
      const findings = vault.keyring.unlocked ? vault.guard.verifyNow() : [];
      await owned.disposeAsync();
      if (findings.length > 0) throw new Error(`rows do not hold: ${JSON.stringify(findings)}`);
      if (faults.length > 0) throw new AggregateError(faults, 'the service reported faults of its own');
    },
  };
}

/** Signs a browser in with a link. @returns the headers of its requests. */
export async function signInWindow(
  link: string,
): Promise<{ readonly cookie: string; readonly 'x-keyhearth-session': string }> {
  const { origin, hash } = new URL(link);
  const code = hash.slice('#code='.length);
  const answer = await send(origin, { path: '/window/session', body: JSON.stringify({ code }) });
  const [cookie = ''] = (answer.headers['set-cookie'] ?? [''])[0]?.split(';') ?? [];
  return { cookie, 'x-keyhearth-session': String(answer.body?.['token']) };
}

/** Asks the process that holds a vault over its control channel, as a command does. */
export async function askControl(
  directory: string,
  path: string,
  body: unknown,
): Promise<Pick<Answer, 'status' | 'text' | 'body'>> {
  const { socket = null, nonce = '' } = readEndpoint(directory) ?? {};
  if (socket === null) throw new Error(`no process serves the vault in ${directory}`);
  const { status, text } = await postControl({ socket, nonce }, path, body);
  return { status, text, body: parseObject(text) };
}

/** An activity as the tests read one. */
export interface ActivityBody extends Json {
  readonly id: string;
  readonly organizationId: string;
  readonly status: string;
  readonly type: string;
  readonly timestampMs: string;
  readonly intent: Record<string, Json>;
  readonly result: Record<string, Json>;
  readonly votes: readonly (Json & { readonly id: string; readonly user: Json })[];
  readonly fingerprint: string;
  readonly failure: Json | null;
}

/** @throws Error with the answer's text when it is not an activity. */
export function activityOf(answer: Answer): ActivityBody {
  const activity = answer.body?.['activity'];
  if (answer.status !== 200 || typeof activity !== 'object' || activity === null) {
    throw new Error(`expected an activity, got HTTP ${String(answer.status)}: ${answer.text}`);
  }
  return activity as ActivityBody;
}

/** Results of this API's activities; each activity has fields of its own. */
export interface ResultBody extends Json {
  readonly userIds: readonly string[];
  readonly apiKeyIds: readonly string[];
  readonly privateKeys: readonly {
    readonly privateKeyId: string;
    readonly addresses: readonly { readonly format: string; readonly address: string }[];
  }[];
  readonly walletId: string;
  readonly addresses: readonly string[];
  readonly r: string;
  readonly s: string;
  readonly v: string;
  readonly signedTransaction: string;
  readonly smartContractInterfaceId: string;
}

/** The real API's result of a completed activity: the first object in `activity.result`. */
export function resultOf(answer: Answer): ResultBody {
  const [result] = Object.values(activityOf(answer).result);
  return result as ResultBody;
}

export const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;

export const solanaAccount = {
  curve: 'CURVE_ED25519',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/501'/0'/0'",
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
} as const;

/** Makes a wallet with an Ethereum and a Solana account. */
export async function newWallet(
  client: TestClient,
  walletName = 'Wallet',
): Promise<{ readonly walletId: string; readonly ethereum: string; readonly solana: string }> {
  const accounts = [ethereumAccount, solanaAccount];
  const answer = await client.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts });
  const { walletId, addresses } = resultOf(answer);
  return { walletId, ethereum: addresses[0] ?? '', solana: addresses[1] ?? '' };
}

export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard input; empty unless given. */
  readonly input?: string;
  /** The content of file descriptor 3. */
  readonly descriptor3?: string;
  /** The words that run the command; those of this build unless given. */
  readonly program?: readonly [string, ...string[]];
}

/** A running `keyhearth` command. */
export class CommandProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly started = performance.now();
  stdout = '';
  stderr = '';
  readonly #ended: Promise<number | NodeJS.Signals>;
  readonly #lines: AsyncIterator<string>;

  constructor(argv: readonly string[], options: CommandOptions = {}) {
    const { environment = {}, input = '', descriptor3, program = [process.execPath, command] } = options;
    const [file, ...words] = program;
    this.child = spawn(file, [...words, ...argv], {
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'], ...compileCache, ...environment },
      stdio: ['pipe', 'pipe', 'pipe', ...(descriptor3 === undefined ? [] : ['pipe' as const])],
    });
    const [stdin, stdout, stderr, third] = this.child.stdio;
    if (stdin == null || stdout == null || stderr == null) throw new Error('the command has no pipes');
    this.#ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      // Not "exit": the pipes may still hold the last words.
      this.child.once('close', (code, signal) => {
        running.delete(this.child);
        resolve(code ?? signal ?? 'SIGKILL');
      });
    });
    running.add(this.child);
    stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    // A command that reads nothing may end before its input arrives.
    for (const [pipe, text] of [[stdin, input] as const, [third, descriptor3] as const]) {
      if (pipe == null || !('end' in pipe)) continue;
      pipe.on('error', () => undefined);
      pipe.end(text);
    }
  }

  /** @returns the next line of standard output. @throws Error when the command ends instead. */
  async nextLine(): Promise<string> {
    const line = await this.#lines.next();
    if (line.done !== true) return line.value;
    throw new Error(`the command ended with ${String(await this.#ended)}: ${this.stderr}`);
  }

  /** @returns the exit code, or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals> {
    return this.#ended;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    this.child.kill(signal);
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }
}

// Processes of a test that is cut off must not outlive the run.
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

let host: CommandHost | undefined;

/** Runs a command to its end. */
export async function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<RanCommand> {
  const ran = await run(argv, options);
  if (ran.code !== 0) refuseForeignWords(`keyhearth ${argv.join(' ')}`, refusalIn(ran.stderr));
  return ran;
}

async function run(
  argv: readonly string[],
  { environment = {}, ...process }: CommandOptions,
): Promise<RanCommand> {
  if (Object.keys(process).length === 0 && host?.isBusy !== true && isHosted(argv, environment)) {
    if (host?.hasEnded !== false) host = new CommandHost(command);
    return host.run(argv, environment);
  }
  const own = new CommandProcess(argv, { environment, ...process });
  const code = await own.ended();
  return { code, stdout: own.stdout, stderr: own.stderr };
}

/** The error of a command that failed: its last line. Its log before that has stacks. */
const refusalIn = (stderr: string): string => stderr.trimEnd().split('\n').at(-1) ?? '';

/** The line that `keyhearth dev` prints when it is ready. */
export interface DevLine {
  readonly url: string;
  readonly organizationId: string;
  readonly rootUserId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
  readonly signerPublicKey: string;
  readonly notarizerPublicKey: string;
  readonly tlsFetcherPublicKey: string;
}

export interface DevProcess extends AsyncDisposable {
  readonly process: CommandProcess;
  readonly line: DevLine;
  readonly root: TestClient;
}

/** Starts `keyhearth dev` on a free port and waits for its line. */
export async function startDevProcess(
  argv: readonly string[] = [],
  options: CommandOptions = {},
): Promise<DevProcess> {
  const process = new CommandProcess(['dev', '--port', '0', ...argv], options);
  try {
    const line = JSON.parse(await process.nextLine()) as DevLine;
    const key = testKeyOf(line.apiPrivateKey, line.apiPublicKey);
    const root = new TestClient(line.url, line.organizationId, key);
    return { process, line, root, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }
}

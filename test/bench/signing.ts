/** `sign_raw_payload` through the real port: a vault on disk, durable commits, unique bodies, every one stamped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { makeConfig } from '../../main/app/config.ts';
import { curves, type Curve } from '../../main/crypto/keys/curves.ts';
import { signP256 } from '../../main/crypto/keys/p256.ts';
import { appendActivity } from '../../main/storage/tables/activities.ts';
import type { UnitOfWork } from '../../main/storage/unit-of-work.ts';
import { openVault } from '../../main/app/compose.ts';
import { fillActivities } from '../support/long-lists.ts';
import { askControl } from '../support/support.ts';
import { runLoad, type Load, type LoadOptions, type LoadRequest } from './load.ts';

const password = 'correct horse battery staple';

/** More than any machine gets through. */
const preparedPerSecond = 8000;

const command = join(import.meta.dirname, '../../dist/main/cli.js');

interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: Uint8Array;
}

/** A way to sign: how many connections ask, and what for. */
export interface Signing extends LoadOptions {
  readonly curve?: Curve;
  /** Payloads in one request of `sign_raw_payloads`; one in `sign_raw_payload` unless given. */
  readonly payloads?: number;
}

/** A service of its own, with a key in it and requests that sign with that key. */
export interface Bench extends AsyncDisposable {
  /** Of the API's operations. */
  readonly base: string;
  readonly vaultDirectory: string;
  /** The processor time of the service's threads so far. */
  cpu(): Cpu;
  /** Signs and sends for a while. */
  load(seconds: number, signing?: Signing): Promise<Load>;
  /** Of the service. */
  readonly url: string;
  /** Runs the command for this vault as its owner. */
  run(...argv: readonly string[]): Promise<Record<string, unknown>>;
  /** Another activity of the same user's. */
  submit(path: string, type: string, parameters: object): Promise<void>;
}

/** Processor time, in microseconds; NaN where the system does not tell (Linux does). */
interface Cpu {
  /** Of the thread that answers requests. */
  readonly main: number;
  /** Of all others: of those that post webhooks, collect garbage, and wait for the disk. */
  readonly others: number;
}

export interface SigningLoad extends Load {
  /** Processor time of the service's main thread for one signature. */
  readonly mainUs: number;
  /** Processor time of its other threads. */
  readonly othersUs: number;
}

export async function measureSigning(directory: string, seconds: number): Promise<SigningLoad> {
  await using bench = await startBench(directory);
  // The engine compiles what it has run often: a service is measured that has served for a while.
  await bench.load(seconds);
  const turns: SigningLoad[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const [load, used] = await withCpu(bench, () => bench.load(seconds));
    turns.push({ ...load, mainUs: used.main / load.requests, othersUs: used.others / load.requests });
  }
  const [, middle = turns[0]] = turns.toSorted((a, b) => a.perSecond - b.perSecond);
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}

export interface LoadDuringBackups {
  readonly alonePerSecond: number;
  readonly perSecond: number;
  readonly ratio: number;
  /** Made while it signed. */
  readonly backups: number;
}

/**
 * The same load with one backup after another, and without, in turns: what else the machine does meets both. The vault has a log
 * of some 60 MB.
 */
export async function measureSigningDuringBackups(
  directory: string,
  seconds: number,
): Promise<LoadDuringBackups> {
  mkdirSync(directory);
  await using bench = await startBench(directory, fillLog);
  await bench.load(1);
  let backups = 0;
  const rates = { alone: [] as number[], during: [] as number[] };
  for (let turn = 0; turn < 3; turn++) {
    rates.alone.push((await bench.load(seconds)).perSecond);
    let over = false;
    const backUpAgain = async (): Promise<void> => {
      while (!over) {
        await backUp(bench, join(directory, 'bench.backup'));
        backups++;
      }
    };
    const load = bench.load(seconds).finally(() => {
      over = true;
    });
    const [during] = await Promise.all([load, backUpAgain()]);
    rates.during.push(during.perSecond);
  }
  const [alonePerSecond, perSecond] = [median(rates.alone), median(rates.during)];
  return { alonePerSecond, perSecond, ratio: perSecond / alonePerSecond, backups };
}

export interface LoadInLongLog {
  /** In the log before it signs. */
  readonly activities: number;
  /** Appending them, without what signs. */
  readonly filledInSeconds: number;
  readonly emptyPerSecond: number;
  readonly perSecond: number;
  readonly ratio: number;
  readonly emptyP99Ms: number;
  readonly p99Ms: number;
}

/** The same load in a vault that has a long log, and in one that has none, in turns: what else the machine does meets both. */
export async function measureSigningInLongLog(
  directory: string,
  seconds: number,
  activities: number,
): Promise<LoadInLongLog> {
  let filledInSeconds = Number.NaN;
  const fill: Prepare = async (vaultDirectory, { organizationId, userId }) => {
    const start = performance.now();
    await inVault(vaultDirectory, (units) =>
      fillActivities({ units, organizationId }, { userId, count: activities }),
    );
    filledInSeconds = (performance.now() - start) / 1000;
  };
  const directoryOf = (name: string): string => join(directory, name);
  for (const name of ['empty', 'long']) mkdirSync(directoryOf(name), { recursive: true });
  await using empty = await startBench(directoryOf('empty'));
  await using long = await startBench(directoryOf('long'), fill);
  await empty.load(1);
  await long.load(1);
  const loads = { empty: [] as Load[], long: [] as Load[] };
  for (let turn = 0; turn < 3; turn++) {
    loads.empty.push(await empty.load(seconds));
    loads.long.push(await long.load(seconds));
  }
  const middle = (of: readonly Load[], field: 'perSecond' | 'p99Ms'): number =>
    median(of.map((load) => load[field]));
  const [emptyPerSecond, perSecond] = [middle(loads.empty, 'perSecond'), middle(loads.long, 'perSecond')];
  return {
    activities,
    filledInSeconds,
    emptyPerSecond,
    perSecond,
    ratio: perSecond / emptyPerSecond,
    emptyP99Ms: middle(loads.empty, 'p99Ms'),
    p99Ms: middle(loads.long, 'p99Ms'),
  };
}

export interface LoadDuringWebhooks {
  readonly alonePerSecond: number;
  readonly perSecond: number;
  readonly ratio: number;
  /** Of one endpoint, while it signed. */
  readonly deliveriesPerSecond: number;
  /** The same after the end of signing: the backlog. */
  readonly deliveriesPerSecondAfter: number;
  /** Processor time of the service's main thread for one signature without webhooks. */
  readonly mainUsPerSignature: number;
  /** Additional time of the main thread for a delivery. */
  readonly mainUsPerDelivery: number;
  /** Additional time of the other threads, mostly of the one that posts. */
  readonly othersUsPerDelivery: number;
  /** The ratio as far as the main thread alone decides: that of an idle machine with more processors than programs. */
  readonly ratioByMain: number;
}

/** The same load with an endpoint that is sent every signature's activity, and without, in turns. */
export async function measureSigningDuringWebhooks(
  directory: string,
  seconds: number,
): Promise<LoadDuringWebhooks> {
  mkdirSync(directory);
  await using bench = await startBench(directory);
  const receiver = spawn(process.execPath, [join(import.meta.dirname, 'receiver.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = text(await firstLine(receiver), 'url');
    const received = async (): Promise<number> =>
      ((await (await fetch(url)).json()) as { count: number }).count;
    await bench.load(1);
    const rates = {
      alone: [] as number[],
      during: [] as number[],
      delivered: [] as number[],
      after: [] as number[],
      perSignature: [] as number[],
      mainPerDelivery: [] as number[],
      othersPerDelivery: [] as number[],
    };
    for (let turn = 0; turn < 3; turn++) {
      const [alone, used] = await withCpu(bench, () => bench.load(seconds));
      rates.alone.push(alone.perSecond);
      const perSignature = { main: used.main / alone.requests, others: used.others / alone.requests };
      rates.perSignature.push(perSignature.main);
      await bench.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', {
        name: 'FEATURE_NAME_WEBHOOK',
        value: url,
      });
      const before = await received();
      const [load, busy] = await withCpu(bench, () => bench.load(seconds));
      const during = await received();
      const share = (part: 'main' | 'others'): number =>
        (busy[part] - perSignature[part] * load.requests) / (during - before);
      rates.mainPerDelivery.push(share('main'));
      rates.othersPerDelivery.push(share('others'));
      rates.during.push(load.perSecond);
      rates.delivered.push((during - before) / seconds);
      rates.after.push(await drain(received, before + load.requests));
      await bench.submit('remove_organization_feature', 'REMOVE_ORGANIZATION_FEATURE', {
        name: 'FEATURE_NAME_WEBHOOK',
      });
    }
    const [alonePerSecond, perSecond] = [median(rates.alone), median(rates.during)];
    const [mainUsPerSignature, mainUsPerDelivery] = [
      median(rates.perSignature),
      median(rates.mainPerDelivery),
    ];
    return {
      alonePerSecond,
      perSecond,
      ratio: perSecond / alonePerSecond,
      mainUsPerSignature,
      mainUsPerDelivery,
      othersUsPerDelivery: median(rates.othersPerDelivery),
      ratioByMain: mainUsPerSignature / (mainUsPerSignature + mainUsPerDelivery),
      deliveriesPerSecond: median(rates.delivered),
      deliveriesPerSecondAfter: median(rates.after),
    };
  } finally {
    receiver.kill();
  }
}

/** Waits until all have arrived. @returns how many a second came meanwhile; NaN where none were left. */
async function drain(received: () => Promise<number>, all: number): Promise<number> {
  const [start, first] = [performance.now(), await received()];
  if (first >= all) return Number.NaN;
  for (;;) {
    const count = await received();
    if (count >= all) return ((count - first) / (performance.now() - start)) * 1000;
    if (performance.now() - start > 120_000) throw new Error(`${String(all - count)} events did not arrive`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function withCpu<T>(bench: Bench, work: () => Promise<T>): Promise<readonly [T, Cpu]> {
  const before = bench.cpu();
  const value = await work();
  const after = bench.cpu();
  return [value, { main: after.main - before.main, others: after.others - before.others }];
}

/** The first number of a thread's `schedstat` is its time on a processor, in nanoseconds. */
function cpuOf(pid: number | undefined): Cpu {
  const tasks = `/proc/${String(pid)}/task`;
  if (!existsSync(tasks)) return { main: Number.NaN, others: Number.NaN };
  const used = { main: 0, others: 0 };
  for (const thread of readdirSync(tasks)) {
    const time = Number(readFileSync(join(tasks, thread, 'schedstat'), 'utf8').split(' ')[0]) / 1000;
    used[thread === String(pid) ? 'main' : 'others'] += time;
  }
  return used;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function backUp({ vaultDirectory }: Bench, file: string): Promise<void> {
  const { status } = await askControl(vaultDirectory, 'backUp', { args: [{ file, replace: true }] });
  if (status !== 200) throw new Error(`the backup answered ${String(status)}`);
}

/** The vault's first user. */
interface Made {
  readonly organizationId: string;
  readonly userId: string;
}

type Prepare = (vaultDirectory: string, made: Made) => Promise<void>;

const fillLog: Prepare = (vaultDirectory, { organizationId }) => {
  const intent = JSON.stringify('x'.repeat(12_000));
  return inVault(vaultDirectory, (units) =>
    units.write((tx) => {
      for (let index = 0; index < 5_000; index++) {
        const id = randomBytes(16).toString('hex');
        appendActivity(tx, {
          id,
          revision: 1,
          organizationId,
          type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
          status: 'ACTIVITY_STATUS_COMPLETED',
          fingerprint: id,
          timestampMs: 0,
          intent,
          result: '{}',
          failure: null,
          votes: '[]',
          createdAt: 0,
          updatedAt: 0,
        });
      }
    }),
  );
};

/** Does something in a vault that no service has open. */
async function inVault(directory: string, work: (units: UnitOfWork) => Promise<void>): Promise<void> {
  const vault = openVault(makeConfig({ dataDir: directory, configDir: directory, keychain: false }, {}));
  try {
    await vault.rpc.unlock({ with: 'password', password });
    await work(vault.units);
  } finally {
    vault.close();
  }
}

export async function startBench(directory: string, prepare?: Prepare): Promise<Bench> {
  const passwordFile = join(directory, 'password');
  const vaultDirectory = join(directory, 'vault');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  const options = [
    ...['--data-dir', vaultDirectory, '--config-dir', join(directory, 'config')],
    ...['--password-file', passwordFile, '--no-keychain', '--json'],
  ];
  const init = start(['init', ...options]);
  // It holds the vault for a moment after it has answered.
  const [made] = await Promise.all([firstLine(init), once(init, 'exit')]);
  const key = {
    publicKey: text(made, 'apiPublicKey'),
    privateKey: new Uint8Array(Buffer.from(readFileSync(text(made, 'privateKeyFile'), 'utf8').trim(), 'hex')),
  };
  const organizationId = text(made, 'organizationId');
  await prepare?.(vaultDirectory, { organizationId, userId: text(made, 'userId') });
  const service = start(['serve', '--port', '0', ...options]);
  const stop = async (): Promise<void> => {
    service.kill('SIGTERM');
    await once(service, 'exit');
  };
  try {
    const url = text(await firstLine(service), 'url');
    const base = `${url}/public/v1/submit`;
    const keys = await createKeys(base, key, organizationId);
    const payload = (): string => randomBytes(32).toString('hex');
    const most = ({ payloads, perSecond }: Signing): number =>
      perSecond === undefined ? preparedPerSecond / (payloads === undefined ? 1 : 10) : 1.2 * perSecond;
    const prepared = (seconds: number, signing: Signing) =>
      Array.from({ length: Math.ceil(seconds * most(signing)) + 100 }, () =>
        stamped(key, {
          type: `ACTIVITY_TYPE_${signing.payloads === undefined ? 'SIGN_RAW_PAYLOAD_V2' : 'SIGN_RAW_PAYLOADS'}`,
          timestampMs: String(Date.now()),
          organizationId,
          parameters: {
            signWith: keys[signing.curve ?? 'CURVE_SECP256K1'],
            ...(signing.payloads === undefined
              ? { payload: payload() }
              : { payloads: Array.from({ length: signing.payloads }, payload) }),
            encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
            hashFunction: `HASH_FUNCTION_${signing.curve === 'CURVE_ED25519' ? 'NOT_APPLICABLE' : 'NO_OP'}`,
          },
        }),
      );
    return {
      ...{ base, url, vaultDirectory },
      run: async (...argv) => {
        const child = start([...argv, ...options.slice(0, 4), '--json']);
        const [answer] = await Promise.all([firstLine(child), once(child, 'exit')]);
        return answer;
      },
      cpu: () => cpuOf(service.pid),
      submit: async (path, type, parameters) => {
        await post(`${base}/${path}`, key, {
          type: `ACTIVITY_TYPE_${type}`,
          timestampMs: String(Date.now()),
          organizationId,
          parameters,
        });
      },
      load: (seconds, signing = {}) => {
        const requests = prepared(seconds, signing);
        const path = signing.payloads === undefined ? 'sign_raw_payload' : 'sign_raw_payloads';
        return runLoad(`${base}/${path}`, () => requests.pop(), seconds, signing);
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @returns the id of a private key of each curve. */
async function createKeys(
  base: string,
  key: KeyPair,
  organizationId: string,
): Promise<Readonly<Record<Curve, string>>> {
  const names = Object.keys(curves) as Curve[];
  const answer = (await post(`${base}/create_private_keys`, key, {
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    timestampMs: String(Date.now()),
    organizationId,
    parameters: {
      privateKeys: names.map((curve) => ({
        ...{ privateKeyName: curve, curve },
        ...{ privateKeyTags: [], addressFormats: [] },
      })),
    },
  })) as {
    activity: { result: { createPrivateKeysResultV2: { privateKeys: { privateKeyId: string }[] } } };
  };
  const { privateKeys } = answer.activity.result.createPrivateKeysResultV2;
  const ids = names.map((name, index) => [name, privateKeys[index]?.privateKeyId ?? ''] as const);
  return Object.fromEntries(ids) as Record<Curve, string>;
}

async function post(url: string, key: KeyPair, content: object): Promise<unknown> {
  const { body, headers } = stamped(key, content);
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
  if (!response.ok) throw new Error(`${url} answered ${String(response.status)}: ${await response.text()}`);
  return response.json();
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
  const lines = createInterface(child.stdout);
  const ended = once(lines, 'close').then(() => {
    throw new Error('the command ended before it printed a line');
  });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return JSON.parse(line) as Record<string, unknown>;
}

function text(from: Record<string, unknown>, name: string): string {
  const value = from[name];
  if (typeof value !== 'string') throw new Error(`the command did not answer ${name}`);
  return value;
}

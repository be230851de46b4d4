/**
 * `npm run smoke -- FILE …`: installs each file of a release and uses it from outside, as its users and their systems do. Nothing in
 * the product knows of it. A release has to pass it on every system and processor; `npm test` runs the same steps on the command.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { extractFile } from '@electron/asar';
import { findRunning, type Running } from '../../main/commands/shared/client.ts';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import type { WindowRpc, RpcCall, CallAnswer } from '../../preload/contract.ts';
import { WebhookReceiver } from '../delivery/webhook-receiver.ts';
import { install, type Subject } from './subject.ts';
import { isAlive, thisSystem, type System } from './system.ts';
import { until } from './until.ts';

/** Milliseconds: a program may take so long to start on a busy machine. */
const patience = 90_000;

/** Milliseconds that a program may take to end. */
const longestQuit = 10_000;

const password = 'correct horse battery staple';

/** Chromium's reports of violations of the page's policy. */
const violation = /content[- ]security[- ]policy|refused to (?:load|execute|apply|connect|create|frame)/i;

const trayImages = [
  'tray.png',
  'tray@2x.png',
  'trayTemplate.png',
  'trayTemplate@2x.png',
  'trayWaiting.png',
  'trayWaiting@2x.png',
  'trayWaitingTemplate.png',
  'trayWaitingTemplate@2x.png',
] as const;

export interface SmokeOptions {
  readonly system?: System;
  /** Told of each step that passed. */
  readonly say?: (line: string) => void;
  /** Milliseconds for a window to show, and to end. */
  readonly patience?: number;
  readonly longestQuit?: number;
}

function check(holds: boolean, complaint: string): asserts holds {
  if (!holds) throw new Error(complaint);
}

/** The program while it runs. */
interface Started {
  readonly pid: number;
  readonly running: Running;
  readonly ask: <Name extends RpcCall>(
    name: Name,
    ...args: Parameters<WindowRpc[Name]>
  ) => Promise<Awaited<ReturnType<WindowRpc[Name]>>>;
}

/** @throws Error naming the step that failed, with what the program said. */
export async function smoke(subject: Subject, options: SmokeOptions = {}): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'keyhearth-smoke-'));
  const test = new Smoke(subject, place, options);
  try {
    await test.run();
  } finally {
    test.end();
    await rm(place, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

class Smoke {
  readonly #subject: Subject;
  readonly #system: System;
  readonly #say: (line: string) => void;
  readonly #patience: number;
  readonly #longestQuit: number;
  readonly #vault: string;
  readonly #log: string;
  readonly #backup: string;
  readonly #arguments: readonly string[];
  readonly #children: ChildProcess[] = [];
  #said = '';

  constructor(subject: Subject, place: string, options: SmokeOptions) {
    this.#subject = subject;
    this.#system = options.system ?? thisSystem();
    this.#say = options.say ?? (() => undefined);
    this.#patience = options.patience ?? patience;
    this.#longestQuit = options.longestQuit ?? longestQuit;
    this.#vault = join(place, 'vault');
    this.#log = join(place, 'chromium.log');
    this.#backup = join(place, 'backup.keyhearth');
    this.#arguments = [
      ...['--data-dir', this.#vault, '--config-dir', join(place, 'config'), '--port', '0'],
      // Of INFO, with what pages say to their consoles. One level more writes something in any case.
      ...(subject.isDesktop ? ['--enable-logging=file', `--log-file=${this.#log}`, '--v=1'] : []),
    ];
  }

  async run(): Promise<void> {
    const first = await this.#step('starts', () => this.#start());
    await this.#step('asks the keychain', () => this.#asksKeychain(first));
    await this.#step('makes a vault', () => this.#makesVault(first));
    await this.#step('answers on its port', () => this.#answers(first));
    await this.#step('passes its self-test', () => this.#testsItself(first));
    await this.#step('starts its threads', () => this.#startsThreads(first));
    if (this.#subject.isDesktop) {
      await this.#step('shows its window', () => this.#showsWindow(first.pid));
      await this.#step('keeps to the policy of its page', () => this.#keepsPolicy());
      await this.#step('keeps its page in the sandbox', () => this.#isSandboxed(first.pid));
      await this.#step('has images for the tray', () => this.#hasTrayImages());
      await this.#step('can start at login', () => this.#startsAtLogin(first));
    }
    await this.#step('quits', () => this.#quits(first.pid));
    const second = await this.#step('starts again', () => this.#start());
    await this.#step('opens the vault again', () => this.#opens(second));
    if (this.#subject.isDesktop) {
      await this.#step('shows its window again', () => this.#showsWindow(second.pid));
      await this.#step('keeps to the policy of its page again', () => this.#keepsPolicy());
    }
    await this.#step('quits again', () => this.#quits(second.pid));
  }

  /** Ends what a failed step left running. */
  end(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    // A launcher may have started the program as another process.
    const left = readEndpoint(this.#vault)?.pid;
    if (left !== undefined && left !== process.pid && isAlive(left)) process.kill(left, 'SIGKILL');
  }

  async #step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      const result = await work();
      const took = `${((performance.now() - started) / 1000).toFixed(1)} s`;
      this.#say(
        `ok  ${this.#subject.name} ${name} (${typeof result === 'string' ? `${result}; ${took}` : took})`,
      );
      return result;
    } catch (error) {
      const why = messageOf(error);
      throw new Error(`${this.#subject.name} ${name}: ${why}\n${this.#lastWords()}`, { cause: error });
    }
  }

  #lastWords(): string {
    const log = existsSync(this.#log)
      ? readFileSync(this.#log, 'utf8').split('\n').slice(-60).join('\n')
      : '';
    return [this.#said, log].filter((text) => text !== '').join('\n-- Chromium --\n');
  }

  async #start(): Promise<Started> {
    const [program, ...words] = this.#subject.program;
    const child = spawn(program, [...words, ...this.#arguments], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.push(child);
    let failure: Error | undefined;
    child.once('error', (error) => (failure = error));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    }
    const started = await until('its note of where it listens', patience, async () => {
      if (failure !== undefined) return { failure };
      if (child.exitCode !== null) return { failure: new Error(`it ended with ${String(child.exitCode)}`) };
      const endpoint = readEndpoint(this.#vault);
      if (endpoint?.port == null) return undefined;
      const running = await findRunning(this.#vault);
      return running && { pid: endpoint.pid, running };
    });
    if ('failure' in started) throw started.failure;
    const { pid, running } = started;
    return {
      pid,
      running,
      ask: async (name, ...args) => (await running.pass(name, args)) as never,
    };
  }

  async #answers({ running }: Started): Promise<string> {
    const answer = await fetch(`${running.url}/public/v1/discovery/keys`);
    check(answer.status === 200, `discovery keys: HTTP ${String(answer.status)}`);
    return running.url;
  }

  async #asksKeychain({ ask }: Started): Promise<string> {
    const { keychain } = await ask('probeKeychain');
    return keychain.available ? 'there is one' : keychain.reason;
  }

  async #makesVault({ ask }: Started): Promise<void> {
    const words = (await ask('newRecoveryPhrase')).phrase.split(' ');
    const { state } = await ask('create', {
      organizationName: 'Smoke',
      userName: 'Ada',
      useKeychain: false,
      password,
      confirmedWords: [1, 12, 24].map((position) => ({ position, word: words[position - 1] ?? '' })),
    });
    check(state === 'unlocked', `the new vault is ${state}`);
  }

  async #testsItself({ ask }: Started): Promise<string> {
    const findings = await ask('selfTest');
    const failed = findings.filter(({ outcome }) => outcome === 'failed');
    check(failed.length === 0, failed.map(({ check: what, detail }) => `${what}: ${detail}`).join('; '));
    check(findings.length > 0, 'it tested nothing');
    return findings.map(({ check: what, outcome }) => `${what} ${outcome}`).join(', ');
  }

  /** The threads are files of their own: those of backups, and that of webhooks. */
  async #startsThreads({ ask }: Started): Promise<void> {
    await ask('backUp', { file: this.#backup });
    await ask('verifyBackup', { file: this.#backup });
    await using receiver = await WebhookReceiver.start();
    const submit = async (operation: string, parameters: object): Promise<CallAnswer> => {
      const type = `ACTIVITY_TYPE_${operation.toUpperCase()}`;
      const answer = await ask('call', `/public/v1/submit/${operation}`, { type, parameters });
      check(answer.status === 200, `${operation}: ${JSON.stringify(answer.body)}`);
      return answer;
    };
    const made = await submit('create_webhook_endpoint', { name: 'Smoke', url: receiver.url });
    const [, endpointId] = /"endpointId":"([^"]+)"/.exec(JSON.stringify(made.body)) ?? [];
    await submit('test_webhook_endpoint', { endpointId });
    await until('an event of the webhook', patience, () => receiver.events[0]);
  }

  async #showsWindow(pid: number): Promise<string> {
    const { title, identity } = await until('a window on the screen', this.#patience, async () => {
      const [shown, ...others] = await this.#system.windowsOf(pid);
      check(others.length === 0, `${String(others.length + 1)} windows`);
      // The page gives the window its title once it runs; until then it is the name of the app alone.
      if (shown?.title !== undefined)
        check(shown.title.endsWith(' · Keyhearth'), `its title is ${shown.title}`);
      return shown;
    });
    if (identity !== undefined) {
      const expected = desktopName.replace(/[.]desktop$/, '');
      check(identity === expected, `the desktop takes it for ${identity}, and its entry is for ${expected}`);
    }
    return [title, identity].filter((text) => text !== undefined).join(', ');
  }

  async #isSandboxed(pid: number): Promise<string> {
    const processes = await until('the process of its page', this.#patience, async () => {
      const found = await this.#system.pagesOf(pid);
      return found?.length === 0 ? undefined : { found };
    });
    if (processes.found === undefined) return 'the system tells other programs nothing of it';
    for (const { pid: page, isSandboxed } of processes.found) {
      check(isSandboxed, `process ${String(page)} is not in the sandbox`);
    }
    return `${String(processes.found.length)} of them`;
  }

  #hasTrayImages(): string {
    const { archive } = this.#subject;
    if (archive === undefined) return 'packed into another file, which is made of the same folder';
    for (const name of trayImages) {
      const image = extractFile(archive, join('main/desktop/icons', name));
      check(isDrawn(image), `${name} shows nothing`);
    }
    return `${String(trayImages.length)} of them`;
  }

  async #startsAtLogin({ ask }: Started): Promise<string> {
    await ask('changeSettings', { startAtLogin: true });
    const entry = await this.#system.loginEntry(this.#vault);
    check(entry !== undefined, 'no entry names its vault');
    const [program = '', ...words] = entry;
    check(existsSync(program), `the entry starts ${program}, which is not there`);
    for (const word of ['--hidden', `--data-dir=${this.#vault}`, '--port=0']) {
      check(words.includes(word), `the entry has no word ${word}: ${JSON.stringify(entry)}`);
    }
    await ask('changeSettings', { startAtLogin: false });
    check((await this.#system.loginEntry(this.#vault)) === undefined, 'the entry stays');
    return JSON.stringify(entry);
  }

  async #quits(pid: number): Promise<void> {
    await this.#system.quit(pid);
    await until(`process ${String(pid)} is gone`, this.#longestQuit, () => (isAlive(pid) ? undefined : true));
    if (!this.#system.quitsInOrder) return;
    check(readEndpoint(this.#vault) === undefined, 'it left its note behind: the vault was not closed');
  }

  async #opens({ ask }: Started): Promise<void> {
    const { state } = await ask('status');
    check(state === 'locked', `the vault is ${state} after a start`);
    const opened = await ask('unlock', { with: 'password', password });
    check(opened.state === 'unlocked', `the vault is ${opened.state} after its password`);
  }

  #keepsPolicy(): string {
    const log = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
    check(log !== '', 'Chromium wrote no log, so nothing is known');
    const violations = `${log}\n${this.#said}`.split('\n').filter((line) => violation.test(line));
    check(violations.length === 0, violations.join('\n'));
    return `${String(log.split('\n').length)} lines of log`;
  }
}

const { desktopName } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  readonly desktopName: string;
};

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${messageOf(error.cause)})`;
}

/** True if a PNG shows anything: an empty image is zeros, which are transparent black pixels. */
export function isDrawn(png: Uint8Array): boolean {
  const bytes = Buffer.from(png);
  const parts: Buffer[] = [];
  // After the signature: length, name, content, sum.
  for (let at = 8; at + 12 <= bytes.length; at += bytes.readUInt32BE(at) + 12) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  if (parts.length === 0) return false;
  // A row that shows nothing is zeros, whatever filter it has; each row begins with its filter.
  const rows = inflateSync(Buffer.concat(parts));
  const height = bytes.readUInt32BE(20);
  const width = rows.length / height;
  return rows.some((byte, at) => byte !== 0 && at % width !== 0);
}

if (import.meta.main) {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const files = process.argv.slice(2);
  if (files.length === 0) {
    process.stderr.write(
      'usage: npm run smoke -- FILE …, where each is a file of a release for this system\n',
    );
    process.exitCode = 2;
  }
  for (const file of files) {
    try {
      const subject = await install(file);
      try {
        await smoke(subject, { say });
      } finally {
        await subject.remove();
      }
      say(`ok  ${subject.name} uninstalls`);
    } catch (error) {
      process.stderr.write(`not ok  ${messageOf(error)}\n`);
      process.exitCode = 1;
    }
  }
}

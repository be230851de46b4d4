/** A reader of the papers: someone who types each block of commands into a shell on a terminal, in its order. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { startMailServer, type MailServer } from '../delivery/mail-server.ts';
import { startKeyring, type KeyringSession } from '../keys/keychain.ts';
import { Shell } from '../support/shell.ts';
import { runCommand, temporaryDirectory, TestClient, testKeyOf } from '../support/support.ts';

const root = join(import.meta.dirname, '../..');

export const password = 'correct horse battery staple';

/** Texts in the page, and the reader's own in their place. */
export type Own = readonly (readonly [shown: string | RegExp, own: string])[];

/** The reader's own steps for a block. */
export interface Reading {
  /** The beginning of the block. */
  readonly block: string;
  readonly prepare?: (reader: Reader) => unknown;
  readonly own?: (reader: Reader) => Promise<Own> | Own;
  /** Typed before the block: what the text only says to do. */
  readonly before?: string;
  /** Shown when what goes on in the background is ready. */
  readonly until?: RegExp;
  readonly sees?: RegExp;
  /** The test that runs the whole block in its own surroundings. */
  readonly elsewhere?: string;
}

/** A block of a paper that a shell runs, or one that the paper names as a file. */
export type Block =
  | { readonly kind: 'commands'; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'other'; readonly language: string; readonly text: string };

/** Every block of code in a paper, in order: those in fences, and those that are indented by four. */
export function blocksOf(paper: string): readonly Block[] {
  const blocks = paper.matchAll(/^(```+)(.*)\n([^]*?)^\1$|(?:^ {4}\S.*\n(?:^ {4}.*\n)*)/gm);
  return [...blocks].map(([block, fence, info = '', fenced = '']) => {
    if (fence === undefined) {
      const text = block.replaceAll(/^ {4}/gm, '');
      return /^[[{]/.test(text) ? { kind: 'other', language: '', text } : { kind: 'commands', text };
    }
    const [language = '', name] = info.trim().split(/\s+/);
    if (name !== undefined) return { kind: 'file', name, text: fenced };
    return language === 'sh' ? { kind: 'commands', text: fenced } : { kind: 'other', language, text: fenced };
  });
}

export const commandsOf = (paper: string): readonly string[] =>
  blocksOf(paper).flatMap((block) => (block.kind === 'commands' ? [block.text] : []));

/** True for a line that runs in the background; a comment may follow. */
const goesOn = (line: string): boolean => /(?<!&)&\s*(?:#.*)?$/.test(line);

/** A block, cut after each line that goes on in the background. */
function segmentsOf(block: string): readonly string[] {
  const segments = [''];
  for (const line of block.trimEnd().split('\n')) {
    segments.push(`${segments.pop() ?? ''}${line}\n`);
    if (goesOn(line)) segments.push('');
  }
  return segments.filter((segment) => segment !== '');
}

/** The words of the phrase that is shown, in their order. */
const wordsIn = (shown: string): readonly string[] =>
  [...shown.matchAll(/(?<!\S)(\d+)\. ([a-z]+)/g)]
    .toSorted(([, a], [, b]) => Number(a) - Number(b))
    .map(([, , word = '']) => word);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Shared by the readers of one file of tests: a keyring and a mail server. */
export interface Surroundings extends AsyncDisposable {
  readonly keyring: KeyringSession;
  readonly mail: MailServer;
}

export async function startSurroundings(): Promise<Surroundings> {
  await using resources = new AsyncDisposableStack();
  const keyring = resources.use(await startKeyring('unlocked'));
  const mail = resources.use(await startMailServer());
  const kept = resources.move();
  return { keyring, mail, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** A reader with a home, a port and a shell of their own, in a directory that has the command and its packages. */
export class Reader implements AsyncDisposable {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly port: number;
  readonly mailPort: number;
  readonly mailCertificate: string;
  readonly #place = temporaryDirectory();
  readonly #shell: Shell;

  private constructor({ keyring, mail }: Surroundings, port: number) {
    this.directory = this.#place.path;
    for (const name of ['keyhearth', 'dist', 'node_modules']) {
      symlinkSync(join(root, name), join(this.directory, name));
    }
    const home = join(this.directory, 'home');
    const own: Record<string, string> = { HOME: home };
    for (const name of ['DATA_HOME', 'CONFIG_HOME', 'CACHE_HOME']) {
      own[`XDG_${name}`] = join(home, name.toLowerCase());
      mkdirSync(join(home, name.toLowerCase()), { recursive: true, mode: 0o700 });
    }
    const PATH = [this.directory, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
    this.environment = { ...keyring.environment, ...own, PATH, KEYHEARTH_PORT: String(port) };
    this.port = port;
    this.mailPort = mail.port;
    this.mailCertificate = mail.certificate;
    this.#shell = new Shell({ directory: this.directory, environment: this.environment });
  }

  static async start(surroundings: Surroundings): Promise<Reader> {
    return new Reader(surroundings, await freePort());
  }

  /** Types each block of a paper. A block without a reading is typed as it stands. */
  async read(paper: string, readings: readonly Reading[]): Promise<void> {
    for (const block of blocksOf(paper)) {
      if (block.kind === 'file') this.write(block.name, this.#atPort(block.text));
      if (block.kind !== 'commands') continue;
      const reading = readings.find((each) => block.text.startsWith(each.block));
      if (reading?.elsewhere === undefined) await this.#type(block.text, reading);
    }
  }

  /** A vault whose owner is Ann, and the service that holds it: what every page but the first begins with. */
  async openVault(): Promise<void> {
    this.write('pw', `${password}\n`);
    const until = /the vault is unlocked/;
    await this.#type('keyhearth init --organization Home --user Ann --password-file pw\n', undefined);
    await this.#type('keyhearth serve &\n', { block: '', until });
  }

  async #type(block: string, reading: Reading | undefined): Promise<void> {
    await reading?.prepare?.(this);
    let typed = this.#atPort(`${reading?.before ?? ''}${block}`);
    for (const [shown, own] of (await reading?.own?.(this)) ?? []) typed = typed.replaceAll(shown, own);
    let shown = '';
    for (const segment of segmentsOf(typed)) {
      const isReady =
        goesOn(segment.trimEnd()) && reading?.until !== undefined ? { until: reading.until } : {};
      const ran = await this.#shell.run(segment, { reply: (question) => this.#reply(question), ...isReady });
      expect(ran.failed, `${segment}\n${ran.shown}`).toEqual([]);
      shown += ran.shown;
    }
    if (reading?.sees !== undefined) expect(shown).toMatch(reading.sees);
  }

  readonly #atPort = (text: string): string =>
    text.replaceAll(/(?<=127\.0\.0\.1:|localhost:)7377\b/g, String(this.port));

  #reply(question: string): string | undefined {
    const [, position] = /^Word (\d+)/.exec(question) ?? [];
    if (position !== undefined) return this.words()[Number(position) - 1];
    if (question.includes('assword')) return password;
    return question.endsWith('?') ? 'y' : undefined;
  }

  /** The words of the vault's recovery phrase, as they were shown. */
  words(): readonly string[] {
    return wordsIn(this.#shell.shown);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.directory, name), text, { mode: 0o600 });
  }

  /** Asks the command beside the shell. @throws Error where it does not end with 0. */
  async ask<T>(...argv: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runCommand([...argv, '--json'], { environment: this.environment });
    if (code !== 0) throw new Error(`keyhearth ${argv.join(' ')} ended with ${String(code)}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** The owner's own client. */
  async client(): Promise<TestClient> {
    const { organization, url } = await this.ask<{ organization: { id: string }; url: string }>('status');
    const { privateKeyFile } = this;
    const read = (file: string): string => readFileSync(file, 'utf8').trim().split(':')[0] ?? '';
    const key = testKeyOf(read(privateKeyFile), read(privateKeyFile.replace(/private$/, 'public')));
    return new TestClient(url, organization.id, key);
  }

  get privateKeyFile(): string {
    return join(String(this.environment['XDG_CONFIG_HOME']), 'keyhearth/keys/owner.private');
  }

  async addressOf(wallet: string, format: string): Promise<string> {
    const { accounts } = await this.ask<{ accounts: readonly { addressFormat: string; address: string }[] }>(
      ...['wallets', 'show', wallet],
    );
    return accounts.find(({ addressFormat }) => addressFormat === format)?.address ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shell[Symbol.asyncDispose]();
    this.#place[Symbol.dispose]();
  }
}

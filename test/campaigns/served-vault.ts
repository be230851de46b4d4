/** A vault that the command serves in a process of its own, for tests that kill it, starve it, spoil its disk or ask it by commands. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import {
  activityOf,
  command,
  CommandProcess,
  runCommand,
  send,
  temporaryDirectory,
  TestClient,
  testKeyOf,
  type ActivityBody,
  type CommandOptions,
  type Json,
  type TestKey,
} from '../support/support.ts';

/** An activity that was answered with 200. */
export interface Acknowledged {
  readonly id: string;
  readonly fingerprint: string;
  readonly result: ActivityBody['result'];
}

export const password = 'a password for this test';

export class ServedVault implements AsyncDisposable {
  /** Holds the vault, and what a test puts beside it. */
  readonly home: string;
  readonly directory: string;
  readonly organizationId: string;
  readonly key: TestKey;
  /** The options by which a command finds the vault. */
  readonly locations: readonly string[];
  readonly #resources: AsyncDisposableStack;

  private constructor(resources: AsyncDisposableStack, home: string, organizationId: string) {
    this.#resources = resources;
    this.home = home;
    this.directory = join(home, 'vault');
    this.locations = ['--data-dir', this.directory, '--config-dir', home];
    this.organizationId = organizationId;
    const read = (name: string): string => readFileSync(join(home, 'keys', name), 'utf8').trim();
    this.key = testKeyOf(read('owner.private'), read('owner.public'));
  }

  static async make(): Promise<ServedVault> {
    await using resources = new AsyncDisposableStack();
    const { path } = resources.use(temporaryDirectory());
    const locations = ['--data-dir', join(path, 'vault'), '--config-dir', path];
    const made = await runCommand(['init', '--no-keychain', '--json', ...locations, '--password-fd', '3'], {
      descriptor3: password,
    });
    if (made.code !== 0) throw new Error(`init ended with ${String(made.code)}: ${made.stderr}`);
    const { organizationId } = JSON.parse(made.stdout) as { organizationId: string };
    return new ServedVault(resources.move(), path, organizationId);
  }

  /**
   * @param environment Beside the path. @param more Options of the command. @param descriptors How many the service may open.
   * @throws Error with what it printed where it does not come up.
   */
  async serve(
    environment: Readonly<Record<string, string>> = {},
    more: readonly string[] = [],
    descriptors?: number,
  ): Promise<{ readonly process: CommandProcess; readonly client: TestClient }> {
    const argv = [
      'serve',
      '--port',
      '0',
      '--no-keychain',
      '--json',
      ...this.locations,
      '--password-fd',
      '3',
      ...more,
    ];
    const program: CommandOptions['program'] =
      descriptors === undefined
        ? undefined
        : ['/bin/sh', '-c', `ulimit -n ${String(descriptors)} && exec "$@"`, 'sh', execPath, command];
    const options = { descriptor3: password, environment, ...(program && { program }) };
    const process = this.#resources.use(new CommandProcess(argv, options));
    const { url } = JSON.parse(await process.nextLine()) as { url: string };
    return { process, client: new TestClient(url, this.organizationId, this.key) };
  }

  /** Runs a command on the vault. */
  run(
    argv: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): ReturnType<typeof runCommand> {
    return runCommand([...argv, ...this.locations], { environment, descriptor3: password });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** Addresses to sign with. */
interface SigningWallet {
  readonly ethereum: string;
  readonly solana: string;
}

/** Signs by both curves until no answer comes. */
export class Signing {
  /** In the order of their answers. */
  readonly answered: Acknowledged[] = [];
  /** Bodies that had no answer. */
  readonly unanswered: string[] = [];
  /** Answers other than 200. */
  readonly refused: { readonly status: number; readonly body: Json; readonly sent: string }[] = [];
  readonly #client: TestClient;
  readonly #wallet: SigningWallet;
  #stopped = false;
  #done: Promise<unknown> = Promise.resolve();

  /** @param onAnswer Called in the turn of each answer of 200. */
  constructor(
    client: TestClient,
    wallet: SigningWallet,
    connections: number,
    onAnswer?: (answer: Acknowledged) => void,
  ) {
    this.#client = client;
    this.#wallet = wallet;
    this.#done = Promise.all(
      Array.from({ length: connections }, (_, worker) => this.#work(worker, onAnswer)),
    );
  }

  /** Stops sending; returns once every request has been answered, or no longer can be. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }

  async #work(worker: number, onAnswer?: (answer: Acknowledged) => void): Promise<void> {
    for (let count = 0; !this.#stopped; count++) {
      const onSolana = (worker + count) % 2 === 1;
      const sent = this.#client.submitBody('SIGN_RAW_PAYLOAD_V2', {
        signWith: onSolana ? this.#wallet.solana : this.#wallet.ethereum,
        payload: `worker ${String(worker)}, payload ${String(count)}, ${String(Math.random())}`,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: onSolana ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_SHA256',
      });
      try {
        const answer = await send(this.#client.url, {
          path: '/public/v1/submit/sign_raw_payload',
          headers: { 'content-type': 'application/json', 'x-stamp': this.#client.key.stamp(sent) },
          body: sent,
        });
        if (answer.status === 200) {
          const { id, fingerprint, result } = activityOf(answer);
          this.answered.push({ id, fingerprint, result });
          onAnswer?.({ id, fingerprint, result });
        } else this.refused.push({ status: answer.status, body: answer.body ?? {}, sent });
      } catch {
        this.unanswered.push(sent);
        return;
      }
    }
  }
}

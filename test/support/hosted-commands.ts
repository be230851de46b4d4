/** Runs commands in a process that has loaded them already, where a command would not see the difference. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { HostedRun } from './command-host.ts';
import { compileCache } from './compile-cache.ts';

export interface RanCommand {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** Words of commands that serve, or start programs, or set what stays with the process. */
const unfit: ReadonlySet<string> = new Set(['serve', 'dev', 'run', 'open', 'completion', '--verbose']);

/** Settings that each command reads from the environment itself. */
const isRead = (name: string): boolean =>
  ['HOME', 'PATH', 'BROWSER'].includes(name) || name.startsWith('KEYHEARTH_');

/** True for a command that would not see what ran before it in its process. */
export const isHosted = (argv: readonly string[], environment: Readonly<Record<string, string>>): boolean =>
  !argv.some((word) => unfit.has(word)) && Object.keys(environment).every(isRead);

/** One at a time: what runs beside another command has a process of its own. */
export class CommandHost {
  readonly #child: ChildProcess;
  readonly #outputs: readonly Output[];
  #ended: (code: RanCommand['code']) => void = () => undefined;
  isBusy = false;

  constructor(command: string) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, 'command-host.ts'), command], {
      cwd: tmpdir(),
      env: { ...compileCache },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error('the host has no pipes');
    this.#outputs = [new Output(stdout), new Output(stderr)];
    this.#child.on('message', (code: number) => {
      this.#ended(code);
    });
    this.#child.once('close', (code, signal) => {
      this.#ended(code ?? signal ?? 'SIGKILL');
    });
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async run(argv: readonly string[], environment: Readonly<Record<string, string>>): Promise<RanCommand> {
    this.isBusy = true;
    try {
      const end = randomUUID();
      const run: HostedRun = { argv, environment: { PATH: process.env['PATH'] ?? '', ...environment }, end };
      const code = new Promise<RanCommand['code']>((resolve) => (this.#ended = resolve));
      this.#child.send(run);
      const [stdout = '', stderr = ''] = await Promise.all(this.#outputs.map((output) => output.until(end)));
      return { code: await code, stdout, stderr };
    } finally {
      this.isBusy = false;
    }
  }
}

/** The text of a stream since the last run. */
class Output {
  #text = '';
  #look = (): void => undefined;
  #isOver = false;

  constructor(stream: Readable) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      this.#text += text;
      this.#look();
    });
    stream.once('close', () => {
      this.#isOver = true;
      this.#look();
    });
  }

  /** @returns the text before an end that the stream says, or all of it if the process ends before. */
  until(end: string): Promise<string> {
    return new Promise((resolve) => {
      this.#look = () => {
        const at = this.#text.indexOf(end);
        if (at === -1 && !this.#isOver) return;
        const text = at === -1 ? this.#text : this.#text.slice(0, at);
        this.#text = '';
        resolve(text);
      };
      this.#look();
    });
  }
}

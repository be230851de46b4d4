/** A shell on a terminal, as a reader of the papers has one: what they tell to type is typed there, in its order. */
import { execFileSync, spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync, type WriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCache } from './compile-cache.ts';

/** The answer that a person types at a prompt; undefined for an unexpected one. */
export type Reply = (question: string) => string | undefined;

/** Milliseconds for one command. */
const patience = 60_000;

export class Shell implements AsyncDisposable {
  /** Everything that the terminal has shown. */
  shown = '';
  readonly #directory = mkdtempSync(join(tmpdir(), 'keyhearth-shell-'));
  readonly #commands: WriteStream;
  readonly #child;
  readonly #ended: Promise<unknown>;
  #count = 0;

  constructor({
    directory,
    environment,
  }: {
    directory: string;
    environment: Readonly<Record<string, string>>;
  }) {
    // The shell reads commands from a pipe of their own, so that what commands read is the terminal.
    const pipe = join(this.#directory, 'commands');
    execFileSync('mkfifo', [pipe]);
    this.#child = spawn(
      'script',
      ['-qefc', `stty -echo cols 200; exec bash --norc --noprofile '${pipe}'`, '/dev/null'],
      {
        cwd: directory,
        env: { TERM: 'xterm', SHELL: '/bin/bash', ...compileCache, ...environment },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.shown += text));
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', resolve).once('close', resolve);
    });
    this.#commands = createWriteStream(pipe);
    this.#commands.on('error', () => undefined);
    this.#commands.write(`trap 'printf "\\n<%s from %s>\\n" "$?" "$BASH_COMMAND"' ERR\n`);
  }

  /**
   * Runs what may be several lines, and answers what they ask.
   * @param until What is shown when a line that goes on in the background is ready.
   * @returns what was shown; `failed` has the commands that did not end with 0, with their exit codes.
   */
  async run(
    lines: string,
    { reply = () => undefined, until }: { readonly reply?: Reply; readonly until?: RegExp } = {},
  ): Promise<{ readonly shown: string; readonly failed: readonly string[] }> {
    const from = this.shown.length;
    const mark = `<${String(++this.#count)} is done>`;
    this.#commands.write(`${lines}\nprintf '\\n${mark}\\n'\n`);
    const start = performance.now();
    let answered = 0;
    for (;;) {
      const said = plain(this.shown.slice(from));
      const questions = [...said.matchAll(/^\u25c6 {2}(.*)$/gm)].map(([, question = '']) => question);
      const question = questions[answered];
      if (question !== undefined) {
        const answer = reply(question);
        if (answer === undefined) throw new Error(`nobody knows what to answer to "${question}":\n${said}`);
        answered += 1;
        this.#child.stdin.write(`${answer}\r`);
      }
      if (said.includes(mark) && (until === undefined || until.test(said))) {
        const failed = [...said.matchAll(/<(\d+ from .*)>$/gm)].map(([, failure = '']) => failure);
        return { shown: said.replace(mark, ''), failed };
      }
      if (performance.now() - start > patience) throw new Error(`it did not end:\n${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#commands.destroy();
    this.#child.kill('SIGHUP');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    await this.#ended;
    clearTimeout(late);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Without the sequences that color it and move the cursor. */
// oxlint-disable-next-line no-control-regex -- they begin with a control character
const plain = (text: string): string => text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '');

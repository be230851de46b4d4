import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { compileCache } from './compile-cache.ts';

const terminalTool = 'script';

/** The command on a terminal: `script` gives it one, and what a person types there arrives on its standard input. */
export class Terminal implements AsyncDisposable {
  shown = '';
  readonly #child;
  readonly #ended: Promise<number | null>;

  /** @param line What follows `keyhearth`, with whatever the shell makes of it. */
  constructor(line: string, environment: Readonly<Record<string, string>>) {
    const command = `stty cols 120 rows 60; exec '${process.execPath}' '${join(import.meta.dirname, '../../dist/main/cli.js')}' ${line}`;
    this.#child = spawn(terminalTool, ['-qefc', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm', SHELL: '/bin/sh', ...compileCache, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.shown += text));
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', (error) => {
        reject(new Error(`${terminalTool}: ${error.message}; install it with: apt-get install -y bsdutils`));
      });
      this.#child.once('close', resolve);
    });
  }

  /** Types something once a text is shown; before, the terminal itself would echo it. */
  async type(text: string, after: string): Promise<void> {
    const shown = expect.poll(() => this.shown, { timeout: 20_000 }).toContain(after);
    // Without a terminal, its error comes first.
    await Promise.race([shown, this.#ended.then(() => shown)]);
    this.#child.stdin.write(text);
  }

  /** Sends a signal to what runs on the terminal: the command, or the shell whose last word it is not. */
  signal(signal: NodeJS.Signals): void {
    const terminal = String(this.#child.pid);
    const children = readFileSync(`/proc/${terminal}/task/${terminal}/children`, 'utf8');
    process.kill(Number.parseInt(children), signal);
  }

  ended(): Promise<number | null> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended.catch(() => undefined);
  }
}

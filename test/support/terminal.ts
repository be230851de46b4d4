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

  /**
   * @param line What follows `keyhearth`, with whatever the shell makes of it.
   * @param then What the shell runs after it.
   */
  constructor(line: string, environment: Readonly<Record<string, string>>, then?: string) {
    const words = `'${process.execPath}' '${join(import.meta.dirname, '../../dist/main/cli.js')}' ${line}`;
    const command = `stty cols 120 rows 60; ${then === undefined ? `exec ${words}` : `${words}; ${then}`}`;
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

  /** Sends a signal to the command alone. */
  signal(signal: NodeJS.Signals): void {
    const childOf = (parent: number): number | undefined => {
      const children = readFileSync(`/proc/${String(parent)}/task/${String(parent)}/children`, 'utf8');
      return children === '' ? undefined : Number.parseInt(children);
    };
    const { pid } = this.#child;
    const child = pid === undefined ? undefined : childOf(pid);
    if (child === undefined) throw new Error('nothing runs on the terminal');
    // A shell that runs more afterwards is between the two.
    process.kill(childOf(child) ?? child, signal);
  }

  ended(): Promise<number | null> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended.catch(() => undefined);
  }
}

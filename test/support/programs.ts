/** Programs of the system, beside a service in the same process, which they must not block. */
import { spawn } from 'node:child_process';

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export function runProgram(
  program: string,
  argv: readonly string[],
  {
    cwd,
    env = {},
    input = '',
  }: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Standard input. */
    readonly input?: string;
  } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, {
      ...(cwd !== undefined && { cwd }),
      env: { PATH: process.env['PATH'], ...env },
      timeout: 60_000,
    });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, ...said });
    });
    // A program may end before it reads.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

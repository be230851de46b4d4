/**
 * Real disks for tests: a small tmpfs, and directories that can only be read, in a mount namespace of their own. Where the
 * system gives a user none, a test that needs one says so and is skipped.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandProcess, runCommand, temporaryDirectory } from '../support/support.ts';
import type { CommandOptions } from '../support/support.ts';

const cli = join(import.meta.dirname, '../../dist/main/cli.js');

/** Why this machine has no such disks; undefined where it has. */
export function noSmallDisks(): string | undefined {
  const { status, stderr, error } = spawnSync('unshare', ['-rm', 'true'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return `NOT TESTED, as this machine lets no user mount a disk of their own (unshare -rm): ${error?.message ?? stderr}`;
}

export class SmallDisk implements AsyncDisposable {
  readonly #directory = temporaryDirectory();
  readonly path = realpathSync(this.#directory.path);
  /** The mount point of the disk, for the commands that run in its namespace. */
  readonly mounted = join(this.path, 'disk');
  readonly #holder: ChildProcess;
  readonly #started: Promise<unknown>;

  private constructor(sizeKiB: number) {
    const script = [
      `mkdir -p '${this.mounted}'`,
      `mount -t tmpfs -o size=${String(sizeKiB)}k,mode=0700 none '${this.mounted}'`,
      'echo ready',
      // Ends with the test.
      'read _',
    ].join(' && ');
    this.#holder = spawn('unshare', ['-rm', 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout } = this.#holder;
    if (stdout === null) throw new Error('the holder of the disk has no pipe');
    this.#started = once(createInterface({ input: stdout }), 'line');
  }

  static async mount(sizeKiB: number): Promise<SmallDisk> {
    const disk = new SmallDisk(sizeKiB);
    await disk.#started;
    return disk;
  }

  /** A path on the disk, as this process reaches it. */
  seen(name: string): string {
    return join(`/proc/${String(this.#holder.pid)}/root`, this.mounted, name);
  }

  /** The words that run a program among the mounts. */
  #inside(): [string, ...string[]] {
    const target = ['--target', String(this.#holder.pid), '--user', '--mount', '--preserve-credentials'];
    return ['nsenter', ...target, '--', process.execPath, cli];
  }

  start(argv: readonly string[], options: CommandOptions = {}): CommandProcess {
    return new CommandProcess(argv, { ...options, program: this.#inside() });
  }

  run(argv: readonly string[], options: CommandOptions = {}): ReturnType<typeof runCommand> {
    return runCommand(argv, { ...options, program: this.#inside() });
  }

  /** Lets a directory of the disk only be read, for what starts after this; or lets it be written again. */
  setReadOnly(isReadOnly: boolean): void {
    const target = ['--target', String(this.#holder.pid), '--user', '--mount', '--preserve-credentials'];
    const words = ['mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.mounted];
    const { status, stderr } = spawnSync('nsenter', [...target, '--', ...words], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  /** Takes all the room there is, but for some. */
  fill(leavingKiB = 0): void {
    const { bavail, bsize } = statfsSync(this.seen('.'));
    const bytes = bavail * bsize - leavingKiB * 1024;
    try {
      writeFileSync(this.seen('filler'), Buffer.alloc(Math.max(bytes, 0), 1), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  /** Gives back the room that `fill` took. */
  empty(): void {
    rmSync(this.seen('filler'), { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#holder.stdin?.end();
    await once(this.#holder, 'close');
    this.#directory[Symbol.dispose]();
  }
}

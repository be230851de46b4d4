/** Chromium's sandbox on Linux, as the kernel tells of it: Electron itself tells of it on macOS and Windows alone. */
import { readdirSync, readFileSync } from 'node:fs';

/** A process that runs a page. */
export interface PageProcess {
  readonly pid: number;
  readonly isSandboxed: boolean;
}

/** @returns an empty text for a process that ended meanwhile. */
function tryRead(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

const wordsOf = (pid: number): readonly string[] =>
  // Chromium's own title of a process has spaces between the words.
  tryRead(() => readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8')).split(/[\0 ]/);

const field = (status: string, name: string): string =>
  new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';

/**
 * Finds the processes of pages among the descendants of a program. One is in the sandbox where its system calls pass Chromium's
 * filter and it sees no other processes, which the program itself does: `--no-sandbox` takes both away.
 */
export function pageProcesses(program: number): readonly PageProcess[] {
  const statuses = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), tryRead(() => readFileSync(`/proc/${name}/status`, 'utf8'))] as const),
  );
  const descends = (pid: number): boolean => {
    const parent = Number(field(statuses.get(pid) ?? '', 'PPid'));
    return parent === program || (parent > 1 && descends(parent));
  };
  return [...statuses]
    .filter(([pid]) => wordsOf(pid).includes('--type=renderer') && descends(pid))
    .map(([pid, status]) => ({
      pid,
      isSandboxed:
        field(status, 'Seccomp') === '2' &&
        // A number for each namespace of processes that it is in.
        field(status, 'NSpid').split('\t').length >
          field(statuses.get(program) ?? '', 'NSpid').split('\t').length,
    }));
}

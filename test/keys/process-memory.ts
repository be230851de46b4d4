/**
 * Looks for secrets in the memory of another process, as a debugger or a core dump would show it. Halves of a secret count
 * too: an allocator writes its own pointers over the beginning of what is freed.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { ByteSearch } from '../support/byte-search.ts';

/** Bytes that give a secret away. */
const tellingLength = 16;
/** Regions are read in parts, so that none is too large; a find may lie across two of them. */
const partLength = 16 * 1024 * 1024;

/** `/proc/PID/pagemap` has eight bytes for a page; the highest say whether it is in memory, or in the swap. */
const pageSize = 4096;
const mapEntry = 8;
const inMemoryOrSwapped = 0xc0;

interface Region {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

interface Needle {
  readonly kind: string;
  readonly form: string;
}

/** The forms of secrets, by kind. */
export class Needles {
  readonly #search = new ByteSearch<Needle>();
  readonly #kinds = new Set<string>();

  get kinds(): ReadonlySet<string> {
    return this.#kinds;
  }

  /** @param secret Bytes: looked for as they are, under the pads of an HMAC, in hex and in Base64. */
  addBytes(kind: string, secret: Uint8Array): void {
    const bytes = Buffer.from(secret);
    this.#add(kind, 'bytes', halvesOf(bytes));
    for (const pad of [0x36, 0x5c]) {
      this.#add(kind, 'HMAC pad', halvesOf(Buffer.from(bytes.map((byte) => byte ^ pad))));
    }
    this.addText(kind, bytes.toString('hex'), 'hex');
    this.addText(kind, bytes.toString('hex').toUpperCase(), 'hex');
    this.addText(kind, bytes.toString('base64'), 'base64');
  }

  /** @param secret A text: looked for with one and with two bytes to each unit, as engines keep strings. */
  addText(kind: string, secret: string, form = 'text'): void {
    const parts = halvesOf(secret);
    this.#add(
      kind,
      form,
      parts.map((part) => Buffer.from(part)),
    );
    this.#add(
      kind,
      `${form}, two bytes each`,
      parts.map((part) => Buffer.from(part, 'utf16le')),
    );
  }

  /** Calls back for each needle that is in these bytes. */
  find(bytes: Buffer, found: (needle: Needle) => void): void {
    this.#search.find(bytes, found);
  }

  #add(kind: string, form: string, parts: readonly Buffer[]): void {
    this.#kinds.add(kind);
    for (const bytes of parts) this.#search.add(bytes, { kind, form });
  }
}

/** Of what is long enough, two parts that do not overlap. */
const halvesOf = <Secret extends Buffer | string>(secret: Secret): Secret[] =>
  secret.length < 2 * tellingLength
    ? [secret]
    : [secret.slice(0, tellingLength) as Secret, secret.slice(secret.length - tellingLength) as Secret];

/** Why the memory of a process cannot be read here; undefined where it can. */
export function memoryObstacle(pid: number): string | undefined {
  if (process.platform !== 'linux') return `no way to read another process's memory on ${process.platform}`;
  try {
    const descriptor = openSync(`/proc/${String(pid)}/mem`, 'r');
    try {
      const [region] = writableRegions(pid);
      if (region === undefined) return 'the process has no memory that can be written';
      readSync(descriptor, Buffer.alloc(16), 0, 16, region.from);
      return undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return `this system does not let a process read another's memory (${String(error)}); see /proc/sys/kernel/yama/ptrace_scope`;
  }
}

function writableRegions(pid: number): readonly Region[] {
  return readFileSync(`/proc/${String(pid)}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, from = '', to = '', name = ''] =
        /^([0-9a-f]+)-([0-9a-f]+) rw.. \S+ \S+ \S+ *(.*)$/.exec(line) ?? [];
      return from === ''
        ? []
        : [{ from: parseInt(from, 16), to: parseInt(to, 16), name: name || 'anonymous' }];
    });
}

/** The findings: the number of each kind, and the places with their forms. */
export interface Findings {
  readonly counts: Readonly<Record<string, number>>;
  readonly where: readonly string[];
}

/** The process is stopped meanwhile. */
export function scanMemory(pid: number, needles: Needles): Findings {
  const counts = Object.fromEntries([...needles.kinds].map((kind) => [kind, 0]));
  const where = new Map<string, number>();
  const descriptor = openSync(`/proc/${String(pid)}/mem`, 'r');
  const pages = openSync(`/proc/${String(pid)}/pagemap`, 'r');
  const part = Buffer.allocUnsafe(partLength);
  process.kill(pid, 'SIGSTOP');
  try {
    for (const { from, to, name } of writableRegions(pid)) {
      for (const [at, length] of presentParts(pages, from, to)) {
        const bytes = readPart(descriptor, at, part.subarray(0, length));
        needles.find(bytes, ({ kind, form }) => {
          counts[kind] = (counts[kind] ?? 0) + 1;
          const place = `${kind}: ${form}, in ${name}`;
          where.set(place, (where.get(place) ?? 0) + 1);
        });
      }
    }
  } finally {
    process.kill(pid, 'SIGCONT');
    closeSync(descriptor);
    closeSync(pages);
  }
  return { counts, where: [...where].map(([place, count]) => `${place}: ${String(count)}`) };
}

/** Most of what a process reserves is not there: the parts of a region that have pages, none too long. */
function* presentParts(
  pages: number,
  from: number,
  to: number,
): Generator<readonly [at: number, length: number], void, undefined> {
  const map = Buffer.alloc(((to - from) / pageSize) * mapEntry);
  readSync(pages, map, 0, map.length, (from / pageSize) * mapEntry);
  let start = from;
  for (let at = from; at <= to; at += pageSize) {
    const flags = at < to ? (map[((at - from) / pageSize) * mapEntry + mapEntry - 1] ?? 0) : 0;
    const isThere = (flags & inMemoryOrSwapped) !== 0;
    if (isThere && at - start < partLength) continue;
    if (at > start) yield [start, at - start];
    start = isThere ? at : at + pageSize;
  }
}

/** A region may go, or hold pages that are not there: what cannot be read holds nothing. */
function readPart(descriptor: number, position: number, bytes: Buffer): Buffer {
  let read = 0;
  try {
    while (read < bytes.length) {
      const count = readSync(descriptor, bytes, read, bytes.length - read, position + read);
      if (count === 0) break;
      read += count;
    }
  } catch {
    // The rest of it is not there.
  }
  return bytes.subarray(0, read);
}

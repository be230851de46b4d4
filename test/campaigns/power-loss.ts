/**
 * The content of a disk after a power loss, from the record of its operations. A file holds what it held at
 * its last sync. Each later write is there, is missing, or is there in part. New, renamed and removed names
 * are there up to some point since the directory was last synced, in their order.
 */
import type { DiskOperation } from './faulty-disk.ts';

const sector = 512;

/** Random numbers of which a test can name the seed. */
export type Chance = () => number;

type Pending =
  | { readonly kind: 'write'; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly size: number };

interface DiskFile {
  /** As of its last sync. */
  synced: Buffer;
  pending: Pending[];
}

/** Files by path: their synced content, and pending writes. */
export class Disk {
  #names = new Map<string, DiskFile>();
  /** Changes of names that may not have reached the disk, each a function from names to names. */
  #pendingNames: ((names: Map<string, DiskFile>) => void)[] = [];
  /** Names as they were at the last sync of any file or directory. */
  #syncedNames = new Map<string, DiskFile>();

  /** @param files As they are on the disk, synced. */
  constructor(files: ReadonlyMap<string, Buffer>) {
    for (const [path, synced] of files) this.#names.set(path, { synced, pending: [] });
    this.#syncedNames = new Map(this.#names);
  }

  apply({ call, path, offset, data }: DiskOperation): void {
    const file = this.#names.get(path);
    switch (call) {
      case 'write':
        file?.pending.push({ kind: 'write', offset, data });
        return;
      case 'truncate':
        file?.pending.push({ kind: 'truncate', size: offset });
        return;
      case 'sync':
        // A sync commits the journal of the file system, in which changes of names are in order.
        this.#syncedNames = new Map(this.#names);
        this.#pendingNames = [];
        if (file === undefined) return;
        file.synced = perform(file.synced, file.pending);
        file.pending = [];
        return;
      case 'create':
        this.#create(path, { synced: Buffer.alloc(0), pending: [] });
        return;
      case 'rename':
        this.#rename((names) => {
          const moved = names.get(path);
          names.delete(path);
          if (moved !== undefined) names.set(data.toString('utf8'), moved);
        });
        return;
      case 'unlink':
        this.#rename((names) => names.delete(path));
        return;
      case 'read':
    }
  }

  #create(path: string, made: DiskFile): void {
    this.#rename((names) => names.set(path, made));
  }

  #rename(change: (names: Map<string, DiskFile>) => void): void {
    change(this.#names);
    this.#pendingNames.push(change);
  }

  /** The files after the power comes back. */
  afterPowerLoss(chance: Chance): Map<string, Buffer> {
    const names = new Map(this.#syncedNames);
    for (const change of this.#pendingNames.slice(0, Math.floor(chance() * (this.#pendingNames.length + 1))))
      change(names);
    return new Map([...names].map(([path, { synced, pending }]) => [path, leftOf(synced, pending, chance)]));
  }
}

/** Does to a file what was asked of it, in order. */
function perform(content: Buffer, pending: readonly Pending[]): Buffer {
  const ends = pending.map((each) => (each.kind === 'write' ? each.offset + each.data.length : each.size));
  const bytes = Buffer.alloc(Math.max(content.length, ...ends));
  content.copy(bytes);
  let size = content.length;
  for (const each of pending) {
    if (each.kind === 'write') {
      each.data.copy(bytes, each.offset);
      size = Math.max(size, each.offset + each.data.length);
    } else {
      bytes.fill(0, each.size);
      size = each.size;
    }
  }
  return bytes.subarray(0, size);
}

/** Writes reach the disk in any order, as the kernel pleases: none of them, the first ones, or some of them, whole or in part. */
function leftOf(synced: Buffer, pending: readonly Pending[], chance: Chance): Buffer {
  const way = chance();
  if (way < 0.2) return synced;
  const first = Math.floor(chance() * (pending.length + 1));
  const reached =
    way < 0.5
      ? pending.slice(0, first)
      : pending.filter(() => chance() < 0.6).map((each) => torn(each, chance));
  return perform(synced, reached);
}

/** A sector is written or is not; of a longer write some sectors may be. */
function torn(pending: Pending, chance: Chance): Pending {
  if (pending.kind === 'truncate' || pending.data.length <= sector || chance() < 0.7) return pending;
  const sectors = Math.floor(pending.data.length / sector);
  return { ...pending, data: pending.data.subarray(0, sector * Math.floor(chance() * (sectors + 1))) };
}

/**
 * A list of any length, of which the window has a few pages: where its rows are is asked for first, in as many parts as it
 * takes, and what is in a row when it comes into sight.
 */

/** Places of a list's rows, from the service's outlines: up to a page of them. */
export interface Block {
  /** Of the first. */
  readonly createdAt: { readonly seconds: string; readonly nanos: string };
  readonly count: number;
  /** First and last of places that follow one another. */
  readonly runs: readonly (readonly [first: number, last: number])[];
}

export interface OutlinePart {
  readonly blocks: readonly Block[];
  readonly next?: number;
}

export interface ListSource<Line> {
  /** @param from Where an earlier part said to go on. */
  readonly outline: (from: number | undefined) => Promise<OutlinePart>;
  /** Rows that came before all others since; absent if new rows come at the end. */
  readonly newer?: (newest: number) => Promise<OutlinePart>;
  readonly browse: (places: readonly number[]) => Promise<readonly Line[]>;
  /** True if a row may have changed since it was read. */
  readonly isOpen: (line: Line) => boolean;
}

/** As many places as the service shows at once. */
const pageSize = 100;
/** Rows beyond those in sight, on either side, that are read along with others, and that are read for themselves. */
const margin = { along: 45, needed: 15 };
/** Rows that are kept; those that were read first are forgotten first. */
const mostKept = 4_000;

/** Between two words of how much was found, in milliseconds. */
const sayingPause = 300;

export class LongList<Line extends { readonly place: number }> {
  readonly #source: ListSource<Line>;
  readonly #listeners = new Set<() => void>();
  #blocks: Block[] = [];
  /** Number of rows before each block. */
  #starts: number[] = [];
  #total = 0;
  #version = 0;
  #isComplete = false;
  #error: Error | null = null;
  #stopped = false;
  #prepended = 0;
  readonly #lines = new Map<number, Line>();
  /** Places that were read, or are being read. A place without a line is of a row that was deleted. */
  readonly #asked = new Set<number>();
  #isReading = false;
  #range: readonly [first: number, last: number] = [0, 0];
  #catchingUp: Promise<void> | undefined;

  constructor(source: ListSource<Line>) {
    this.#source = source;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Another whenever something of the list is. */
  readonly version = (): number => this.#version;

  /** Number of known rows. */
  get total(): number {
    return this.#total;
  }

  /** True once the whole list was searched. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get error(): Error | null {
    return this.#error;
  }

  /** Number of rows that came before the first one since the list was opened. */
  get prepended(): number {
    return this.#prepended;
  }

  /** The time of the last row that is known, in milliseconds: how far it was looked through. */
  get reached(): number | undefined {
    const last = this.#blocks.at(-1);
    return last && Number(last.createdAt.seconds) * 1000;
  }

  /** Looks through all of it. */
  async start(): Promise<void> {
    this.#error = null;
    this.#stopped = false;
    this.#blocks = [];
    this.#starts = [];
    this.#total = 0;
    try {
      await this.#goOn(undefined);
    } catch (reason) {
      this.#fail(reason);
    }
  }

  async #goOn(start: number | undefined): Promise<void> {
    let from = start;
    let said = Number.NEGATIVE_INFINITY;
    do {
      const part = await this.#source.outline(from);
      if (this.#isStopped()) return;
      for (const block of part.blocks) this.#append(block);
      from = part.next;
      this.#isComplete = from === undefined;
      // The first are shown at once. Each later change is rendered again, which takes longer the more there
      // are.
      if (this.#isComplete || performance.now() - said > sayingPause) {
        said = performance.now();
        this.#changed();
        this.#read();
      }
    } while (from !== undefined);
  }

  stop(): void {
    this.#stopped = true;
  }

  // A getter of its own, since it changes while something is awaited.
  #isStopped(): boolean {
    return this.#stopped;
  }

  /** Something was added or has changed: new rows are put before the first, and rows that are open are read again. */
  catchUp(): Promise<void> {
    return (this.#catchingUp ??= this.#catchUp().finally(() => {
      this.#catchingUp = undefined;
    }));
  }

  async #catchUp(): Promise<void> {
    try {
      for (const [place, line] of this.#lines) if (this.#source.isOpen(line)) this.#asked.delete(place);
      this.#read();
      const { newer } = this.#source;
      // A search in progress still reaches the end by itself.
      if (newer === undefined) {
        if (this.#isComplete) await this.#goOn(this.placeAt(this.#total - 1));
        return;
      }
      const newest = this.placeAt(0) ?? (this.#isComplete ? 0 : undefined);
      if (newest === undefined) return;
      const { blocks } = await newer(newest);
      if (this.#isStopped() || blocks.length === 0) return;
      const added = blocks.reduce((sum, { count }) => sum + count, 0);
      const old = this.#blocks;
      this.#blocks = [];
      this.#starts = [];
      this.#total = 0;
      for (const block of [...blocks, ...old]) this.#append(block);
      this.#prepended += added;
      this.#changed();
      this.#read();
    } catch (reason) {
      this.#fail(reason);
    }
  }

  #append(block: Block): void {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.count + block.count <= pageSize) {
      const both = { ...last, count: last.count + block.count, runs: [...last.runs, ...block.runs] };
      this.#blocks[this.#blocks.length - 1] = both;
    } else {
      this.#starts.push(this.#total);
      this.#blocks.push(block);
    }
    this.#total += block.count;
  }

  /** Says which rows are in sight: they and their neighbours are read. */
  show(first: number, last: number): void {
    if (this.#range[0] === first && this.#range[1] === last) return;
    this.#range = [first, last];
    this.#read();
  }

  lineAt(index: number): Line | undefined {
    const place = this.placeAt(index);
    return place === undefined ? undefined : this.#lines.get(place);
  }

  placeAt(index: number): number | undefined {
    const at = this.#blockAt(index);
    const block = this.#blocks[at];
    let left = index - (this.#starts[at] ?? 0);
    if (block === undefined || left < 0) return undefined;
    for (const [first, last] of block.runs) {
      const length = Math.abs(last - first) + 1;
      if (left < length) return last < first ? first - left : first + left;
      left -= length;
    }
    return undefined;
  }

  /** The last block that begins at a row or before it. */
  #blockAt(index: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= index) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The first row of a list whose newest come first that is not newer than a time, to a page. */
  indexAtTime(milliseconds: number): number {
    const at = this.#blocks.findIndex(({ createdAt }) => Number(createdAt.seconds) * 1000 <= milliseconds);
    return at === -1 ? Math.max(0, this.#total - 1) : (this.#starts[at] ?? 0);
  }

  /** Reads what is in sight and not here, one request at a time, so that scrolling past many leaves none behind. */
  #read(): void {
    if (this.#isReading) return;
    const [first, last] = this.#range;
    if (this.#unread(first - margin.needed, last + margin.needed).length === 0) return;
    // Those in sight before those around them.
    const missing = [
      ...this.#unread(first, last),
      ...this.#unread(last + 1, last + margin.along),
      ...this.#unread(first - margin.along, first - 1),
    ].slice(0, pageSize);
    for (const place of missing) this.#asked.add(place);
    this.#isReading = true;
    this.#source.browse(missing).then(
      (lines) => {
        this.#isReading = false;
        if (this.#isStopped()) return;
        for (const line of lines) {
          this.#lines.delete(line.place);
          this.#lines.set(line.place, line);
        }
        // Deleted rows are not requested again.
        this.#forget(new Set(missing));
        this.#changed();
        this.#read();
      },
      (reason: unknown) => {
        this.#isReading = false;
        for (const place of missing) this.#asked.delete(place);
        this.#fail(reason);
      },
    );
  }

  /** Places of rows that were not read yet. */
  #unread(first: number, last: number): readonly number[] {
    const missing: number[] = [];
    for (let index = Math.max(0, first); index <= Math.min(last, this.#total - 1); index++) {
      const place = this.placeAt(index);
      if (place !== undefined && !this.#asked.has(place)) missing.push(place);
    }
    return missing;
  }

  #forget(kept: ReadonlySet<number>): void {
    for (const place of this.#lines.keys()) {
      if (this.#lines.size <= mostKept) return;
      if (kept.has(place)) continue;
      this.#lines.delete(place);
      this.#asked.delete(place);
    }
  }

  #fail(reason: unknown): void {
    if (this.#isStopped()) return;
    this.#error = reason instanceof Error ? reason : new Error(String(reason));
    this.#changed();
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

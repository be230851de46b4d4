/**
 * Turns: the one place where requests wait. The event loop runs waiting work for some milliseconds and then serves
 * sockets and signals, so a freeze never queues behind requests. Shares are fair: among the shares that wait, the one that had
 * the least processor time is next; first by organization, then by user. A share is chosen by what a request has proven.
 */
import { KeyhearthError } from '../errors.ts';
import { owned } from '../faults.ts';
import { logFault } from '../log.ts';
import { isPaced, type Paced } from './paced.ts';

/** The shares of a turn, from the outermost to the innermost. */
export type Line = readonly string[];

/** Calls of the owner's own window and commands: they come before all others. */
export const ownersLine: Line = ['owner'];

/** A larger body takes milliseconds to hash, and waits among its like. */
export const mostSmallBytes = 64 * 1024;

/** Requests whose sender is not proven yet, by the size of their body. */
export const unprovenLine = (bytes: number): Line => [bytes > mostSmallBytes ? 'large' : 'small'];

export const callersLine = (caller: { readonly organizationId: string; readonly userId: string }): Line => [
  'proven',
  caller.organizationId,
  caller.userId,
];

/** Limits on waiting and running work, in weights: of each kind of request, of an organization, of a user. */
const limits: Readonly<Record<string, readonly number[]>> = {
  owner: [8192],
  small: [4096],
  large: [4096],
  proven: [4096, 2048, 1024],
};

const weightOf = (bytes: number): number => 1 + Math.floor(bytes / mostSmallBytes);

/** Milliseconds of work between two looks at sockets and signals. */
const longestTurn = 10;

/**
 * Milliseconds for which no work of others starts while a caller presses; after that, one task at a time
 * does.
 */
const longestHold = 250;

const retryAfterSeconds = 1;

/** Too much waits already: nothing of the request was done. */
export class OverloadError extends KeyhearthError {
  readonly retryAfterSeconds = retryAfterSeconds;

  constructor() {
    super(
      'RESOURCE_EXHAUSTED',
      'too many requests: more wait than are taken of one caller, or of all. Nothing of this one was done; send it again in a second',
    );
  }
}

/** The longest time for which nothing else was served. */
export interface LongestTurn {
  /** The path of the operation, without its parameters. */
  readonly name: string;
  readonly ms: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface Turn {
  readonly line: Line;
  readonly name: string;
  /** @returns whether there is more to do. */
  readonly step: () => boolean;
  readonly refuse: (error: KeyhearthError) => void;
  /** True once a step of it has run. */
  isUnderWay: boolean;
}

/** The work of a request: an answer, the promise of one, or either in steps. */
type Work<T extends object> = () => T | Promise<T> | Paced<T | Promise<T>>;

export interface TurnsOptions {
  /** True while work that has begun must finish before more begins. */
  readonly isBusy?: () => boolean;
}

class Share {
  /** Milliseconds of processor time, as far as the shares beside it are concerned. */
  spent = 0;
  /** Weight of what is not answered yet. */
  open = 0;
  /** Tasks that wait, here and below. */
  waiting = 0;
  /** The time that the last served share has had: a share that joins starts from there. */
  floor = 0;
  readonly parts = new Map<string, Share>();
  readonly short: Turn[] = [];
  /** Questions that were not answered in one step: the first of them is under way, the others wait for its end. */
  readonly #long: Turn[] = [];
  #current: Turn | undefined;
  #lastWasLong = false;

  /** @returns the part that waits and had the least time; undefined where none waits. */
  next(): Share | undefined {
    let next: Share | undefined;
    for (const part of this.parts.values()) {
      if (part.waiting > 0 && (next === undefined || part.spent < next.spent)) next = part;
    }
    if (next !== undefined) this.floor = Math.max(this.floor, next.spent);
    return next;
  }

  add(task: Turn): void {
    if (!task.isUnderWay) this.short.push(task);
    else if (task === this.#current) this.#long.unshift(task);
    else this.#long.push(task);
  }

  /** Takes a task of its own: the long question and the others in turn. */
  take(): Turn | undefined {
    this.#lastWasLong = this.#long.length > 0 && (this.short.length === 0 || !this.#lastWasLong);
    const task = this.#lastWasLong ? this.#long.shift() : this.short.shift();
    if (task === undefined) return undefined;
    if (task.isUnderWay) this.#current = task;
    return task;
  }
}

export class Turns {
  readonly #root = new Share();
  readonly #isBusy: () => boolean;
  #isScheduled = false;
  #pressing = 0;
  #heldUntil = 0;
  /** Tasks that wait, and that no step of has run. */
  #fresh = 0;
  #longest: LongestTurn | null = null;

  constructor({ isBusy = () => false }: TurnsOptions = {}) {
    this.#isBusy = isBusy;
  }

  /** The longest turn since the start; null before the first. */
  get longest(): LongestTurn | null {
    return this.#longest;
  }

  /** True while work waits that will begin in this turn of the event loop or the next. */
  get isMoreComing(): boolean {
    return this.#fresh > 0 && this.#pressing === 0;
  }

  /**
   * Waits for a turn of a line and works then.
   * @param name For `longest`: the path of the operation.
   * @param bytes What the request keeps in memory until it is answered.
   * @throws OverloadError where too much of the line waits already.
   */
  take<T extends object>(line: Line, name: string, work: Work<T>, bytes = 0): Promise<T> {
    const weight = weightOf(bytes);
    if (!this.#admits(line, weight)) return Promise.reject(new OverloadError());
    this.#open(line, weight);
    return new Promise<T>((resolve, reject) => {
      let steps: Paced<T | Promise<T>> | undefined;
      const step = (): boolean => {
        try {
          const answer = steps ?? work();
          if (answer instanceof Promise || !isPaced(answer)) {
            resolve(answer);
            return false;
          }
          steps = answer;
          const { done, value } = steps.next();
          if (done === true) resolve(value);
          return done !== true;
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return false;
        }
      };
      this.#add({ line, name, step, refuse: reject, isUnderWay: false });
    }).finally(() => {
      this.#open(line, -weight);
    });
  }

  /** Notes time that a line's work took elsewhere, in a transaction for instance. */
  charge(line: Line, name: string, ms: number): void {
    for (const share of this.#sharesOf(line)) share.spent += ms;
    this.note(name, ms);
  }

  /** Notes a time for which nothing else was served. */
  note(name: string, ms: number): void {
    if (ms > (this.#longest?.ms ?? 0)) this.#longest = { name, ms, at: Date.now() };
  }

  /**
   * Announces a caller with precedence, for whom others wait.
   * @returns the function that ends the wait.
   */
  press(): () => void {
    this.#heldUntil = performance.now() + longestHold;
    this.#pressing += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#pressing -= 1;
      isOver = true;
    };
  }

  #admits(line: Line, weight: number): boolean {
    const [kind = ''] = line;
    const most = limits[kind] ?? [];
    const shares = this.#sharesOf(line);
    const isOver = (depth: number): boolean => (shares[depth]?.open ?? 0) + weight > (most[depth] ?? 0);
    if (most.slice(1).some((_, index) => isOver(index + 1))) return false;
    return !isOver(0) || this.#makeRoom(shares[0], shares[1]?.open ?? 0);
  }

  /**
   * When all places are full, the newest request of the largest share is refused instead of one of a smaller
   * share. So two organizations cannot keep a third out.
   */
  #makeRoom(all: Share | undefined, own: number): boolean {
    const parts = [...(all?.parts.values() ?? [])].sort((a, b) => b.open - a.open);
    const [largest] = parts;
    if (largest === undefined || largest.open <= own + 1) return false;
    const users = [...largest.parts.values()].filter(({ short }) => short.length > 0);
    const refused = users.sort((a, b) => b.open - a.open)[0]?.short.pop();
    if (refused === undefined) return false;
    this.#count(refused.line, -1);
    this.#fresh -= 1;
    refused.refuse(new OverloadError());
    return true;
  }

  /** The shares of a line that there are, without the root. */
  #sharesOf(line: Line): readonly Share[] {
    const shares: Share[] = [];
    let share: Share | undefined = this.#root;
    for (const key of line) {
      share = share.parts.get(key);
      if (share === undefined) break;
      shares.push(share);
    }
    return shares;
  }

  #open(line: Line, weight: number): void {
    let share = this.#root;
    for (const key of line) {
      const part: Share = share.parts.get(key) ?? new Share();
      part.open += weight;
      if (part.open > 0) share.parts.set(key, part);
      else share.parts.delete(key);
      share = part;
    }
  }

  #count(line: Line, tasks: number): void {
    let share = this.#root;
    for (const part of this.#sharesOf(line)) {
      if (part.waiting === 0) part.spent = Math.max(part.spent, share.floor);
      part.waiting += tasks;
      share = part;
    }
  }

  #add(task: Turn): void {
    const own = this.#sharesOf(task.line).at(-1);
    if (own === undefined) throw new Error('a task waits in no share');
    this.#count(task.line, 1);
    if (!task.isUnderWay) this.#fresh += 1;
    own.add(task);
    this.#schedule();
  }

  #schedule(): void {
    // Work that is not over looks for more by itself.
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(
      owned(() => {
        this.#work(performance.now() + longestTurn);
      }, logFault),
    );
  }

  /** Works until it is time for sockets, or until nothing waits that may be begun. */
  #work(end: number): void {
    let isMoreLikely = false;
    for (let task = this.#next(); task !== undefined; task = this.#next()) {
      const began = performance.now();
      const isMore = task.step();
      const now = performance.now();
      this.charge(task.line, task.name, now - began);
      if (isMore) this.#add(task);
      isMoreLikely = this.#isTimeLeft(end);
      if (!isMoreLikely) break;
    }
    // A caller who was just answered may send its next request at once. The event loop's next turn would find
    // fewer requests together.
    if (isMoreLikely) {
      afterPromises(() => {
        if (this.#isTimeLeft(end)) this.#work(end);
        else this.#rest();
      });
    } else this.#rest();
  }

  #isTimeLeft(end: number): boolean {
    return performance.now() < end && this.#pressing === 0;
  }

  /** Yields to the event loop, and continues afterwards if requests wait. */
  #rest(): void {
    this.#isScheduled = false;
    if ([...this.#root.parts.values()].some(({ waiting }) => waiting > 0)) this.#schedule();
  }

  #next(): Turn | undefined {
    const owners = this.#root.parts.get('owner');
    if (owners !== undefined && owners.short.length > 0) return this.#taken(owners);
    const isHeld = this.#pressing > 0 && performance.now() < this.#heldUntil;
    if (isHeld || this.#isBusy()) return undefined;
    let share: Share | undefined = this.#root.next();
    for (let part = share?.next(); part !== undefined; part = part.next()) share = part;
    return share && this.#taken(share);
  }

  #taken(share: Share): Turn | undefined {
    const task = share.take();
    if (task === undefined) return undefined;
    this.#count(task.line, -1);
    if (!task.isUnderWay) this.#fresh -= 1;
    task.isUnderWay = true;
    return task;
  }
}

/** Calls back in the same turn of the event loop, once all that waits for promises which are settled has gone on. */
function afterPromises(work: () => void): void {
  queueMicrotask(
    owned(() => {
      process.nextTick(owned(work, logFault));
    }, logFault),
  );
}

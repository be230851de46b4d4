import { afterEach, describe, expect, test, vi } from 'vitest';
import { Connection } from '../../storage/connection.ts';
import { migrate } from '../../storage/migrations.ts';
import {
  getFirstWaiting,
  listDeliveriesOfKind,
  sendAgain,
  type DeliveryState,
  type OutboxRow,
} from '../../storage/tables/outbox.ts';
import { UnitOfWork } from '../../storage/unit-of-work.ts';
import { Outbox, type Delivery, type NewDelivery, type DeliveryOutcome, type OutboxParts } from './outbox.ts';

const hour = 60 * 60_000;

/** An outbox over a database in memory, whose clock stands still. */
class Bench {
  readonly connection = Connection.open(':memory:');
  readonly units = new UnitOfWork(this.connection);
  readonly faults: unknown[] = [];
  readonly #listeners = new Set<(unlocked: boolean) => void>();
  readonly #boxes: Outbox[] = [];
  readonly keys = {
    unlocked: true,
    seal: (_context: unknown, secret: Uint8Array) => Uint8Array.from(secret, (byte) => byte ^ 0xff),
    open: (_context: unknown, sealed: Uint8Array) => Uint8Array.from(sealed, (byte) => byte ^ 0xff),
    onChange: (listener: (unlocked: boolean) => void) => {
      this.#listeners.add(listener);
      return () => {
        this.#listeners.delete(listener);
      };
    },
  };
  now = 1_000_000;

  constructor() {
    migrate(this.connection);
  }

  box(options: Partial<OutboxParts> = {}): Outbox {
    const outbox = new Outbox({
      units: this.units,
      keys: this.keys,
      clock: { now: () => this.now, wall: () => this.now },
      onFault: (fault) => this.faults.push(fault),
      random: () => 1,
      ...options,
    });
    this.#boxes.push(outbox);
    return outbox;
  }

  setUnlocked(unlocked: boolean): void {
    this.keys.unlocked = unlocked;
    for (const listener of this.#listeners) listener(unlocked);
  }

  put(
    outbox: Outbox,
    ...names: readonly (Partial<NewDelivery> & { reference: string })[]
  ): Promise<string[]> {
    return this.units.write((tx) =>
      names.map((name) => outbox.enqueue(tx, { organizationId: 'o', kind: 'test', queue: 'one', ...name })),
    );
  }

  /** In the order in which they were written. */
  rows(state?: DeliveryState): OutboxRow[] {
    return listDeliveriesOfKind(this.connection, 'test', 100)
      .toReversed()
      .filter((row) => state === undefined || row.state === state);
  }

  states(): unknown[] {
    return this.rows().map(({ reference, state, attempts }) => `${reference} ${state} ${String(attempts)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const outbox of this.#boxes) await outbox.close();
    this.connection.close();
  }
}

/** A transport that answers as the test says, and records its deliveries. */
function transportOf(answer: (delivery: Delivery) => DeliveryOutcome | Promise<DeliveryOutcome>): {
  readonly kind: string;
  readonly periodMs: number;
  readonly seen: string[];
  deliver(delivery: Delivery): Promise<DeliveryOutcome>;
} {
  const seen: string[] = [];
  return {
    kind: 'test',
    periodMs: 24 * hour,
    seen,
    deliver: async (delivery) => {
      seen.push(delivery.reference);
      return answer(delivery);
    },
  };
}

const delivered = (): DeliveryOutcome => ({ outcome: 'delivered' });
const retry = (): DeliveryOutcome => ({ outcome: 'retry', note: 'no answer' });
const settled = (expected: readonly string[], bench: Bench): Promise<void> =>
  vi.waitFor(() => {
    expect(bench.states()).toEqual(expected);
  });

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the outbox', () => {
  test('delivers what was committed, in the order in which it was written, and nothing that was undone', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    const transport = transportOf(delivered);
    outbox.register(transport);
    outbox.start();
    const undone = bench.units.write((tx) => {
      outbox.enqueue(tx, { organizationId: 'o', kind: 'test', queue: 'one', reference: 'undone' });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await bench.put(outbox, { reference: 'a' }, { reference: 'b' });
    await bench.put(outbox, { reference: 'c' });
    await settled(['a delivered 1', 'b delivered 1', 'c delivered 1'], bench);
    expect(transport.seen).toEqual(['a', 'b', 'c']);
    expect(bench.faults).toEqual([]);
  });

  test('tries again after longer and longer, while what comes after it in its queue waits and other queues do not', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    let failures = 2;
    const transport = transportOf(({ queue }) => (queue === 'one' && failures-- > 0 ? retry() : delivered()));
    outbox.register(transport);
    outbox.start();
    await bench.put(outbox, { reference: 'a' }, { reference: 'b' }, { reference: 'c', queue: 'two' });
    await settled(['a waiting 1', 'b waiting 0', 'c delivered 1'], bench);
    expect(bench.rows('waiting')).toMatchObject([
      { nextAt: bench.now + 1000, failingSince: bench.now, note: 'no answer' },
      { nextAt: 0, failingSince: bench.now, note: null },
    ]);
    bench.now += 999;
    outbox.look();
    await bench.put(outbox, { reference: 'd', queue: 'two' });
    await settled(['a waiting 1', 'b waiting 0', 'c delivered 1', 'd delivered 1'], bench);
    bench.now += 1;
    outbox.look();
    await settled(['a waiting 2', 'b waiting 0', 'c delivered 1', 'd delivered 1'], bench);
    expect(getFirstWaiting(bench.connection, 'one')).toMatchObject({ nextAt: bench.now + 2000 });
    bench.now += 2000;
    outbox.look();
    await settled(['a delivered 3', 'b delivered 1', 'c delivered 1', 'd delivered 1'], bench);
  });

  test('waits as long as the other side asks', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    outbox.register(transportOf(() => ({ outcome: 'retry', note: 'busy', afterMs: 5000 })));
    outbox.start();
    await bench.put(outbox, { reference: 'a' });
    await settled(['a waiting 1'], bench);
    expect(getFirstWaiting(bench.connection, 'one')).toMatchObject({ nextAt: bench.now + 5000 });
  });

  test('gives up after the period of its kind, and with it what waited behind it all that time', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    const transport = transportOf(retry);
    outbox.register(transport);
    outbox.start();
    await bench.put(outbox, { reference: 'a' }, { reference: 'b' });
    await settled(['a waiting 1', 'b waiting 0'], bench);
    bench.now += 23 * hour;
    await bench.put(outbox, { reference: 'late' });
    outbox.look();
    await settled(['a waiting 2', 'b waiting 0', 'late waiting 0'], bench);
    bench.now += hour;
    outbox.look();
    await settled(['a parked 3', 'b parked 0', 'late waiting 1'], bench);
    expect(bench.rows('parked').toReversed()).toMatchObject([
      { note: 'not tried: what was before it could not be delivered' },
      { note: 'no answer', finishedAt: bench.now },
    ]);
    // Each has the whole period from the new failure of the queue.
    expect(getFirstWaiting(bench.connection, 'one')).toMatchObject({ failingSince: bench.now - hour });
  });

  test('counts the period again once the queue has delivered', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    let answers = [retry(), delivered(), retry()];
    outbox.register(transportOf(() => answers.shift() ?? retry()));
    outbox.start();
    await bench.put(outbox, { reference: 'a' }, { reference: 'b' });
    await settled(['a waiting 1', 'b waiting 0'], bench);
    bench.now += 10 * hour;
    outbox.look();
    await settled(['a delivered 2', 'b waiting 1'], bench);
    expect(getFirstWaiting(bench.connection, 'one')).toMatchObject({ failingSince: bench.now });
    answers = [delivered()];
    bench.now += 20 * hour;
    outbox.look();
    await settled(['a delivered 2', 'b delivered 2'], bench);
  });

  test('goes on after what the other side does not want', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    outbox.register(
      transportOf(({ reference }) =>
        reference === 'a' ? { outcome: 'refused', note: 'HTTP 404' } : delivered(),
      ),
    );
    outbox.start();
    await bench.put(outbox, { reference: 'a' }, { reference: 'b' });
    await settled(['a refused 1', 'b delivered 1'], bench);
  });

  test('retries at once a delivery that is sent again', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    const answers: DeliveryOutcome[] = [{ outcome: 'refused', note: 'no' }];
    outbox.register(transportOf(() => answers.shift() ?? delivered()));
    outbox.start();
    const [id = ''] = await bench.put(outbox, { reference: 'a' });
    await settled(['a refused 1'], bench);
    expect(await bench.units.write((tx) => sendAgain(tx, 'another', id))).toBe(false);
    expect(await bench.units.write((tx) => sendAgain(tx, 'o', id))).toBe(true);
    outbox.look();
    await settled(['a delivered 1'], bench);
  });

  test('delivers nothing whose time is over, and erases its payload', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    const transport = transportOf(retry);
    outbox.register(transport);
    outbox.start();
    const payload = Buffer.from('a code');
    await bench.put(outbox, { reference: 'a', payload, expiresAt: bench.now + 10_000 });
    await settled(['a waiting 1'], bench);
    bench.now += 10_000;
    outbox.look();
    await settled(['a expired 1'], bench);
    expect(transport.seen).toEqual(['a']);
    expect(bench.connection.all('SELECT id FROM outbox_payloads')).toEqual([]);
  });

  test('opens a payload for its transport alone, and erases it where it was stored and where it was opened', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    let given: Uint8Array | undefined;
    let text = '';
    outbox.register(
      transportOf(({ payload = new Uint8Array() }) => {
        given = payload;
        text = Buffer.from(payload).toString();
        return delivered();
      }),
    );
    await bench.put(outbox, { reference: 'a', payload: Buffer.from('a code') });
    expect(bench.connection.serialize().includes('a code')).toBe(false);
    outbox.start();
    await settled(['a delivered 1'], bench);
    expect(text).toBe('a code');
    await vi.waitFor(() => {
      expect(given).toEqual(new Uint8Array(6));
    });
    expect(bench.connection.all('SELECT id FROM outbox_payloads')).toEqual([]);
  });

  test('rests while the vault is locked', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    const transport = transportOf(delivered);
    outbox.register(transport);
    bench.setUnlocked(false);
    outbox.start();
    await bench.put(outbox, { reference: 'a' });
    outbox.look();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(transport.seen).toEqual([]);
    bench.setUnlocked(true);
    await settled(['a delivered 1'], bench);
  });

  test('delivers after a restart what an earlier process did not, and again what it did not note', async () => {
    await using bench = new Bench();
    const earlier = bench.box();
    let reached: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => {
      reached = resolve;
    });
    earlier.register({
      kind: 'test',
      deliver: (_delivery, signal) =>
        new Promise((_resolve, reject) => {
          reached();
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        }),
    });
    earlier.start();
    await bench.put(earlier, { reference: 'a' }, { reference: 'b', queue: 'two' });
    await arrived;
    await earlier.close();
    expect(bench.states()).toEqual(['a waiting 0', 'b waiting 0']);
    const later = bench.box();
    later.register(transportOf(delivered));
    later.start();
    await settled(['a delivered 1', 'b delivered 1'], bench);
    expect(bench.faults).toEqual([]);
  });

  test('serves a number of queues at once, and of one organization fewer', async () => {
    await using bench = new Bench();
    const outbox = bench.box({ mostQueues: 3, mostQueuesOfOne: 2 });
    const finish: (() => void)[] = [];
    const transport = transportOf(
      () =>
        new Promise((resolve) => {
          finish.push(() => {
            resolve(delivered());
          });
        }),
    );
    outbox.register(transport);
    outbox.start();
    const queue = (organizationId: string, reference: string): NewDelivery => ({
      organizationId,
      kind: 'test',
      queue: reference,
      reference,
    });
    await bench.put(
      outbox,
      queue('o', 'o1'),
      queue('o', 'o2'),
      queue('o', 'o3'),
      queue('p', 'p1'),
      queue('p', 'p2'),
    );
    await vi.waitFor(() => {
      expect(transport.seen).toEqual(['o1', 'p1', 'o2']);
    });
    finish.shift()?.();
    await vi.waitFor(() => {
      expect(transport.seen).toEqual(['o1', 'p1', 'o2', 'o3']);
    });
    while (finish.length > 0 || transport.seen.length < 5) {
      finish.shift()?.();
      await new Promise(setImmediate);
    }
    finish.shift()?.();
    await settled(
      ['o1', 'o2', 'o3', 'p1', 'p2'].map((name) => `${name} delivered 1`),
      bench,
    );
  });

  test('delivers once what the file could not note, and notes it later', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    const full = new Error('no space left on device');
    const writes = vi.spyOn(bench.units, 'write');
    const transport = transportOf(() => {
      writes.mockRejectedValueOnce(full);
      return delivered();
    });
    outbox.register(transport);
    outbox.start();
    await bench.put(outbox, { reference: 'a', payload: Uint8Array.of(1) });
    await vi.waitFor(() => {
      expect(bench.faults).toEqual([full]);
    });
    writes.mockRejectedValueOnce(full);
    outbox.look();
    await vi.waitFor(() => {
      expect(bench.faults).toEqual([full, full]);
    });
    expect(bench.states()).toEqual(['a waiting 0']);
    outbox.look();
    await settled(['a delivered 1'], bench);
    expect(transport.seen).toEqual(['a']);
  });

  test('tries again what failed by a fault of its own, and reports that', async () => {
    await using bench = new Bench();
    const outbox = bench.box();
    outbox.register(
      transportOf(() => {
        throw new TypeError('a fault');
      }),
    );
    outbox.start();
    await bench.put(outbox, { reference: 'a' });
    await settled(['a waiting 1'], bench);
    expect(bench.faults).toEqual([new TypeError('a fault')]);
    // A person reads it beside the delivery.
    expect(bench.rows()).toMatchObject([
      {
        note: expect.stringMatching(
          /^something went wrong inside Keyhearth .*keyhearth\.log .* says more$/,
        ) as string,
      },
    ]);
  });

  test('keeps a number of those that came to an end, and all that wait', async () => {
    await using bench = new Bench();
    const outbox = bench.box({ keep: 3 });
    outbox.register(transportOf(({ queue }) => (queue === 'one' ? delivered() : retry())));
    outbox.start();
    await bench.put(outbox, { reference: 'waits', queue: 'two' });
    await bench.put(outbox, ...['a', 'b', 'c', 'd', 'e'].map((reference) => ({ reference })));
    await vi.waitFor(() => {
      expect(bench.states()).toContain('e delivered 1');
    });
    await outbox.sweep();
    expect(bench.states()).toEqual(['waits waiting 1', 'c delivered 1', 'd delivered 1', 'e delivered 1']);
  });

  test('a sweep that fails keeps no later one from its turn', async () => {
    await using bench = new Bench();
    const outbox = bench.box({ keep: 0 });
    outbox.register(transportOf(delivered));
    outbox.start();
    await bench.put(outbox, { reference: 'a' });
    await settled(['a delivered 1'], bench);
    vi.spyOn(bench.units, 'write').mockRejectedValueOnce(new Error('the disk is full'));
    await expect(outbox.sweep()).rejects.toThrow('the disk is full');
    await outbox.sweep();
    expect(bench.states()).toEqual([]);
  });
});

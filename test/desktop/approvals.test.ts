import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApprovalsDouble } from './approvals-double.ts';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { app, becomeReady, BrowserWindow, machine } = await import('./fake-electron.ts');
const { watchApprovals } = await import('../../main/desktop/approvals.ts');
const { showBadge, waitingText } = await import('../../main/desktop/badge.ts');

/** As the service answers: a hundred at most. */
const listed = (...ids: readonly string[]) => ({
  activities: ids.slice(0, 100).map((id) => ({
    id,
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    intent: { signRawPayloadIntentV2: { payload: id } },
    votes: [{ user: { userName: 'Bob' } }],
  })),
  areMore: ids.length > 100,
});
const event = (id: string, status: string) =>
  ({
    kind: 'activity',
    id,
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    status: `ACTIVITY_STATUS_${status}`,
  }) as const;

let double: RpcDouble;
let watched: ReturnType<typeof watchApprovals>;

beforeAll(becomeReady);

beforeEach(() => {
  vi.useFakeTimers();
  double = new RpcDouble();
});

afterEach(() => {
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(2_000);
const ids = () => watched.waiting.activities.map(({ id }) => id);

describe('what waits for votes', () => {
  let news: string[];
  let stop: () => void;

  function watch(): void {
    watched = watchApprovals(double);
    news = [];
    stop = watched.onNew((activities) => news.push(...activities.map(({ id }) => id)));
  }

  afterEach(() => {
    stop();
    watched[Symbol.dispose]();
    expect(double.listeners).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is asked for as the owner: those that need their vote', async () => {
    double.body = listed('one');
    watch();
    await settle();
    expect(watched.waiting.activities).toEqual([
      {
        id: 'one',
        type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
        intent: { signRawPayloadIntentV2: { payload: 'one' } },
        requester: 'Bob',
      },
    ]);
    expect(double.asked.find(({ name }) => name === 'call')?.args).toEqual([
      '/public/v1/query/list_needed_activities',
      {},
    ]);
  });

  test('is counted to a hundred', async () => {
    double.body = listed('last');
    watch();
    await settle();
    expect(watched.waiting.areMore).toBe(false);
    expect(waitingText(watched.waiting)).toBe('1 pending approval');
    const many = Array.from({ length: 101 }, (_, index) => String(index));
    double.body = listed(...many);
    double.announce(event('100', 'CONSENSUS_NEEDED'));
    await settle();
    expect(ids()).toEqual(many.slice(0, 100));
    expect(waitingText(watched.waiting)).toBe('100+ pending approvals');
  });

  test('is not new where it comes to be among the hundred that are looked at', async () => {
    const many = Array.from({ length: 102 }, (_, index) => String(index));
    double.body = listed(...many);
    watch();
    await settle();
    // One is decided, and another begins to wait.
    double.body = listed('new', ...many.slice(2));
    double.announce(event('new', 'CONSENSUS_NEEDED'));
    await settle();
    double.body = listed('new', ...many.slice(3));
    double.announce(event('2', 'COMPLETED'));
    await settle();
    expect(ids()).toEqual(['new', ...many.slice(3)]);
    expect(news).toEqual(['new']);
  });

  test('is counted again once one that was not looked at is decided', async () => {
    const many = Array.from({ length: 101 }, (_, index) => String(index));
    double.body = listed(...many);
    watch();
    await settle();
    expect(waitingText(watched.waiting)).toBe('100+ pending approvals');
    double.body = listed(...many.slice(0, -1));
    double.announce(event('100', 'COMPLETED'));
    await settle();
    expect(waitingText(watched.waiting)).toBe('100 pending approvals');
  });

  test('is not new if it waited before the unlock, and is new after that', async () => {
    double.body = listed('old');
    watch();
    await settle();
    expect(news).toEqual([]);
    double.body = listed('new', 'old');
    double.announce(event('new', 'CONSENSUS_NEEDED'));
    await settle();
    expect(news).toEqual(['new']);
    // A decided activity is not new either.
    double.body = listed('old');
    double.announce(event('new', 'COMPLETED'));
    await settle();
    expect(ids()).toEqual(['old']);
    expect(news).toEqual(['new']);
  });

  /** A request from before the lock is listed again, without a notification. */
  async function openedAgain(): Promise<void> {
    double.state = 'unlocked';
    double.announce({ kind: 'status' });
    await settle();
    expect(ids()).toEqual(['one']);
    expect(news).toEqual([]);
  }

  test('stays nothing where an answer from before the lock comes after it', async () => {
    double.body = listed('one');
    const late = Promise.withResolvers<Awaited<ReturnType<RpcDouble['call']>>>();
    const asked = vi.spyOn(double, 'call').mockReturnValueOnce(late.promise);
    watch();
    await settle();
    expect(asked).toHaveBeenCalledOnce();
    double.state = 'locked';
    double.announce({ kind: 'status' });
    await settle();
    late.resolve({ status: 200, body: double.body });
    await settle();
    expect(ids()).toEqual([]);
    await openedAgain();
  });

  test('is nothing while the vault is locked, and old when it is opened again', async () => {
    double.body = listed('one');
    watch();
    await settle();
    double.state = 'locked';
    double.announce({ kind: 'status' });
    await settle();
    expect(ids()).toEqual([]);
    await openedAgain();
  });

  test('is not asked for after each signature, and not thousands of times', async () => {
    watch();
    double.body = listed();
    await settle();
    const before = double.count('call');
    for (let index = 0; index < 1000; index++) double.announce(event(String(index), 'COMPLETED'));
    await settle();
    expect(double.count('call')).toBe(before);
    for (let index = 0; index < 1000; index++) double.announce(event(String(index), 'CONSENSUS_NEEDED'));
    await settle();
    expect(double.count('call')).toBe(before + 2);
  });

  test('is reported where it cannot be known, and asked for again', async () => {
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    double.failure = new Error('closed');
    watch();
    await settle();
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
    double.failure = undefined;
    double.body = listed('one');
    double.announce({ kind: 'status' });
    await settle();
    expect(ids()).toEqual(['one']);
  });

  test('is not reported where the vault closes while the answer is on its way', async () => {
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    double.failure = new Error('the database connection is not open');
    watch();
    watched[Symbol.dispose]();
    await settle();
    expect(logged).not.toHaveBeenCalled();
    logged.mockRestore();
  });
});

describe('the badge', () => {
  test('has the number of them, and none once it is gone', () => {
    const approvals = new ApprovalsDouble();
    const badge = showBadge(approvals);
    approvals.set('one', 'two');
    expect(machine.badge).toBe(2);
    badge[Symbol.dispose]();
    expect(machine.badge).toBe(0);
    expect(approvals.listeners).toBe(0);
  });

  test('is a dot on Windows, also on a window that comes later', () => {
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
    const approvals = new ApprovalsDouble();
    const badge = showBadge(approvals);
    approvals.set('one');
    const window = new BrowserWindow();
    expect(window.overlay).toMatchObject({ description: '1 pending approval' });
    expect(window.overlay?.image).not.toBeNull();
    approvals.set();
    expect(window.overlay).toEqual({ image: null, description: '' });
    window.destroy();
    badge[Symbol.dispose]();
    platform.mockRestore();
    expect(app.listenerCount('browser-window-created')).toBe(0);
  });
});

import { serializeTransaction } from 'viem';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ShownMessage } from '../../preload/contract.ts';
import { activityOf, ethereumAccount, resultOf, startTestVault } from '../support/support.ts';
import { ApprovalsDouble } from './approvals-double.ts';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine } = await import('./fake-electron.ts');
const { watchApprovals } = await import('../../main/desktop/approvals.ts');
const { notifyOfApprovals, notifyOfDoors, notifyOfMessages, notifyOfStorage } =
  await import('../../main/desktop/notifications.ts');
const showWindow = vi.hoisted(() => vi.fn());
vi.mock('../../main/desktop/window.ts', () => ({ showWindow }));

const message: ShownMessage = {
  id: 'one',
  channel: 'sms',
  to: '+15551234567',
  subject: '',
  text: 'Your code is 123456.',
  code: '123456',
  at: 0,
};

let double: RpcDouble;
let notifying: Disposable;

beforeAll(() => {
  becomeReady();
});

beforeEach(() => {
  machine.notifications = [];
  machine.notifies = true;
  showWindow.mockClear();
  double = new RpcDouble();
  notifying = notifyOfMessages(double);
});

afterEach(() => {
  notifying[Symbol.dispose]();
});

describe('a message that is shown on this computer', () => {
  test('is notified of with its code, and a click brings the window', async () => {
    double.shown = [{ ...message, id: 'other', code: '999999' }, message];
    double.announce({ kind: 'message', id: 'one' });
    await vi.waitFor(() => {
      expect(machine.notifications).toHaveLength(1);
    });
    const [notification] = machine.notifications;
    expect(notification).toMatchObject({
      isShown: true,
      title: 'Keyhearth: code for +15551234567',
      body: '123456',
    });
    notification?.emit('click');
    expect(showWindow).toHaveBeenCalledOnce();
    notifying[Symbol.dispose]();
    expect(notification?.isShown).toBe(false);
  });

  test('is closed when it is no longer shown', async () => {
    double.shown = [message];
    double.announce({ kind: 'message', id: 'one' });
    await vi.waitFor(() => {
      expect(machine.notifications[0]?.isShown).toBe(true);
    });
    double.announce({ kind: 'status' });
    await vi.waitFor(() => {
      expect(double.count('shownMessages')).toBe(2);
    });
    expect(machine.notifications[0]?.isShown).toBe(true);
    double.shown = [];
    double.announce({ kind: 'status' });
    await vi.waitFor(() => {
      expect(machine.notifications[0]?.isShown).toBe(false);
    });
  });

  test('is notified of without what only a program can read', async () => {
    double.shown = [{ ...message, code: 'w99a5xV6A75TfoAUkZn869fVyDYvgVsKrawMALZXmrauZd8h'.repeat(3) }];
    double.announce({ kind: 'message', id: 'one' });
    await vi.waitFor(() => {
      expect(machine.notifications[0]?.body).toBe('Open Keyhearth to read the code.');
    });
  });

  test('is left to the window where the system shows none', async () => {
    machine.notifies = false;
    double.shown = [message];
    double.announce({ kind: 'message', id: 'one' });
    await vi.waitFor(() => {
      expect(double.count('shownMessages')).toBe(1);
    });
    expect(machine.notifications).toEqual([]);
  });

  test('that is gone by then, and what is about something else, is not notified of', async () => {
    double.announce({ kind: 'messages' });
    double.announce({ kind: 'message', id: 'one' });
    await vi.waitFor(() => {
      expect(double.count('shownMessages')).toBe(1);
    });
    expect(machine.notifications).toEqual([]);
  });

  test('that the system refuses to show is reported', async () => {
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    double.shown = [message];
    double.announce({ kind: 'message', id: 'one' });
    await vi.waitFor(() => {
      expect(machine.notifications).toHaveLength(1);
    });
    machine.notifications[0]?.emit('failed', {}, 'not signed');
    expect(logged.mock.calls.join()).toContain('not signed');
    expect(logged.mock.calls.join()).not.toContain('123456');
    logged.mockRestore();
  });
});

describe('an activity that begins to wait for a vote', () => {
  let approvals: ApprovalsDouble;
  let watching: Disposable;

  const titled = (title: string): void => {
    const about = [{ text: title }, { text: ', from ' }, { text: 'Daily', kind: 'WALLET_ACCOUNT' }];
    double.body = { descriptions: [{ activityId: 'one', about, effect: [], fields: [], shortened: false }] };
  };
  const shown = (count: number) =>
    vi.waitFor(() => {
      expect(machine.notifications).toHaveLength(count);
    });

  beforeEach(() => {
    approvals = new ApprovalsDouble();
    watching = notifyOfApprovals(approvals, double);
    titled('Sign a text');
  });
  afterEach(() => {
    watching[Symbol.dispose]();
    expect(approvals.listeners).toBe(0);
  });

  test('is notified of by the title that describes it, and a click leads to it', async () => {
    titled('Send 1 ETH to 0x35');
    approvals.set('one');
    await shown(1);
    const [notification] = machine.notifications;
    expect(notification).toMatchObject({
      isShown: true,
      title: 'Keyhearth: approval needed',
      body: '“Ben”: Send 1 ETH to 0x35, from “Daily”',
    });
    expect(double.asked.at(-1)?.args).toEqual([
      '/public/v1/query/describe_activities',
      { activityIds: ['one'] },
    ]);
    notification?.emit('click');
    expect(showWindow).toHaveBeenLastCalledWith('/approvals/one');
  });

  test.each([
    ['a direction that was forgotten', 'Send 05\u202e$', 'Send 05⟨U+202E⟩$'],
    ['letters that would move digits', 'Send 05$ to אב', 'Send 05$ to ⟨U+05D0⟩⟨U+05D1⟩'],
    ['a line of its own', 'Sign a text\nNothing to see', 'Sign a text⟨U+000A⟩Nothing to see'],
    ['a text that is marked', 'Sign “a⟨U+202E⟩b”', 'Sign “a⟨U+202E⟩b”'],
  ])('hides nothing: %s', async (_, title, body) => {
    titled(title);
    approvals.set('one');
    await shown(1);
    expect(machine.notifications[0]?.body).toBe(`“Ben”: ${body}, from “Daily”`);
  });

  test('says the same on systems that read markup', async () => {
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('linux');
    titled('Send <b>1 & 2</b>');
    approvals.set('one');
    await shown(1);
    platform.mockRestore();
    expect(machine.notifications[0]?.body).toBe(
      '“Ben”: Send ⟨U+003C⟩b⟨U+003E⟩1 ⟨U+0026⟩ 2⟨U+003C⟩/b⟨U+003E⟩, from “Daily”',
    );
  });

  test.each(['Send 1 ETH to '.repeat(100), '日本'.repeat(500)])(
    'says that there is more where it is longer than systems show: %#',
    async (title) => {
      titled(title);
      approvals.set('one');
      await shown(1);
      const body = machine.notifications[0]?.body ?? '';
      expect(Buffer.byteLength(body)).toBeLessThan(256);
      expect(body).toMatch(/…$/);
      expect(`“Ben”: ${title}`.startsWith(body.slice(0, -1))).toBe(true);
    },
  );

  test('shows its kind alone if the vault gives no description', async () => {
    double.failure = new Error('the vault is locked');
    approvals.set('one');
    await shown(1);
    expect(machine.notifications[0]?.body).toBe('“Ben”: Sign a payload');
  });

  test('is not notified of where it was decided before that could be said', async () => {
    approvals.set('one');
    approvals.set();
    approvals.set('two');
    await shown(1);
    await new Promise(setImmediate);
    expect(machine.notifications).toHaveLength(1);
  });

  test('is one list with the others, and closed when none of them waits', () => {
    approvals.set('one', 'two', 'three');
    expect(machine.notifications).toMatchObject([{ body: '3 requests wait for your approval.' }]);
    machine.notifications[0]?.emit('click');
    expect(showWindow).toHaveBeenLastCalledWith('/approvals');
    approvals.set('two');
    expect(machine.notifications.map(({ isShown }) => isShown)).toEqual([true]);
    approvals.set('two', 'four');
    expect(machine.notifications.map(({ isShown, body }) => [isShown, body])).toEqual([
      [false, '3 requests wait for your approval.'],
      [true, '2 requests wait for your approval.'],
    ]);
    approvals.set();
    expect(machine.notifications.map(({ isShown }) => isShown)).toEqual([false, false]);
  });

  test('gives way to the number when another begins to wait before its description is there', async () => {
    approvals.set('one');
    approvals.set('one', 'two');
    await new Promise(setImmediate);
    expect(machine.notifications).toMatchObject([{ body: '2 requests wait for your approval.' }]);
  });

  test('is left to tray, badge and window where the system shows none', () => {
    machine.notifies = false;
    approvals.set('one');
    expect(machine.notifications).toEqual([]);
    expect(double.count('call')).toBe(0);
  });

  test('that the system refuses to show is reported', async () => {
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    approvals.set('one');
    await shown(1);
    machine.notifications[0]?.emit('failed', {}, 'not signed');
    expect(logged.mock.calls.join()).toContain('not signed');
    logged.mockRestore();
  });
});

const byTwo = {
  policyName: 'By two',
  effect: 'EFFECT_ALLOW',
  consensus: 'approvers.count() >= 2',
  notes: '',
};

test('the notification has the user, the key, and the title by which the vault describes the payload', async () => {
  await using service = await startTestVault();
  const { root, vault } = service;
  const { client } = await service.newUser('Ben');
  const policy = { ...byTwo, condition: "activity.action == 'SIGN'" };
  activityOf(await root.submit('create_policy', 'CREATE_POLICY_V3', policy));
  const made = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount],
  });
  const request = {
    signWith: resultOf(made).addresses[0],
    type: 'TRANSACTION_TYPE_ETHEREUM',
    unsignedTransaction: serializeTransaction({
      type: 'eip1559',
      chainId: 1,
      to: `0x${'35'.repeat(20)}`,
      value: 10n ** 18n,
    }),
  };
  const { body } = await root.query('describe_payload', request);
  const { title } = (body as { description: { readonly title: string } }).description;
  expect(title).toContain('1 ETH');
  using resources = new DisposableStack();
  resources.use(notifyOfApprovals(resources.use(watchApprovals(vault.rpc)), vault.rpc));
  await client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', request);
  await vi.waitFor(() => {
    expect(machine.notifications.map(({ body: said }) => said)).toEqual([`“Ben”: ${title}, from “Everyday”`]);
  });
});

test('the notification says whether a thing is exported or deleted, and no name passes for its words', async () => {
  await using service = await startTestVault();
  const { root, vault } = service;
  const { client } = await service.newUser('Ben”: “nobody');
  activityOf(await root.submit('create_policy', 'CREATE_POLICY_V3', byTwo));
  const walletName = 'Tips” for “Safe';
  const { walletId } = resultOf(
    await root.submit('create_wallet', 'CREATE_WALLET', { walletName, accounts: [] }),
  ) as { readonly walletId: string };
  using resources = new DisposableStack();
  resources.use(notifyOfApprovals(resources.use(watchApprovals(vault.rpc)), vault.rpc));
  await client.submit('delete_wallets', 'DELETE_WALLETS', {
    walletIds: [walletId],
    deleteWithoutExport: true,
  });
  await vi.waitFor(() => {
    expect(machine.notifications.map(({ body }) => body)).toEqual([
      '“Ben⟨U+201D⟩: ⟨U+201C⟩nobody”: Delete wallets: “Tips⟨U+201D⟩ for ⟨U+201C⟩Safe”',
    ]);
  });
});

describe('a disk that refuses writes', () => {
  const trouble = (cause: 'full' | 'failing') => ({
    cause,
    file: '/home/ada/vault/vault.db',
    problem: `/home/ada/vault/vault.db cannot be written: the disk is ${cause}. Make room on it.`,
    since: 0,
  });

  test('is notified of once as it begins, again as its cause changes, and taken back at its end', async () => {
    using resources = new DisposableStack();
    resources.use(notifyOfStorage(double));
    const shown = (): (string | undefined)[] =>
      machine.notifications.filter(({ isShown }) => isShown).map(({ body }) => body);
    const say = async (storage: typeof double.storage, expected: readonly unknown[]): Promise<void> => {
      double.storage = storage;
      double.announce({ kind: 'status' });
      await vi.waitFor(() => {
        expect(shown()).toEqual(expected);
      });
    };
    const full = [expect.stringContaining('the disk is full')];
    await say(trouble('full'), full);
    await say(trouble('full'), full);
    expect(machine.notifications).toHaveLength(1);
    machine.notifications[0]?.emit('click');
    expect(showWindow).toHaveBeenCalledOnce();
    await say(trouble('failing'), [expect.stringContaining('the disk is failing')]);
    await say(null, []);
  });
});

describe('a program that waits for the vault', () => {
  const waits = (...counts: readonly number[]): typeof double.doorsNow => [
    {
      ...{ door: 'ssh', on: true, problem: null, nodes: [] },
      programs: counts.map((waiting, index) => ({
        ...{ name: `program-${String(index)}`, publicKey: '02', pairedAt: 0, socket: '/s', waiting },
        ...{ expiresAt: null, lastUsedAt: null },
      })),
    },
  ];

  test('is notified of once, whichever others join it, and taken back at the end', async () => {
    using resources = new DisposableStack();
    resources.use(notifyOfDoors(double));
    const shown = (): (string | undefined)[] =>
      machine.notifications.filter(({ isShown }) => isShown).map(({ body }) => body);
    const say = async (doors: typeof double.doorsNow, expected: readonly unknown[]): Promise<void> => {
      double.doorsNow = doors;
      double.announce({ kind: 'doors' });
      await vi.waitFor(() => {
        expect(shown()).toEqual(expected);
      });
    };
    await say(waits(0, 0), []);
    await say(waits(0, 1), ['The program program-1 waits for the vault.']);
    await say(waits(2, 1), ['The program program-1 waits for the vault.']);
    expect(machine.notifications).toHaveLength(1);
    machine.notifications[0]?.emit('click');
    expect(showWindow).toHaveBeenCalledOnce();
    await say(waits(0, 0), []);
  });
});

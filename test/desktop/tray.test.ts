import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApprovalsDouble } from './approvals-double.ts';
import { RpcDouble } from './rpc-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine } = await import('./fake-electron.ts');
const { createTray } = await import('../../main/desktop/tray.ts');
const showWindow = vi.hoisted(() => vi.fn());
vi.mock('../../main/desktop/window.ts', () => ({ showWindow }));

const projectRoot = join(import.meta.dirname, '../..');
let double: RpcDouble;
let approvals: ApprovalsDouble;
let shown: Disposable;

beforeAll(() => {
  machine.appPath = projectRoot;
  becomeReady();
});

beforeEach(() => {
  machine.trays = [];
  showWindow.mockClear();
  double = new RpcDouble();
  approvals = new ApprovalsDouble();
});

afterEach(() => {
  shown[Symbol.dispose]();
});

function show(): (typeof machine.trays)[number] {
  shown = createTray(double, approvals, { state: 'bound', accelerator: 'F9' });
  const [tray] = machine.trays;
  if (tray === undefined) throw new Error('there is no tray');
  return tray;
}

describe('the tray', () => {
  test('has an image that exists', () => {
    expect(existsSync(show().image.path)).toBe(true);
  });

  test('says where the shortcut for freezing is another program’s', async () => {
    shown = createTray(double, approvals, { state: 'taken', accelerator: undefined });
    await vi.waitFor(() => {
      expect(machine.trays[0]?.menu?.labels).toContain('Another app uses the shortcut');
    });
  });

  test('says that deliveries wait for a network', async () => {
    double.delayed = { why: 'offline', messages: 1, endpoints: 0 };
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.menu?.labels).toContain('No network: deliveries wait');
    });
    double.delayed = { why: 'failing', messages: 1, endpoints: 0 };
    double.announce({ kind: 'status' });
    await vi.waitFor(() => {
      expect(tray.menu?.labels).not.toContain('No network: deliveries wait');
    });
  });

  test.each([
    ['none', 'no vault yet', ['Set up…', 'separator']],
    ['locked', 'locked', ['Unlock…', 'separator', 'Freeze all signing', 'separator']],
    ['unlocked', 'unlocked', ['separator', 'Lock now', 'Freeze all signing', 'separator']],
    ['frozen', 'frozen', ['Unlock…', 'separator', 'All signing is frozen', 'separator']],
  ] as const)('says of a vault that is %s what it is', async (state, said, labels) => {
    double.state = state === 'frozen' ? 'locked' : state;
    if (state === 'frozen') double.frozenAt = 1;
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe(`Keyhearth: ${said}`);
    });
    expect(tray.menu?.labels).toEqual(['Open Keyhearth', ...labels, 'Quit Keyhearth']);
  });

  test('freezes at once, and says so', async () => {
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Keyhearth: unlocked');
    });
    expect(tray.menu?.item('Freeze all signing')).toMatchObject({
      accelerator: 'F9',
      registerAccelerator: false,
    });
    tray.menu?.choose('Freeze all signing');
    expect(double.count('freeze')).toBe(1);
    double.announce({ kind: 'status' });
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Keyhearth: frozen');
    });
  });

  test('shows how many activities wait, and leads to them', async () => {
    const tray = show();
    const calm = tray.image.path;
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Keyhearth: unlocked');
    });
    approvals.set('one', 'two');
    expect(tray).toMatchObject({ toolTip: 'Keyhearth: unlocked, 2 pending approvals', title: '2' });
    expect(tray.image.path).not.toBe(calm);
    expect(existsSync(tray.image.path)).toBe(true);
    tray.menu?.choose('2 pending approvals…');
    expect(showWindow).toHaveBeenLastCalledWith('/approvals');
    approvals.set();
    expect(tray).toMatchObject({ toolTip: 'Keyhearth: unlocked', title: '' });
    expect(tray.image.path).toBe(calm);
  });

  test('locks, and shows that the vault is locked', async () => {
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Keyhearth: unlocked');
    });
    tray.menu?.choose('Lock now');
    expect(double.count('lock')).toBe(1);
    double.announce({ kind: 'status' });
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Keyhearth: locked');
    });
  });

  test('opens the window by a click, by Open and by Unlock', async () => {
    double.state = 'locked';
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Keyhearth: locked');
    });
    tray.emit('click');
    tray.menu?.choose('Open Keyhearth');
    tray.menu?.choose('Unlock…');
    expect(showWindow).toHaveBeenCalledTimes(3);
    expect(double.count('unlock')).toBe(0);
  });

  test('does not ask again without a change of state', async () => {
    show();
    await vi.waitFor(() => {
      expect(double.count('status')).toBe(1);
    });
    double.announce({ kind: 'activity', id: '1', type: 'T', status: 'S' });
    expect(double.count('status')).toBe(1);
  });

  test('outlives a vault that does not answer', async () => {
    const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    double.failure = new Error('closed');
    const tray = show();
    await vi.waitFor(() => {
      expect(log).toHaveBeenCalledOnce();
    });
    expect(tray.toolTip).toBe('Keyhearth');
    // It can still be frozen: that is when it may be wanted.
    expect(tray.menu?.labels).toEqual([
      'Open Keyhearth',
      'separator',
      'Freeze all signing',
      'separator',
      'Quit Keyhearth',
    ]);
    log.mockRestore();
  });

  test('is gone after its disposal, also for an answer on its way', async () => {
    const tray = show();
    shown[Symbol.dispose]();
    await new Promise((resolve) => setImmediate(resolve));
    expect(tray.isDestroyed()).toBe(true);
    expect(double.listeners).toBe(0);
  });
});

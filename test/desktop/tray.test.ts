import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { BridgeDouble } from './bridge-double.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine } = await import('./fake-electron.ts');
const { createTray } = await import('../../main/desktop/tray.ts');
const showWindow = vi.hoisted(() => vi.fn());
vi.mock('../../main/desktop/window.ts', () => ({ showWindow }));

const projectRoot = join(import.meta.dirname, '../..');
let double: BridgeDouble;
let shown: Disposable;

beforeAll(() => {
  machine.appPath = projectRoot;
  becomeReady();
});

beforeEach(() => {
  machine.trays = [];
  showWindow.mockClear();
  double = new BridgeDouble();
});

afterEach(() => {
  shown[Symbol.dispose]();
});

function show(): (typeof machine.trays)[number] {
  shown = createTray(double);
  const [tray] = machine.trays;
  if (tray === undefined) throw new Error('there is no tray');
  return tray;
}

describe('the tray', () => {
  test('has an image that exists', () => {
    expect(existsSync(show().image.path)).toBe(true);
  });

  test.each([
    ['none', 'Latchkey: no vault yet', ['Open Latchkey', 'Set up…', 'separator', 'Quit Latchkey']],
    ['locked', 'Latchkey: locked', ['Open Latchkey', 'Unlock…', 'separator', 'Quit Latchkey']],
    ['unlocked', 'Latchkey: unlocked', ['Open Latchkey', 'Lock now', 'separator', 'Quit Latchkey']],
  ] as const)('says of a vault that is %s: %s', async (state, toolTip, labels) => {
    double.state = state;
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe(toolTip);
    });
    expect(tray.menu?.labels).toEqual(labels);
  });

  test('locks, and shows that the vault is locked', async () => {
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Latchkey: unlocked');
    });
    tray.menu?.choose('Lock now');
    expect(double.count('lock')).toBe(1);
    double.announce({ kind: 'status' });
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Latchkey: locked');
    });
  });

  test('opens the window by a click, by Open and by Unlock', async () => {
    double.state = 'locked';
    const tray = show();
    await vi.waitFor(() => {
      expect(tray.toolTip).toBe('Latchkey: locked');
    });
    tray.emit('click');
    tray.menu?.choose('Open Latchkey');
    tray.menu?.choose('Unlock…');
    expect(showWindow).toHaveBeenCalledTimes(3);
    expect(double.count('unlock')).toBe(0);
  });

  test('does not ask again for what is no change of state', async () => {
    show();
    await vi.waitFor(() => {
      expect(double.count('status')).toBe(1);
    });
    double.announce({ kind: 'activity', id: '1', type: 'T', status: 'S' });
    expect(double.count('status')).toBe(1);
  });

  test('outlives a vault that does not answer', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue(undefined);
    double.failure = new Error('closed');
    const tray = show();
    await vi.waitFor(() => {
      expect(log).toHaveBeenCalledOnce();
    });
    expect(tray.toolTip).toBe('Latchkey');
    expect(tray.menu?.labels).toEqual(['Open Latchkey', 'separator', 'Quit Latchkey']);
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

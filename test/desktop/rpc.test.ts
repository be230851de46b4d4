/** The window's door over IPC: the contract through the preload script and the window's own client, to a real vault. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { openDoor } from '../../renderer/bridge.ts';
import { describeBridge } from '../bridge-contract.ts';
import { startTestVault } from '../support.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine } = await import('./fake-electron.ts');
const { registerScheme, serveScheme } = await import('../../main/desktop/scheme.ts');
const { serveBridge } = await import('../../main/desktop/ipc.ts');
const { showWindow } = await import('../../main/desktop/window.ts');
await import('../../preload/index.ts');

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-bridge-'));
  await writeFile(join(directory, 'index.html'), '__CSP_NONCE__');
  registerScheme();
  becomeReady();
  await serveScheme(directory);
  showWindow();
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

describeBridge('IPC', async () => {
  const { vault, [Symbol.asyncDispose]: close } = await startTestVault({ empty: true });
  const served = serveBridge(vault.bridge);
  vi.stubGlobal('window', { latchkey: machine.mainWorld['latchkey'], addEventListener: () => undefined });
  return {
    bridge: openDoor().bridge,
    [Symbol.asyncDispose]: async () => {
      served[Symbol.dispose]();
      vi.unstubAllGlobals();
      await close();
    },
  };
});

/** The rpc over IPC: the contract through the preload script and the window's own client, to a real vault. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { connectRpc } from '../../renderer/app/rpc/rpc.ts';
import { describeRpc } from '../rpc/rpc-contract.ts';
import { startTestVault } from '../support/support.ts';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine } = await import('./fake-electron.ts');
const { registerScheme, serveScheme } = await import('../../main/desktop/scheme.ts');
const { serveRpc } = await import('../../main/desktop/ipc.ts');
const { showWindow } = await import('../../main/desktop/window.ts');
await import('../../preload/index.ts');

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keyhearth-rpc-'));
  await writeFile(join(directory, 'index.html'), '__CSP_NONCE__');
  registerScheme();
  becomeReady();
  await serveScheme(directory);
  showWindow();
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

describeRpc('IPC', async () => {
  const { vault, [Symbol.asyncDispose]: close } = await startTestVault({ empty: true });
  const served = serveRpc(vault.rpc);
  vi.stubGlobal('window', { keyhearth: machine.mainWorld['keyhearth'], addEventListener: () => undefined });
  return {
    rpc: connectRpc().rpc,
    [Symbol.asyncDispose]: async () => {
      served[Symbol.dispose]();
      vi.unstubAllGlobals();
      await close();
    },
  };
});

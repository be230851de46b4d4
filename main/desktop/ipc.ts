/** The rpc over IPC, in the main process: the calls of the page, who may make them, and their answers. */
import { BrowserWindow, ipcMain } from 'electron';
import type { IpcMainInvokeEvent } from 'electron';
import type { RpcCall, VaultRpc } from '../../preload/contract.ts';
import { rpcCalls, channels } from '../../preload/contract.ts';
import { KeyhearthError, quoted } from '../lib/errors.ts';
import { forgetCopy, putCopy } from './clipboard.ts';
import { isPage } from './page.ts';
import { publicMessage, report } from './report.ts';
import { saveBackup } from './save.ts';

/** The answer of a call. Electron would put its own prefix before an error that is thrown through IPC. */
export type Answer = { readonly value: unknown } | { readonly error: { readonly message: string } };

/** More than any key, address or signature; less than what would stall a clipboard. */
const longestCopy = 1_000_000;

/** Serves the rpc to the page. @returns what stops it. */
export function serveRpc(rpc: VaultRpc): Disposable {
  serve(channels.call, async (name, args) => {
    if (!isRpcCall(name)) throw refusal('call', name, `one of ${rpcCalls.join(', ')}`);
    if (!Array.isArray(args)) throw refusal('arguments', args, 'an array');
    // The page's arguments are unknown here; the vault checks them where it uses them.
    const value: unknown = await Reflect.apply(rpc[name], rpc, args);
    return value;
  });
  serve(channels.copy, async (text, options) => {
    if (typeof text !== 'string' || text.length > longestCopy) {
      // The text may be a secret, so the refusal does not quote it.
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `text: expected at most ${String(longestCopy)} characters`,
      );
    }
    await putCopy(text, isRecord(options) && options['secret'] === true);
  });
  serve(channels.protect, (on) => {
    if (typeof on !== 'boolean') throw refusal('on', on, 'true or false');
    for (const window of BrowserWindow.getAllWindows()) window.setContentProtection(on);
    return Promise.resolve();
  });
  serve(channels.save, (id) => {
    if (typeof id !== 'string') throw refusal('id', id, 'a text');
    return saveBackup(rpc, id);
  });
  const stopEvents = rpc.onEvent((event) => {
    for (const window of BrowserWindow.getAllWindows()) window.webContents.send(channels.event, event);
  });
  return {
    [Symbol.dispose]() {
      stopEvents();
      ipcMain.removeHandler(channels.call);
      ipcMain.removeHandler(channels.copy);
      ipcMain.removeHandler(channels.protect);
      ipcMain.removeHandler(channels.save);
      forgetCopy();
    },
  };
}

function serve(channel: string, handler: (...args: readonly unknown[]) => Promise<unknown>): void {
  ipcMain.handle(channel, async (event, ...args: readonly unknown[]): Promise<Answer> => {
    try {
      if (!isOurs(event)) throw new KeyhearthError('PERMISSION_DENIED', 'Only the Keyhearth window may ask.');
      return { value: await handler(...args) };
    } catch (error) {
      if (!(error instanceof KeyhearthError)) report(`a call on ${channel} failed`, error);
      return { error: { message: publicMessage(error) } };
    }
  });
}

/** True if the page itself asks: not a frame in it, nor a page that replaced it. */
function isOurs({ senderFrame: frame }: IpcMainInvokeEvent): boolean {
  return frame?.parent === null && isPage(frame.url);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isRpcCall = (name: unknown): name is RpcCall => (rpcCalls as readonly unknown[]).includes(name);

const refusal = (field: string, value: unknown, allowed: string): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `${field}: expected ${allowed}, got ${quoted(value)}`);

/**
 * The window's way to the service: Electron's preload where there is one, else HTTP with a session. A browser comes with
 * a one-time code in the fragment of its link; the code buys a token, which lives in this tab's sessionStorage and
 * goes with every request (a cookie alone would reach every port of this machine).
 */

import { rpcCalls } from '../../../preload/contract.ts';
import { clearWhatWasCopied, copyInBrowser } from './clipboard.ts';
import { messageOf, RpcError } from './rpc-error.ts';
import { onWindowUse } from './window-use.ts';
import type { WindowRpc, RpcCall, UploadProgress } from '../../../preload/contract.ts';
import { uploadFile } from './upload-file.ts';
import { HttpSession } from './http-session.ts';
import type { RpcState } from './http-session.ts';
import { saveByLink } from './growing-file.ts';

declare global {
  interface Window {
    /** Exposed by Electron's preload. */
    readonly keyhearth?: WindowRpc;
  }
}

export interface RpcConnection {
  readonly rpc: WindowRpc;
  readonly state: () => RpcState;
  /** @returns the function that stops listening. */
  readonly onState: (listener: () => void) => () => void;
}

export function connectRpc(): RpcConnection {
  const { keyhearth } = window;
  return keyhearth === undefined ? overHttp() : overIpc(keyhearth);
}

function overIpc(keyhearth: WindowRpc): RpcConnection {
  // Electron's context bridge hands on the message of an error and loses its name.
  const rename = (error: unknown): never => {
    throw new RpcError(messageOf(error));
  };
  const calls = keyhearth as unknown as Record<RpcCall, (...args: readonly unknown[]) => Promise<unknown>>;
  return {
    rpc: {
      ...makeCalls((name, ...args) => calls[name](...args).catch(rename)),
      copy: (text, options) => keyhearth.copy(text, options).catch(rename),
      protectContent: (on) => keyhearth.protectContent(on).catch(rename),
      // The file is there at once: there is no progress to report, and nothing to cancel.
      chooseBackup: (file) => keyhearth.chooseBackup(file).catch(rename),
      saveBackup: (id) => keyhearth.saveBackup(id).catch(rename),
      onEvent: (listener) => keyhearth.onEvent(listener),
    },
    state: () => 'ready',
    onState: () => () => undefined,
  };
}

/** The calls of the contract, each of them sent by its name. */
const makeCalls = (send: (name: RpcCall, ...args: readonly unknown[]) => Promise<unknown>) =>
  Object.fromEntries(
    rpcCalls.map((name) => [name, (...args: readonly unknown[]) => send(name, ...args)]),
  ) as unknown as Pick<WindowRpc, RpcCall>;

function overHttp(): RpcConnection {
  const session = new HttpSession();
  session.start();
  clearWhatWasCopied();
  onWindowUse(() => {
    // The service counts from the last word of any window; one that is lost is said again soon.
    if (!session.isSignedIn) return false;
    session.post('/window/used', {}).catch(() => undefined);
    return true;
  });
  const calls = makeCalls((name, ...args) => session.callByName(name, args));
  // A page that goes may not have its say: the next one in this tab releases what it left.
  for (const file of uploads.take()) calls.releaseBackup(file).catch(() => undefined);
  window.addEventListener('pagehide', () => {
    for (const file of uploads.read()) {
      session.post('/window/releaseBackup', { args: [file] }, { keepalive: true }).catch(() => undefined);
    }
  });

  return {
    rpc: {
      ...calls,
      releaseBackup(file) {
        uploads.delete(file);
        return calls.releaseBackup(file);
      },
      chooseBackup: (file, options = {}) =>
        uploadFile(file, options, {
          async post(query, part, signal) {
            const answer = await session.call(`/window/files?${query}`, part, signal);
            const { backup } = answer as UploadProgress;
            uploads.add(backup.file);
            return answer as UploadProgress;
          },
          release: (name) => {
            uploads.delete(name);
            return calls.releaseBackup(name);
          },
        }),
      async saveBackup(id) {
        const answer = await session.call('/window/save', { id });
        const { address, name } = answer as { readonly address: string; readonly name: string };
        saveByLink(address, name);
        return name;
      },
      copy: copyInBrowser,
      // No page can keep itself out of pictures of the screen.
      protectContent: () => Promise.resolve(),
      onEvent: (listener) => session.onEvent(listener),
    },
    state: () => session.state,
    onState: (listener) => session.onState(listener),
  };
}

const uploadsKey = 'keyhearth.uploads';

/** Names of the files that this tab has uploaded and not released. */
const uploads = {
  read: (): readonly string[] => (sessionStorage.getItem(uploadsKey) ?? '').split(' ').filter(Boolean),
  take() {
    const left = uploads.read();
    sessionStorage.removeItem(uploadsKey);
    return left;
  },
  add(file: string) {
    sessionStorage.setItem(uploadsKey, [...new Set([...uploads.read(), file])].join(' '));
  },
  delete(file: string) {
    sessionStorage.setItem(
      uploadsKey,
      uploads
        .read()
        .filter((each) => each !== file)
        .join(' '),
    );
  },
};

/**
 * The window's way to the service: Electron's preload where there is one, else HTTP with a session. A browser comes with
 * a one-time code in the fragment of its link; the code buys a token, which lives in this tab's sessionStorage and
 * goes with every request (a cookie alone would reach every port of this machine).
 */

import { bridgeCalls } from '../preload/contract.ts';
import { copyInBrowser } from './parts/clipboard.ts';
import { BridgeError } from './parts/bridge-error.ts';
import { onWindowUse } from './parts/window-use.ts';
import type { Bridge, BridgeCall, BroughtBackup, VaultEvent } from '../preload/contract.ts';
import { bringFile } from './parts/bring-file.ts';
import { eventStreamReader } from './parts/event-stream.ts';
import { saveByLink } from './parts/growing-file.ts';
import { t } from './parts/text.ts';

declare global {
  interface Window {
    /** Exposed by Electron's preload. */
    readonly latchkey?: Bridge;
  }
}

/** `ready` calls get through; `stopped` the service does not answer; `signed-out` it does not know this window. */
export type DoorState = 'ready' | 'stopped' | 'signed-out';

export interface Door {
  readonly bridge: Bridge;
  readonly state: () => DoorState;
  /** @returns the function that stops listening. */
  readonly onState: (listener: () => void) => () => void;
}

export function openDoor(): Door {
  const { latchkey } = window;
  return latchkey === undefined ? overHttp() : overIpc(latchkey);
}

function overIpc(latchkey: Bridge): Door {
  // Electron's context bridge hands on the message of an error and loses its name.
  const rename = (error: unknown): never => {
    throw new BridgeError(error instanceof Error ? error.message : String(error));
  };
  const calls = latchkey as unknown as Record<BridgeCall, (...args: readonly unknown[]) => Promise<unknown>>;
  return {
    bridge: {
      ...makeCalls((name, ...args) => calls[name](...args).catch(rename)),
      copy: (text, options) => latchkey.copy(text, options).catch(rename),
      protectContent: (on) => latchkey.protectContent(on).catch(rename),
      // It is there at once: nothing is told of its way, and nothing is to be ended.
      chooseBackup: (file) => latchkey.chooseBackup(file).catch(rename),
      saveBackup: (id) => latchkey.saveBackup(id).catch(rename),
      onEvent: (listener) => latchkey.onEvent(listener),
    },
    state: () => 'ready',
    onState: () => () => undefined,
  };
}

/** The calls of the contract, each of them sent by its name. */
const makeCalls = (send: (name: BridgeCall, ...args: readonly unknown[]) => Promise<unknown>) =>
  Object.fromEntries(
    bridgeCalls.map((name) => [name, (...args: readonly unknown[]) => send(name, ...args)]),
  ) as unknown as Pick<Bridge, BridgeCall>;

const tokenKey = 'latchkey.session';
const tokenHeader = 'X-Latchkey-Session';

/** Between two tries to reach a service that stopped, in milliseconds. */
const firstPause = 400;
const longestPause = 5_000;

/** The service sends a comment every 20 s; a stream that is silent for longer than this is dead. Milliseconds. */
const longestSilence = 45_000;

/** How long the service may take to open the event stream, in milliseconds. */
const longestOpening = 10_000;

const words = {
  stopped: t('Latchkey’s service does not answer. Nothing was lost; try again when it is back.'),
  signedOut: t('This window is no longer signed in.'),
};

function overHttp(): Door {
  let token = sessionStorage.getItem(tokenKey);
  let state: DoorState = 'ready';
  const stateListeners = new Set<() => void>();
  const eventListeners = new Set<(event: VaultEvent) => void>();
  /** Settles when the code of the link was exchanged or refused; calls wait for it. */
  let entering: Promise<void> = Promise.resolve();
  let stream: AbortController | null = null;

  const setState = (next: DoorState) => {
    if (next === state) return;
    state = next;
    for (const listener of stateListeners) listener();
  };
  const tell = (event: VaultEvent) => {
    for (const listener of eventListeners) listener(event);
  };

  function leave() {
    token = null;
    sessionStorage.removeItem(tokenKey);
    stream?.abort();
    stream = null;
    setState('signed-out');
  }

  async function post(
    path: string,
    body: unknown,
    signal?: AbortSignal,
    keepalive = false,
  ): Promise<Response> {
    const isFile = body instanceof ArrayBuffer;
    return fetch(path, {
      method: 'POST',
      headers: {
        'content-type': isFile ? 'application/octet-stream' : 'application/json',
        ...(token === null ? {} : { [tokenHeader]: token }),
      },
      body: isFile ? body : JSON.stringify(body),
      credentials: 'same-origin',
      keepalive,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async function enter(code: string) {
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        const response = await post('/window/session', { code });
        if (!response.ok) {
          // The link was used before. A session that this tab has already outlives that.
          if (token === null) leave();
          return;
        }
        ({ token } = (await response.json()) as { token: string });
        sessionStorage.setItem(tokenKey, token);
        setState('ready');
        void listen();
        return;
      } catch {
        setState('stopped');
        await sleep(pause);
      }
    }
  }

  /** Keeps the event stream open; by that it also learns when the service stops and when it is back. */
  async function listen() {
    stream?.abort();
    const own = new AbortController();
    stream = own;
    let pause = firstPause;
    let told = true;
    const ended = () => own.signal.aborted || token === null;
    while (!ended()) {
      try {
        await follow(own.signal, () => {
          pause = firstPause;
          setState('ready');
          // What happened while nobody listened is not told again: ask for everything once.
          if (!told) tell({ kind: 'status' });
          told = true;
        });
      } catch {
        if (ended()) return;
        setState('stopped');
      }
      told = false;
      await sleep(pause);
      pause = Math.min(pause * 2, longestPause);
    }
  }

  async function follow(signal: AbortSignal, onOpen: () => void) {
    const silence = new AbortController();
    const within = <T>(milliseconds: number, waiting: Promise<T>) => {
      const timer = setTimeout(() => {
        silence.abort();
      }, milliseconds);
      return waiting.finally(() => {
        clearTimeout(timer);
      });
    };
    const response = await within(
      longestOpening,
      fetch('/window/events', {
        headers: token === null ? {} : { [tokenHeader]: token },
        credentials: 'same-origin',
        signal: AbortSignal.any([signal, silence.signal]),
      }),
    );
    if (response.status === 401) {
      leave();
      return;
    }
    if (!response.ok || response.body === null)
      throw new BridgeError(`events answered ${String(response.status)}`);
    onOpen();
    const feed = eventStreamReader((data) => {
      tell(JSON.parse(data) as VaultEvent);
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await within(longestSilence, reader.read());
      if (done) return;
      feed(value);
    }
  }

  const send = (name: BridgeCall, ...args: readonly unknown[]): Promise<unknown> =>
    answered(() => post(`/window/${name}`, { args }));

  /** @returns what the service answered, once it did. */
  async function answered(asking: () => Promise<Response>, signal?: AbortSignal): Promise<unknown> {
    await entering;
    if (token === null) throw new BridgeError(words.signedOut);
    let response: Response;
    try {
      response = await asking();
    } catch {
      signal?.throwIfAborted();
      setState('stopped');
      // The stream may be open all the same; a new one tells when the service answers again.
      void listen();
      throw new BridgeError(words.stopped);
    }
    setState('ready');
    if (response.status === 401) {
      leave();
      throw new BridgeError(words.signedOut);
    }
    const answer = (await response.json().catch(() => ({}))) as { value?: unknown; message?: string };
    if (!response.ok)
      throw new BridgeError(answer.message ?? `The service answered ${String(response.status)}.`);
    return answer.value;
  }

  /** Takes the code out of the address bar, and out of the history, before anything else happens. */
  function takeCode(): string | null {
    const [, code] = /^#code=(.+)$/.exec(location.hash) ?? [];
    if (code === undefined) return null;
    history.replaceState(null, '', location.pathname + location.search);
    return decodeURIComponent(code);
  }

  function arrive() {
    const code = takeCode();
    if (code !== null) entering = enter(code);
  }

  arrive();
  onWindowUse(() => {
    // The service counts from the last word of any window; one that is lost is said again soon.
    if (token !== null) post('/window/used', {}).catch(() => undefined);
  });
  // A new link opened in this very tab changes the fragment only: the page is not loaded again.
  window.addEventListener('hashchange', arrive);
  if (token !== null) void listen();
  else {
    void entering.then(() => {
      if (token === null) leave();
    });
  }

  const calls = makeCalls(send);
  /** What was brought and not let go: it ends with the page, as far as the page has its say. */
  const brought = new Set<string>();
  window.addEventListener('pagehide', () => {
    for (const file of brought) {
      post('/window/releaseBackup', { args: [file] }, undefined, true).catch(() => undefined);
    }
  });

  return {
    bridge: {
      ...calls,
      releaseBackup(file) {
        brought.delete(file);
        return calls.releaseBackup(file);
      },
      chooseBackup: (file, options = {}) =>
        bringFile(file, options, {
          async post(query, part, signal) {
            const answer = await answered(() => post(`/window/files?${query}`, part, signal), signal);
            const { backup } = answer as BroughtBackup;
            brought.add(backup.file);
            return answer as BroughtBackup;
          },
          release: (name) => {
            brought.delete(name);
            return calls.releaseBackup(name);
          },
        }),
      async saveBackup(id) {
        const answer = await answered(() => post('/window/save', { id }));
        const { address, name } = answer as { readonly address: string; readonly name: string };
        saveByLink(address, name);
        return name;
      },
      copy: copyInBrowser,
      // No page can keep itself out of pictures of the screen.
      protectContent: () => Promise.resolve(),
      onEvent(listener) {
        eventListeners.add(listener);
        return () => eventListeners.delete(listener);
      },
    },
    state: () => state,
    onState(listener) {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
  };
}

const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/**
 * The session of a browser's window with the service, over HTTP. A link brings a one-time code, which buys a token; the token lives
 * in this tab's sessionStorage and goes with every request. An open event stream shows whether the service is there.
 */

import { isRead } from '../../../preload/contract.ts';
import type { RpcCall, VaultEvent } from '../../../preload/contract.ts';
import { eventStreamReader } from './event-stream.ts';
import { RpcError, UnansweredError } from './rpc-error.ts';
import { t } from '../i18n/text.ts';

/** `ready` calls get through; `stopped` the service does not answer; `signed-out` it does not know this window. */
export type RpcState = 'ready' | 'stopped' | 'signed-out';

const tokenKey = 'keyhearth.session';
const tokenHeader = 'X-Keyhearth-Session';
const callHeader = 'X-Keyhearth-Call';

/** Between two tries to reach a service that stopped, in milliseconds. */
const firstPause = 400;
const longestPause = 5_000;

/** The service sends a comment every 20 s; a stream that is silent for longer than this is dead. Milliseconds. */
const longestSilence = 45_000;

/** Milliseconds that the service may take to open the event stream. */
const longestOpening = 10_000;

export const words = {
  stopped: t('Keyhearth isn’t responding. Retry when it is back.'),
  unknown: t('Keyhearth isn’t responding. It may have done this anyway: check before you retry.'),
  signedOut: t('This window is signed out.'),
};

/** Signs this tab out of the owner’s window. */
export function forgetSession(): void {
  sessionStorage.removeItem(tokenKey);
}

/** Between the tries of a call, in milliseconds. */
const betweenTries = [0, 200, 600];

/** Sends again what has no answer. The service does it once. */
export async function inTries(send: () => Promise<Response>): Promise<Response> {
  for (const pause of betweenTries) {
    try {
      return await send();
    } catch {
      await sleep(pause);
    }
  }
  return send();
}

interface PostOptions {
  readonly signal?: AbortSignal | undefined;
  /** The same for each try of one call: the service makes the call once. */
  readonly callId?: string;
  /** Sends the request even if the page closes. */
  readonly keepalive?: boolean;
}

interface AnswerOptions {
  /** Said where no answer comes. */
  readonly lost: string;
  readonly signal?: AbortSignal | undefined;
}

export class HttpSession {
  #token = sessionStorage.getItem(tokenKey);
  #state: RpcState = 'ready';
  readonly #stateListeners = new Set<() => void>();
  readonly #eventListeners = new Set<(event: VaultEvent) => void>();
  /** Settles when the code of the link was exchanged or refused; calls wait for it. */
  #entering: Promise<void> = Promise.resolve();
  #stream: AbortController | null = null;

  /** Enters by the code of the page's address, or goes on with the session of this tab. */
  start(): void {
    this.#arrive();
    // A new link opened in this very tab changes the fragment only: the page is not loaded again.
    window.addEventListener('hashchange', () => {
      this.#arrive();
    });
    if (this.#token !== null) void this.#listen();
    else {
      void this.#entering.then(() => {
        if (this.#token === null) this.#leave();
      });
    }
  }

  get isSignedIn(): boolean {
    return this.#token !== null;
  }

  get state(): RpcState {
    return this.#state;
  }

  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  onEvent(listener: (event: VaultEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  /** A call by its name. A browser drops its connections when a network of the computer comes or goes: it is sent again then. */
  callByName(name: RpcCall, args: readonly unknown[]): Promise<unknown> {
    const callId = crypto.randomUUID();
    const send = () => inTries(() => this.post(`/window/${name}`, { args }, { callId }));
    // The service may have received a call whose answer is lost.
    return this.#answered(send, { lost: isRead(name, args[0]) ? words.stopped : words.unknown });
  }

  /**
   * A request that must not be sent twice.
   * @returns the value that the service answered.
   * @throws RpcError where it refuses, does not answer, or does not know this window.
   */
  call(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#answered(() => this.post(path, body, { signal }), { lost: words.stopped, signal });
  }

  async #answered(send: () => Promise<Response>, { lost, signal }: AnswerOptions): Promise<unknown> {
    await this.#entering;
    if (this.#token === null) throw new RpcError(words.signedOut);
    let response: Response;
    try {
      response = await send();
    } catch {
      signal?.throwIfAborted();
      this.#setState('stopped');
      // The stream may be open all the same; a new one shows when the service answers again.
      void this.#listen();
      throw new UnansweredError(lost);
    }
    this.#setState('ready');
    if (response.status === 401) {
      this.#leave();
      throw new RpcError(words.signedOut);
    }
    const answer = (await response.json().catch(() => ({}))) as { value?: unknown; message?: string };
    if (!response.ok)
      throw new RpcError(answer.message ?? `The service answered ${String(response.status)}.`);
    return answer.value;
  }

  async post(
    path: string,
    body: unknown,
    { signal, callId, keepalive = false }: PostOptions = {},
  ): Promise<Response> {
    const isFile = body instanceof ArrayBuffer;
    return fetch(path, {
      method: 'POST',
      headers: {
        'content-type': isFile ? 'application/octet-stream' : 'application/json',
        ...this.#tokenHeaders(),
        ...(callId === undefined ? {} : { [callHeader]: callId }),
      },
      body: isFile ? body : JSON.stringify(body),
      credentials: 'same-origin',
      keepalive,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  #tokenHeaders(): Record<string, string> {
    return this.#token === null ? {} : { [tokenHeader]: this.#token };
  }

  #setState(next: RpcState): void {
    if (next === this.#state) return;
    this.#state = next;
    for (const listener of this.#stateListeners) listener();
  }

  #emit(event: VaultEvent): void {
    for (const listener of this.#eventListeners) listener(event);
  }

  #leave(): void {
    this.#token = null;
    sessionStorage.removeItem(tokenKey);
    this.#stream?.abort();
    this.#stream = null;
    this.#setState('signed-out');
  }

  #arrive(): void {
    const code = takeCode();
    if (code !== null) this.#entering = this.#enter(code);
  }

  async #enter(code: string): Promise<void> {
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        const response = await this.post('/window/session', { code });
        if (!response.ok) {
          // The link was used before. A session that this tab has already outlives that.
          if (this.#token === null) this.#leave();
          return;
        }
        const { token } = (await response.json()) as { token: string };
        this.#token = token;
        sessionStorage.setItem(tokenKey, token);
        this.#setState('ready');
        void this.#listen();
        return;
      } catch {
        this.#setState('stopped');
        await sleep(pause);
      }
    }
  }

  /** Keeps the event stream open; by that it also learns when the service stops and when it is back. */
  async #listen(): Promise<void> {
    this.#stream?.abort();
    const own = new AbortController();
    this.#stream = own;
    let pause = firstPause;
    let told = true;
    const ended = () => own.signal.aborted || this.#token === null;
    while (!ended()) {
      try {
        await this.#follow(own.signal, () => {
          // The connection may end while the service is there: the next try comes at once.
          pause = 0;
          this.#setState('ready');
          // Events of the time without a listener are not repeated: refetch everything once.
          if (!told) this.#emit({ kind: 'status' });
          told = true;
        });
      } catch {
        if (ended()) return;
        if (pause > 0) this.#setState('stopped');
      }
      told = false;
      await sleep(pause);
      pause = Math.min(Math.max(pause * 2, firstPause), longestPause);
    }
  }

  async #follow(signal: AbortSignal, onOpen: () => void): Promise<void> {
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
        headers: this.#tokenHeaders(),
        credentials: 'same-origin',
        signal: AbortSignal.any([signal, silence.signal]),
      }),
    );
    if (response.status === 401) {
      this.#leave();
      return;
    }
    if (!response.ok || response.body === null)
      throw new RpcError(`events answered ${String(response.status)}`);
    onOpen();
    const feed = eventStreamReader((data) => {
      this.#emit(JSON.parse(data) as VaultEvent);
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await within(longestSilence, reader.read());
      if (done) return;
      feed(value);
    }
  }
}

/** Takes the code out of the address bar, and out of the history, before anything else happens. */
function takeCode(): string | null {
  const [, code] = /^#code=(.+)$/.exec(location.hash) ?? [];
  if (code === undefined) return null;
  history.replaceState(null, '', location.pathname + location.search);
  return decodeURIComponent(code);
}

const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

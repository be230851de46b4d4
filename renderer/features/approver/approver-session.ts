/**
 * The session of an approver’s window. A passkey signs the person in and signs each vote. The session answers a few queries
 * about what concerns the person, and lives in this page’s memory alone.
 */

import type { CallAnswer, VaultEvent, VaultStatus, WindowRpc } from '../../../preload/contract.ts';
import { pathOfType, voteTypes } from '../../../main/lib/text/activity-types.ts';
import { copyInBrowser } from '../../app/rpc/clipboard.ts';
import { inTries, words } from '../../app/rpc/http-session.ts';
import type { RpcState } from '../../app/rpc/http-session.ts';
import type { RpcConnection } from '../../app/rpc/rpc.ts';
import { RpcError } from '../../app/rpc/rpc-error.ts';
import { t } from '../../app/i18n/text.ts';
import { passkeyObstacle, stampWithPasskey } from '../users/webauthn.ts';

/** The signed-in person. */
interface Person {
  readonly token: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly userId: string;
  readonly userName: string;
  readonly rpId: string;
}

interface Challenge {
  readonly challenge: string;
  readonly organizationId: string;
  readonly rpId: string;
}

/** Milliseconds between two looks for new requests, while the page is in sight. */
const pause = 4_000;

const tokenHeader = 'X-Keyhearth-Session';

async function post(
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  { isVote = false }: { readonly isVote?: boolean } = {},
): Promise<CallAnswer> {
  const send = () =>
    fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      credentials: 'same-origin',
    });
  let response: Response;
  try {
    // The same bytes are the same vote.
    response = await (isVote ? inTries(send) : send());
  } catch {
    throw new RpcError(isVote ? words.unknown : words.stopped);
  }
  return { status: response.status, body: (await response.json().catch(() => null)) as unknown };
}

/** The service refused a passkey that no user has. */
const isUnknownPasskey = ({ status, body }: CallAnswer): boolean =>
  status === 401 &&
  (body as { readonly turnkeyErrorCode?: string } | null)?.turnkeyErrorCode === 'CREDENTIAL_NOT_FOUND';

/** @throws RpcError where the service refused. */
function bodyOf(answer: CallAnswer): unknown {
  const { status, body } = answer;
  if (status === 200) return body;
  if (isUnknownPasskey(answer)) {
    throw new RpcError(
      t('This vault has no such passkey. Use another, or ask the vault’s owner to register one.'),
    );
  }
  const { message } = (body ?? {}) as { readonly message?: string };
  throw new RpcError(message ?? `The service answered ${String(status)}.`);
}

/** @throws Error with words for a person, where the sign-in failed. */
export async function signIn(): Promise<ApproverSession> {
  const { challenge, organizationId, rpId } = bodyOf(await post('/approver/challenge', '{}')) as Challenge;
  const obstacle = passkeyObstacle(window.location, rpId);
  if (obstacle !== null) throw new RpcError(obstacle);
  const body = JSON.stringify({
    type: 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION',
    timestampMs: String(Date.now()),
    organizationId,
    parameters: {},
    challenge,
  });
  const { header, credentialId } = await stampWithPasskey(rpId, body);
  const person = bodyOf(await post('/approver/session', body, { 'X-Stamp-Webauthn': header })) as Person;
  return new ApproverSession(person, credentialId);
}

const votePaths: readonly string[] = Object.values(voteTypes).map(
  (type) => `/public/v1/submit/${pathOfType(type)}`,
);

export class ApproverSession {
  readonly #person: Person;
  readonly #credentialId: string;
  #state: RpcState = 'ready';
  #isPasskeyDeleted = false;
  readonly #stateListeners = new Set<() => void>();

  constructor(person: Person, credentialId: string) {
    this.#person = person;
    this.#credentialId = credentialId;
  }

  get userName(): string {
    return this.#person.userName;
  }

  get userId(): string {
    return this.#person.userId;
  }

  /** True if the session ended because the passkey that signed in was deleted. */
  get isPasskeyDeleted(): boolean {
    return this.#isPasskeyDeleted;
  }

  /** The few calls that this window may make; every other one fails. */
  get connection(): RpcConnection {
    const refused = () => Promise.reject(new RpcError(t('This window shows approvals only.')));
    const rpc: Pick<WindowRpc, 'status' | 'call' | 'copy' | 'onEvent' | 'protectContent'> = {
      status: () => Promise.resolve(this.#status()),
      call: (path, body) => this.#call(path, body as Readonly<Record<string, unknown>>),
      copy: copyInBrowser,
      onEvent: (listener) => this.#look(listener),
      protectContent: () => Promise.resolve(),
    };
    return {
      rpc: new Proxy(rpc, {
        get: (target, name) => (Reflect.get(target, name) as unknown) ?? refused,
      }) as WindowRpc,
      state: () => this.#state,
      onState: (listener) => {
        this.#stateListeners.add(listener);
        return () => this.#stateListeners.delete(listener);
      },
    };
  }

  async end(): Promise<void> {
    await post('/approver/end', '{}', this.#tokenHeaders()).catch(() => undefined);
    this.#setState('signed-out');
  }

  async #call(path: string, body: Readonly<Record<string, unknown>>): Promise<CallAnswer> {
    if (votePaths.includes(path)) return this.#vote(path, body);
    const [, name] = /^\/public\/v1\/query\/([a-z_]+)$/.exec(path) ?? [];
    if (name === undefined) throw new RpcError(t('This window shows approvals only.'));
    const answer = await post(`/approver/query/${name}`, JSON.stringify(body), this.#tokenHeaders());
    this.#isPasskeyDeleted ||= isUnknownPasskey(answer);
    if (answer.status === 401) this.#setState('signed-out');
    return answer;
  }

  /** The passkey signs the vote’s own bytes. */
  async #vote(path: string, body: Readonly<Record<string, unknown>>): Promise<CallAnswer> {
    const { organizationId, rpId } = this.#person;
    const text = JSON.stringify({ ...body, organizationId, timestampMs: String(Date.now()) });
    const { header } = await stampWithPasskey(rpId, text, this.#credentialId);
    const answer = await post(path, text, { 'X-Stamp-Webauthn': header }, { isVote: true });
    if (isUnknownPasskey(answer)) {
      this.#isPasskeyDeleted = true;
      this.#setState('signed-out');
    }
    return answer;
  }

  #tokenHeaders(): Readonly<Record<string, string>> {
    return { [tokenHeader]: this.#person.token };
  }

  #look(listener: (event: VaultEvent) => void): () => void {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible')
        listener({ kind: 'activity', id: '', type: '', status: '' });
    }, pause);
    return () => {
      clearInterval(timer);
    };
  }

  #status(): VaultStatus {
    const { organizationId, organizationName, userId, userName, rpId } = this.#person;
    return {
      state: 'unlocked',
      url: window.location.origin,
      rpId,
      organization: { id: organizationId, name: organizationName },
      owner: { userId, userName },
    } as VaultStatus;
  }

  #setState(next: RpcState): void {
    this.#state = next;
    for (const listener of this.#stateListeners) listener();
  }
}

/** A real OpenID Connect provider on loopback, and a browser's way through it to an ID token. */
import { createHash, generateKeyPairSync, hash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';

/** The application that tokens are for, unless another is asked for. */
export const oidcClient = 'keyhearth-tests';
export const otherOidcClient = 'another-application';

const redirectUri = 'http://127.0.0.1/callback';

/** The provider's own lifetime of an ID token, in seconds. */
export const idTokenSeconds = 600;

export interface IdTokenRequest {
  readonly subject: string;
  readonly client?: typeof oidcClient | typeof otherOidcClient;
  readonly nonce?: string;
  /** A public key, as it will be sent: the nonce is its hash then. */
  readonly boundTo?: string;
}

export interface OidcProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Signs a subject in, as a browser and its application do, and answers the ID token. */
  idToken(request: IdTokenRequest): Promise<string>;
  /** From now on the provider signs with a new key, and publishes that one alone. */
  rotateKeys(): void;
  /** The paths that were asked for, in order. */
  readonly requests: readonly string[];
}

export async function startOidcProvider(): Promise<OidcProvider> {
  const requests: string[] = [];
  let serve: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    serve(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const rotateKeys = (): void => {
    serve = newProvider(issuer);
  };
  rotateKeys();
  return {
    issuer,
    requests,
    rotateKeys,
    idToken: (request) => signIn(issuer, request),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function newProvider(issuer: string): (request: IncomingMessage, response: ServerResponse) => void {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    adapter: memoryAdapter(),
    clients: [oidcClient, otherOidcClient].map((client_id) => ({
      client_id,
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    })),
    jwks: {
      keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' }],
    },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    ttl: { IdToken: idTokenSeconds, AccessToken: 60, Grant: 60, Interaction: 60, Session: 60 },
  });
  const callback = provider.callback();
  return (request, response) => {
    const answered =
      request.url?.startsWith('/interaction/') === true
        ? interact(provider, request, response)
        : callback(request, response);
    answered.catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
}

/** The pages on which a person would sign in and agree: this one is who the application says, and agrees. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, {
      login: { accountId: String(params['login_hint']) },
    });
    return;
  }
  const grant = new provider.Grant({
    ...(session ? { accountId: session.accountId } : {}),
    clientId: String(params['client_id']),
  });
  grant.addOIDCScope('openid');
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** The authorization code flow with PKCE, from the application's link to its ID token. */
async function signIn(
  issuer: string,
  { subject, client = oidcClient, nonce, boundTo }: IdTokenRequest,
): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const boundNonce = boundTo === undefined ? nonce : hash('sha256', boundTo);
  const query = new URLSearchParams({
    client_id: client,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    login_hint: subject,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(boundNonce === undefined ? {} : { nonce: boundNonce }),
  });
  const arrived = await browse(new URL(`${issuer}/auth?${query.toString()}`));
  const code = arrived.searchParams.get('code');
  if (code === null) throw new Error(`the provider did not sign in: ${arrived.href}`);
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: client,
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier,
    }),
  });
  const { id_token: idToken } = (await answer.json()) as { id_token?: string };
  if (idToken === undefined) throw new Error(`the provider gave no ID token: HTTP ${String(answer.status)}`);
  return idToken;
}

/** Follows redirects with cookies, until they lead back to the application. */
async function browse(start: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  while (!url.href.startsWith(redirectUri)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) {
      throw new Error(`the provider stopped at HTTP ${String(answer.status)}: ${await answer.text()}`);
    }
    url = new URL(location, url);
  }
  return url;
}

/** The provider's store, in memory. */
function memoryAdapter(): new (model: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  const find = (fits: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
    [...kept.values()].find(fits);
  return class implements Adapter {
    readonly #model: string;

    constructor(model: string) {
      this.#model = model;
    }

    upsert(id: string, payload: AdapterPayload): Promise<undefined> {
      kept.set(`${this.#model} ${id}`, payload);
      return Promise.resolve(undefined);
    }

    find(id: string): Promise<AdapterPayload | undefined> {
      return Promise.resolve(kept.get(`${this.#model} ${id}`));
    }

    findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return Promise.resolve(find((payload) => payload.uid === uid));
    }

    findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
      return Promise.resolve(find((payload) => payload.userCode === userCode));
    }

    consume(id: string): Promise<undefined> {
      const payload = kept.get(`${this.#model} ${id}`);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      return Promise.resolve(undefined);
    }

    destroy(id: string): Promise<undefined> {
      kept.delete(`${this.#model} ${id}`);
      return Promise.resolve(undefined);
    }

    revokeByGrantId(grantId: string): Promise<undefined> {
      for (const [name, payload] of kept) if (payload.grantId === grantId) kept.delete(name);
      return Promise.resolve(undefined);
    }
  };
}

/** The keys that OpenID Connect issuers publish (OpenID Connect Discovery 1.0, RFC 7517), fetched when they are needed. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../lib/clock.ts';
import { isThisMachine, networkIsOff } from '../lib/network.ts';
import { getJson, OutboundError, type GetOptions, type Reach } from '../net/outbound.ts';
import { ExplainedError } from '../lib/errors.ts';

export interface IssuerKeysOptions extends GetOptions {
  readonly clock: Clock;
  /** Answers false while nothing may leave this machine; absent means true. */
  readonly isNetworkOn?: (() => boolean) | undefined;
}

interface KeySet {
  readonly keyOf: JWTVerifyGetKey;
  /** On the clock's `wall`, in milliseconds. */
  readonly loadedAt: number;
}

/** Milliseconds for which fetched keys are used. A withdrawn key is trusted no longer than that. */
const timeToLive = 10 * 60_000;
/** Milliseconds between fetches that tokens with unknown keys cause. */
const cooldown = 10_000;

/** Why an issuer's keys cannot be had, now. */
export class KeysUnavailable extends ExplainedError {
  override readonly name = 'KeysUnavailable';
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #sets = new Map<string, KeySet>();
  readonly #loading = new Map<string, Promise<KeySet>>();

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /**
   * @param issuer One that may be contacted.
   * @returns what finds a token's key; it rejects with KeysUnavailable, or jose's JWKSNoMatchingKey.
   */
  of(issuer: string): JWTVerifyGetKey {
    return async (header, token) => {
      const set = await this.#current(issuer);
      try {
        return await set.keyOf(header, token);
      } catch (error) {
        // Issuers change their keys without notice.
        if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#isOlder(set, cooldown)) throw error;
        return (await this.#load(issuer)).keyOf(header, token);
      }
    };
  }

  async #current(issuer: string): Promise<KeySet> {
    const set = this.#sets.get(issuer);
    return set === undefined || this.#isOlder(set, timeToLive) ? this.#load(issuer) : set;
  }

  /** A clock that was set back makes keys old. */
  #isOlder({ loadedAt }: KeySet, milliseconds: number): boolean {
    const age = this.#options.clock.wall() - loadedAt;
    return age < 0 || age >= milliseconds;
  }

  /** Callers that come while a fetch is under way wait for the same answer. */
  #load(issuer: string): Promise<KeySet> {
    let loading = this.#loading.get(issuer);
    if (loading === undefined) {
      loading = this.#fetch(issuer).finally(() => this.#loading.delete(issuer));
      this.#loading.set(issuer, loading);
    }
    return loading;
  }

  async #fetch(issuer: string): Promise<KeySet> {
    const discovery = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const document = await this.#get(discovery, this.#reachOfIssuer(discovery));
    const fields = isRecord(document) ? document : {};
    if (fields['issuer'] !== issuer) {
      throw new KeysUnavailable(`${discovery.href} is not of this issuer: its "issuer" is another`);
    }
    const jwksUri = fields['jwks_uri'];
    const keys = typeof jwksUri === 'string' ? URL.parse(jwksUri) : null;
    if (keys === null) throw new KeysUnavailable(`${discovery.href} has no "jwks_uri" that is a URL`);
    const jwks = await this.#get(keys, this.#reachOfKeys(keys, discovery));
    const set: KeySet = { keyOf: localKeys(keys, jwks), loadedAt: this.#options.clock.wall() };
    this.#sets.set(issuer, set);
    return set;
  }

  /** The user wrote this address down: with TLS it may be anywhere, since only its own host can prove to be it. */
  #reachOfIssuer(url: URL): Reach {
    return url.protocol === 'https:' ? 'anywhere' : 'this machine';
  }

  /** This address is the issuer's choice: it leads back to the issuer itself, or to the Internet, and not into a home. */
  #reachOfKeys(url: URL, discovery: URL): Reach {
    if (url.origin === discovery.origin) return this.#reachOfIssuer(discovery);
    if (discovery.protocol === 'http:' && url.protocol === 'http:') return this.#reachOfIssuer(discovery);
    if (url.protocol === 'https:') return 'the Internet';
    throw new KeysUnavailable(`${url.href}, where its keys are said to be, is without TLS`);
  }

  async #get(url: URL, reach: Reach): Promise<unknown> {
    const isOff = this.#options.isNetworkOn?.() === false;
    if (isOff && !isThisMachine(url.hostname)) throw new KeysUnavailable(`${url.href}: ${networkIsOff}`);
    try {
      return await getJson(url, isOff ? 'this machine' : reach, this.#options);
    } catch (error) {
      if (error instanceof OutboundError) throw new KeysUnavailable(`${url.href}: ${error.message}`);
      throw error;
    }
  }
}

function localKeys(url: URL, jwks: unknown): JWTVerifyGetKey {
  try {
    // It checks what it is given.
    return createLocalJWKSet(jwks as JSONWebKeySet);
  } catch {
    throw new KeysUnavailable(`${url.href}: it did not answer a JSON Web Key Set`);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

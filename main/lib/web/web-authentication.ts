/**
 * The checks of every WebAuthn ceremony (WebAuthn Level 3, sections 7.1 and 7.2), for creating a passkey and
 * for using one.
 */
import { hash } from 'node:crypto';
import { quoted } from '../errors.ts';

/** The collected client data: what the browser says of the ceremony. */
export interface ClientData {
  readonly type: string;
  /** Base64url without padding. */
  readonly challenge: string;
  /** Of the page, as the browser writes it. */
  readonly origin: string;
}

/** The fixed head of authenticator data. */
export interface AuthenticatorData {
  readonly rpIdHash: Uint8Array;
  readonly userPresent: boolean;
  /** 0 where the authenticator does not count. */
  readonly signCount: number;
}

/** The expected ceremony. */
export interface Ceremony {
  readonly type: 'webauthn.create' | 'webauthn.get';
  readonly isChallenge: (challenge: string) => boolean;
  /** The fault if `isChallenge` answers false. */
  readonly otherwise: string;
  /** The relying party: a host name. */
  readonly rpId: string;
  /** The only origins it may run on; undefined for every page of the relying party. */
  readonly origins: readonly string[] | undefined;
}

export interface Fault {
  readonly field: 'clientDataJson' | 'authenticatorData';
  readonly problem: string;
}

const hashLength = 32;
const headLength = hashLength + 5;
const userPresent = 0x01;

/** @returns undefined when the bytes are not client data. */
export function readClientData(bytes: Uint8Array): ClientData | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, challenge, origin } = value as Record<string, unknown>;
  return typeof type === 'string' && typeof challenge === 'string' && typeof origin === 'string'
    ? { type, challenge, origin }
    : undefined;
}

/** @returns undefined when the bytes are too few. */
export function readAuthenticatorData(bytes: Uint8Array): AuthenticatorData | undefined {
  if (bytes.length < headLength) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    rpIdHash: bytes.subarray(0, hashLength),
    userPresent: (view.getUint8(hashLength) & userPresent) !== 0,
    signCount: view.getUint32(hashLength + 1),
  };
}

/** @returns the first thing that is wrong. */
export function findFault(
  clientData: ClientData | undefined,
  authenticatorData: AuthenticatorData | undefined,
  { type, isChallenge, otherwise, rpId, origins }: Ceremony,
): Fault | undefined {
  if (clientData === undefined) {
    return {
      field: 'clientDataJson',
      problem: 'expected a JSON object with type, challenge and origin, in base64url',
    };
  }
  if (clientData.type !== type) {
    return { field: 'clientDataJson', problem: `expected type ${type}, got ${quoted(clientData.type)}` };
  }
  if (!isChallenge(clientData.challenge)) return { field: 'clientDataJson', problem: otherwise };
  if (!(origins?.includes(clientData.origin) ?? isOriginOf(rpId, clientData.origin))) {
    const expected = origins
      ? `one of ${origins.join(', ')}`
      : `${isLocalhost(rpId) ? 'a page' : 'an https page'} of ${rpId} or a host below it`;
    return {
      field: 'clientDataJson',
      problem: `expected the origin to be ${expected}, got ${quoted(clientData.origin)}`,
    };
  }
  if (authenticatorData === undefined) {
    return {
      field: 'authenticatorData',
      problem: `expected at least ${headLength} bytes of authenticator data`,
    };
  }
  if (!Buffer.from(authenticatorData.rpIdHash).equals(hash('sha256', rpId, 'buffer'))) {
    return {
      field: 'authenticatorData',
      problem: `expected a passkey of the relying party ${rpId}, got one of another`,
    };
  }
  if (!authenticatorData.userPresent) {
    return { field: 'authenticatorData', problem: 'expected the user-present flag to be set' };
  }
  return undefined;
}

/**
 * True for an origin of the relying party's own pages: on its host or below it, and safe from others on the
 * network path.
 */
function isOriginOf(rpId: string, origin: string): boolean {
  const url = URL.parse(origin);
  if (url?.origin !== origin) return false;
  const { protocol, hostname } = url;
  const own = hostname === rpId || hostname.endsWith(`.${rpId}`);
  return own && (protocol === 'https:' || (protocol === 'http:' && isLocalhost(hostname)));
}

const isLocalhost = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');

/** Base64 of either alphabet, padded or not: clients send both. */
export const base64Text = /^[A-Za-z0-9_\-+/]+={0,2}$/;

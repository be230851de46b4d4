/**
 * Passkeys: the `X-Stamp-Webauthn` header, a WebAuthn assertion whose challenge is the hash of the body (WebAuthn
 * Level 3, section 7.2).
 */
import { createHash, hash } from 'node:crypto';
import { verifyCose } from '../crypto/keys/cose-keys.ts';
import {
  countAssertion,
  findAuthenticator,
  findAuthenticatorsAnywhere,
  findAuthenticatorsBelow,
  type AuthenticatorRow,
} from '../storage/tables/authenticators.ts';
import type { Reader } from '../storage/connection.ts';
import { passkeyOrigins } from '../storage/tables/passkey-origins.ts';
import {
  base64Text,
  findFault,
  readAuthenticatorData,
  readClientData,
  type AuthenticatorData,
  type ClientData,
} from '../lib/web/web-authentication.ts';
import { callerOf, findCredential, lookedThrough, unauthenticated, type Proof } from './proof.ts';

/** The longest credential id, an RSA signature and client data with much to say fit well. In characters. */
const largestHeader = 8192;

/** The assertion that a header carries. */
interface Assertion {
  /** Base64url without padding. */
  readonly credentialId: string;
  readonly authenticatorData: Uint8Array;
  readonly clientDataJson: Uint8Array;
  readonly signature: Uint8Array;
}

/** @throws KeyhearthError UNAUTHENTICATED when the text is not an assertion. */
export function parseAssertion(text: string): Assertion {
  if (text.length > largestHeader) {
    throw malformed(`expected at most ${largestHeader} characters, got ${text.length}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('expected a JSON object');
  }
  if (typeof value !== 'object' || value === null) throw malformed('expected a JSON object');
  const fields = value as Record<string, unknown>;
  return {
    credentialId: bytesOf(fields, 'credentialId').toString('base64url'),
    authenticatorData: bytesOf(fields, 'authenticatorData'),
    clientDataJson: bytesOf(fields, 'clientDataJson'),
    signature: bytesOf(fields, 'signature'),
  };
}

function bytesOf(fields: Record<string, unknown>, field: keyof Assertion): Buffer {
  const value = fields[field];
  if (typeof value !== 'string' || value === '') throw malformed(`${field} is missing`);
  if (!base64Text.test(value)) throw malformed(`${field} is not base64url`);
  return Buffer.from(value, 'base64url');
}

const malformed = (problem: string) =>
  unauthenticated(`malformed activity stamp: X-Stamp-Webauthn: ${problem}`, 'SIGNATURE_INVALID');

const refused = (problem: string) =>
  unauthenticated(`could not verify WebAuthN signature: ${problem}`, 'SIGNATURE_INVALID');

/** A COSE_Key of ES256, with the curve's own base point: to verify by it takes as long as by a passkey that is there. */
const nobodysKey = Buffer.from(
  'a5010203262001' +
    '2158206b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296' +
    '2258204fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
  'hex',
).toString('base64url');

/**
 * Reads an assertion. Which key it must hold for is known once the credential is found, so everything else is checked
 * then too.
 * @throws KeyhearthError UNAUTHENTICATED when it is none.
 */
export function passkeyProof(raw: Uint8Array, header: string, rpId: string): Proof {
  const assertion = parseAssertion(header);
  const ceremony: Ceremony = {
    clientData: readClientData(assertion.clientDataJson),
    authenticatorData: readAuthenticatorData(assertion.authenticatorData),
    challenge: Buffer.from(hash('sha256', raw, 'hex')).toString('base64url'),
    rpId,
  };
  const signCount = ceremony.authenticatorData?.signCount ?? 0;
  const digest = createHash('sha256')
    .update(hash('sha256', assertion.authenticatorData, 'buffer'))
    .update(hash('sha256', assertion.clientDataJson, 'buffer'))
    .update(assertion.signature)
    .digest();
  /** By public key: one request identifies its caller more than once. */
  const verdicts = new Map<string, boolean>();
  const holds = (row: AuthenticatorRow | undefined): boolean => {
    const publicKey = row?.publicKey ?? nobodysKey;
    const verdict = verdicts.get(publicKey) ?? isSignedBy(assertion, publicKey);
    verdicts.set(publicKey, verdict);
    return row !== undefined && verdict;
  };
  const { credentialId } = assertion;
  // Only the holder of a credential learns from an error that it exists.
  const unknown = (organizationId?: string) =>
    unauthenticated(
      `credential ID could not be found ${lookedThrough(organizationId)} credentialId=${credentialId}`,
      'CREDENTIAL_NOT_FOUND',
    );
  const holder: Proof['holder'] = (tx) => findAuthenticatorsAnywhere(tx, credentialId).find(holds);

  const against: Proof['against'] = (addressed) => {
    /** True once the count was compared: the request takes its time, and its passkey signs others meanwhile. */
    let isCounted = false;
    const verify = (tx: Reader): AuthenticatorRow => {
      const credential = findCredential(tx, addressed, {
        kind: 'credential ID',
        in: (organizationId) => findAuthenticator(tx, organizationId, credentialId),
        below: (organizationId) => findAuthenticatorsBelow(tx, organizationId, credentialId),
        holds,
        unknown: () => unknown(addressed.organizationId),
      });
      checkCeremony(ceremony, passkeyOrigins(tx, credential.organizationId));
      return credential;
    };
    return {
      identify: (tx) => {
        const credential = verify(tx);
        if (!isCounted) checkCount(credential, signCount, digest);
        isCounted = true;
        return callerOf(tx, credential, {
          publicKey: credential.publicKey,
          scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN',
          signature: header,
        });
      },
      // An authenticator without a counter leaves nothing to note: its assertion still signs these very bytes
      // alone.
      ...(signCount > 0 && {
        spend: (tx) => {
          const credential = verify(tx);
          checkCount(credential, signCount, digest);
          if (isSame(credential.lastAssertion, digest)) return;
          countAssertion(tx, credential.id, signCount, digest);
        },
      }),
    };
  };
  return { holder, against, unknown };
}

/** The parts of an assertion that need no database. */
interface Ceremony {
  readonly clientData: ClientData | undefined;
  readonly authenticatorData: AuthenticatorData | undefined;
  /** Base64url of the body's hash, which is signed as lowercase hex. */
  readonly challenge: string;
  readonly rpId: string;
}

function checkCeremony(
  { clientData, authenticatorData, challenge, rpId }: Ceremony,
  origins: readonly string[] | undefined,
): void {
  const fault = findFault(clientData, authenticatorData, {
    type: 'webauthn.get',
    isChallenge: (signed) => signed === challenge,
    otherwise: 'its challenge is not the hash of this body; stamp the body exactly as it is sent',
    rpId,
    origins,
  });
  if (fault !== undefined) throw refused(`${fault.field}: ${fault.problem}`);
}

const isSignedBy = (
  { authenticatorData, clientDataJson, signature }: Assertion,
  publicKey: string,
): boolean =>
  verifyCose(
    publicKey,
    signature,
    Buffer.concat([authenticatorData, hash('sha256', clientDataJson, 'buffer')]),
  );

/** An authenticator that counts never comes to the same number again; the very same assertion is a retry. */
function checkCount(credential: AuthenticatorRow, signCount: number, digest: Uint8Array): void {
  const { signCount: last, lastAssertion } = credential;
  if (signCount > last || (signCount === 0 && last === 0) || isSame(lastAssertion, digest)) return;
  throw refused(
    `authenticatorData: expected a sign count above ${last}, got ${signCount}; the authenticator may have been copied`,
  );
}

const isSame = (kept: Uint8Array | null, digest: Uint8Array): boolean =>
  kept !== null && Buffer.from(kept).equals(digest);

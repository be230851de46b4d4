/** Passkeys as the browser makes them (WebAuthn level 3), in the form that the API takes. */

import { fromBase64Url, toBase64Url, toHex } from '../../ui/text/bytes.ts';
import type { ActivityParameters } from '../../../main/operations/api.ts';
import { t } from '../../app/i18n/text.ts';

/** The one name that the window's page has; passkeys need a name. */
const windowHost = 'localhost';

/** ES256, RS256 and EdDSA (COSE algorithm numbers). */
const algorithms = [-7, -257, -8];

type NewAuthenticator =
  ActivityParameters<'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2'>['authenticators'][number];

type Transport = NonNullable<NewAuthenticator['attestation']['transports']>[number];

const transports: Readonly<Record<string, Transport>> = {
  ble: 'AUTHENTICATOR_TRANSPORT_BLE',
  internal: 'AUTHENTICATOR_TRANSPORT_INTERNAL',
  nfc: 'AUTHENTICATOR_TRANSPORT_NFC',
  usb: 'AUTHENTICATOR_TRANSPORT_USB',
  hybrid: 'AUTHENTICATOR_TRANSPORT_HYBRID',
};

/** Parameters of `create_authenticators` for one passkey beside its name; binary values are base64url. */
export type NewPasskey = Pick<NewAuthenticator, 'challenge' | 'attestation'>;

interface Owner {
  /** The host name of the vault's passkeys. */
  readonly rpId: string;
  readonly userId: string;
  readonly userName: string;
  /** Ids of the passkeys that the user has: a device makes one of its own only once. */
  readonly present: readonly BufferSource[];
}

/**
 * The reason why this page cannot create passkeys, and what to do instead; null when it can.
 * @param rpId The host name of the vault's passkeys: they work on its own pages and those of hosts below it.
 */
export function passkeyObstacle(
  { protocol, hostname, port }: Pick<Location, 'protocol' | 'hostname' | 'port'>,
  rpId: string,
): string | null {
  const inBrowser = /^https?:$/.test(protocol);
  if (inBrowser && (hostname === rpId || hostname.endsWith(`.${rpId}`))) {
    return 'PublicKeyCredential' in globalThis
      ? null
      : t('This browser doesn’t support passkeys. Use another browser.');
  }
  if (rpId !== windowHost) {
    return t(
      'This vault’s passkeys belong to {{rpId}}. Create them on https://{{rpId}} and register them through the API.',
      { rpId },
    );
  }
  if (!inBrowser) {
    return t('Passkeys need a browser. Run “keyhearth serve --ui”, then “keyhearth open”.');
  }
  return t(
    'Passkeys don’t work at {{hostname}}. Open http://{{rpId}}:{{port}} with the link from “keyhearth open”.',
    { hostname, rpId, port },
  );
}

/** @throws Error with words for a person, when none was created. */
export async function makePasskey({ rpId, userId, userName, present }: Owner): Promise<NewPasskey> {
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const credential = await navigator.credentials
    .create({
      publicKey: {
        rp: { id: rpId, name: 'Keyhearth' },
        user: { id: new TextEncoder().encode(userId), name: userName, displayName: userName },
        challenge,
        pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: present.map((id) => ({ type: 'public-key', id })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
        attestation: 'none',
      },
    })
    .catch((error: unknown) => {
      throw new Error(whyNot(error));
    });
  if (
    !(credential instanceof PublicKeyCredential) ||
    !(credential.response instanceof AuthenticatorAttestationResponse)
  ) {
    throw new Error('The browser answered with something that is no passkey.');
  }
  const { response } = credential;
  return {
    challenge: toBase64Url(challenge),
    attestation: {
      credentialId: toBase64Url(new Uint8Array(credential.rawId)),
      clientDataJson: toBase64Url(new Uint8Array(response.clientDataJSON)),
      attestationObject: toBase64Url(new Uint8Array(response.attestationObject)),
      transports: response.getTransports().flatMap((transport) => transports[transport] ?? []),
    },
  };
}

/** A request’s stamp by a passkey, and the passkey that made it. */
export interface PasskeyStamp {
  /** The value of `X-Stamp-Webauthn`. */
  readonly header: string;
  readonly credentialId: string;
}

/**
 * Has a passkey stamp a request.
 * @param body The exact text that is sent.
 * @param credentialId Base64url; undefined lets the person choose a passkey.
 * @throws Error with words for a person, when none was given.
 */
export async function stampWithPasskey(
  rpId: string,
  body: string,
  credentialId?: string,
): Promise<PasskeyStamp> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body));
  const credential = await navigator.credentials
    .get({
      publicKey: {
        rpId,
        challenge: new TextEncoder().encode(toHex(new Uint8Array(digest))),
        allowCredentials:
          credentialId === undefined ? [] : [{ type: 'public-key', id: fromBase64Url(credentialId) }],
        userVerification: 'preferred',
      },
    })
    .catch((error: unknown) => {
      throw new Error(
        error instanceof DOMException && error.name === 'NotAllowedError'
          ? t('The passkey was canceled or timed out. Retry.')
          : t('The browser used no passkey.'),
      );
    });
  if (
    !(credential instanceof PublicKeyCredential) ||
    !(credential.response instanceof AuthenticatorAssertionResponse)
  ) {
    throw new Error('The browser answered with something that is no passkey.');
  }
  const { response, rawId } = credential;
  const id = toBase64Url(new Uint8Array(rawId));
  const header = JSON.stringify({
    credentialId: id,
    authenticatorData: toBase64Url(new Uint8Array(response.authenticatorData)),
    clientDataJson: toBase64Url(new Uint8Array(response.clientDataJSON)),
    signature: toBase64Url(new Uint8Array(response.signature)),
  });
  return { header, credentialId: id };
}

function whyNot(error: unknown): string {
  if (!(error instanceof DOMException)) return t('The browser created no passkey.');
  switch (error.name) {
    case 'NotAllowedError':
      return t('Passkey creation was canceled or timed out. Retry.');
    case 'InvalidStateError':
      return t('This device already has a passkey for this user.');
    case 'NotSupportedError':
      return t('Keyhearth can’t verify this device’s passkeys.');
    default:
      return t('The browser created no passkey: {{message}}', { message: error.message });
  }
}

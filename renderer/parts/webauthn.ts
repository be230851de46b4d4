/** Passkeys as the browser makes them (WebAuthn level 3), in the form that the API takes. */

import { toBase64Url } from './bytes.ts';

/** Passkeys of a vault belong to this name, whatever its port. */
const relyingParty = { id: 'localhost', name: 'Latchkey' };

/** ES256, RS256 and EdDSA (COSE algorithm numbers). */
const algorithms = [-7, -257, -8];

const transports: Readonly<Record<string, string>> = {
  ble: 'AUTHENTICATOR_TRANSPORT_BLE',
  internal: 'AUTHENTICATOR_TRANSPORT_INTERNAL',
  nfc: 'AUTHENTICATOR_TRANSPORT_NFC',
  usb: 'AUTHENTICATOR_TRANSPORT_USB',
  hybrid: 'AUTHENTICATOR_TRANSPORT_HYBRID',
};

/** What `create_authenticators` takes of one passkey beside its name; binary values are base64url. */
export interface NewPasskey {
  readonly challenge: string;
  readonly attestation: {
    readonly credentialId: string;
    readonly clientDataJson: string;
    readonly attestationObject: string;
    readonly transports: readonly string[];
  };
}

interface Owner {
  readonly userId: string;
  readonly userName: string;
  /** Ids of the passkeys that the user has: a device makes one of its own only once. */
  readonly present: readonly BufferSource[];
}

/** Why this page cannot make passkeys, and what to do instead; null when it can. */
export function passkeyObstacle(page: Pick<Location, 'protocol' | 'hostname' | 'port'>): string | null {
  if (!/^https?:$/.test(page.protocol)) {
    return 'Passkeys are made in a browser: start Latchkey with --ui, run “latchkey open”, and come back to this page there.';
  }
  if (page.hostname !== relyingParty.id) {
    return `Browsers make no passkeys for ${page.hostname}: open this window at http://localhost:${page.port}, with the link that “latchkey open” gives.`;
  }
  return 'PublicKeyCredential' in globalThis
    ? null
    : 'This browser knows no passkeys. Open this window in another one.';
}

/** @throws Error with words for a person, when none was made. */
export async function makePasskey({ userId, userName, present }: Owner): Promise<NewPasskey> {
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const credential = await navigator.credentials
    .create({
      publicKey: {
        rp: relyingParty,
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

function whyNot(error: unknown): string {
  if (!(error instanceof DOMException)) return 'The browser made no passkey.';
  switch (error.name) {
    case 'NotAllowedError':
      return 'The browser made no passkey: it was cancelled, or took too long. Try again when you are ready.';
    case 'InvalidStateError':
      return 'This device or key has a passkey of this user already.';
    case 'NotSupportedError':
      return 'This device or key makes no passkeys of a kind that Latchkey can check.';
    default:
      return `The browser made no passkey: ${error.message}`;
  }
}

/** Code that the tests of passkeys run in the page: the SDK, as an app would use it. */
import { getWebAuthnAttestation, TurnkeyClient } from '@turnkey/http';
import { WebauthnStamper } from '@turnkey/webauthn-stamper';

type Json = Record<string, unknown>;

/** Makes a passkey, and writes it as an element of `authenticators`. */
export async function makePasskey(rpId: string, attestation: AttestationConveyancePreference): Promise<Json> {
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const made = await getWebAuthnAttestation({
    publicKey: {
      rp: { id: rpId, name: 'Tests' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: 'Root', displayName: 'Root' },
      challenge,
      attestation,
      pubKeyCredParams: [
        { type: 'public-key', alg: -7 },
        { type: 'public-key', alg: -257 },
      ],
    },
  });
  const text = btoa(String.fromCharCode(...challenge));
  return {
    authenticatorName: 'Of the browser',
    challenge: text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
    attestation: made,
  };
}

function clientOf(credentialId: string): TurnkeyClient {
  const text = atob(credentialId.replaceAll('-', '+').replaceAll('_', '/'));
  const id = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stamper = new WebauthnStamper({ rpId: 'localhost', allowCredentials: [{ type: 'public-key', id }] });
  return new TurnkeyClient({ baseUrl: location.origin }, stamper);
}

/** A query by passkey. */
export async function whoami(organizationId: string, credentialId: string): Promise<Json> {
  return { ...(await clientOf(credentialId).getWhoami({ organizationId })) };
}

/** Two activities by passkey. */
export async function makeWalletAndSign(
  organizationId: string,
  credentialId: string,
  account: {
    readonly curve: 'CURVE_SECP256K1';
    readonly pathFormat: 'PATH_FORMAT_BIP32';
    readonly path: string;
    readonly addressFormat: 'ADDRESS_FORMAT_ETHEREUM';
  },
): Promise<Json> {
  const client = clientOf(credentialId);
  const envelope = <Type extends string>(type: Type) => ({
    type,
    organizationId,
    timestampMs: String(Date.now()),
  });
  const wallet = await client.createWallet({
    ...envelope('ACTIVITY_TYPE_CREATE_WALLET'),
    parameters: { walletName: 'By a passkey', accounts: [account] },
  });
  const signed = await client.signRawPayload({
    ...envelope('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'),
    parameters: {
      signWith: wallet.activity.result.createWalletResult?.addresses[0] ?? '',
      payload: 'signed with a passkey',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_SHA256',
    },
  });
  return { ...signed.activity.result.signRawPayloadResult };
}

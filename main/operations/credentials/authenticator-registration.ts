/** Parameters of an authenticator, checking one and adding it to a user. */
import { z } from 'zod';
import type { ActivityContext, GatherContext } from '../../activities/define.ts';
import { isSameCoseKey } from '../../crypto/keys/cose-keys.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import {
  countAuthenticatorsOfUser,
  findAuthenticator,
  findAuthenticatorsBelow,
  insertAuthenticator,
  type AuthenticatorRow,
} from '../../storage/tables/authenticators.ts';
import { passkeyOrigins } from '../../storage/tables/passkey-origins.ts';
import { defined } from '../../lib/defined.ts';
import { base64Text } from '../../lib/web/web-authentication.ts';
import { verifyAttestation, type AttestedCredential, type RelyingParty } from './attestations.ts';
import { checkUnclaimed } from './credential-claims.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, id, name } from '../shared/parameters.ts';
import { authenticatorTransports } from '../shared/resources.ts';

const base64url = (characters: number) => z.string().max(characters).regex(base64Text, 'Expected base64url');

/** WebAuthn's longest credential id has 1023 bytes, and three more in CBOR. */
const credentialId = base64url(1368);
const clientDataJson = base64url(8192);
/** Room for chains of certificates. */
const attestationObject = base64url(65_536);
const transports = z.array(z.enum(authenticatorTransports)).max(2 * authenticatorTransports.length);
const challenge = z.string().min(1).max(256);

/** An authenticator as requests name one. */
export const authenticatorParams = z.object({
  authenticatorName: name,
  challenge,
  attestation: z.object({
    credentialId,
    clientDataJson,
    attestationObject,
    transports: transports.default([]),
  }),
});

export type AuthenticatorParams = z.output<typeof authenticatorParams>;

const authenticatorAttachment = z.enum(['cross-platform', 'platform']).nullish();

/** As browsers write a new credential: the first version, and what the specification's intents hold. */
export const browserAuthenticatorParams = z.object({
  authenticatorName: name,
  userId: id,
  challenge,
  attestation: z.object({
    id: credentialId,
    type: z.literal('public-key'),
    rawId: credentialId,
    authenticatorAttachment,
    response: z.object({
      clientDataJson,
      attestationObject,
      transports: transports.optional(),
      authenticatorAttachment,
    }),
    clientExtensionResults: z.object({
      appid: z.boolean().optional(),
      appidExclude: z.boolean().optional(),
      credProps: z.object({ rk: z.boolean().optional() }).optional(),
    }),
  }),
});

export const fromBrowser = ({
  authenticatorName,
  challenge: given,
  attestation: { rawId, response },
}: Omit<z.output<typeof browserAuthenticatorParams>, 'userId'>): AuthenticatorParams => ({
  authenticatorName,
  challenge: given,
  attestation: {
    credentialId: rawId,
    clientDataJson: response.clientDataJson,
    attestationObject: response.attestationObject,
    transports: response.transports ?? [],
  },
});

/**
 * The specification's intent of an authenticator, as browsers write one. Fields that today's requests lack
 * follow from the transports, and are false if they cannot.
 * @param userId Absent if the same activity creates the user and has not done so yet.
 */
export function specifiedAuthenticator(
  { authenticatorName, challenge: given, attestation }: AuthenticatorParams,
  userId: string | undefined,
): Readonly<Record<string, unknown>> {
  const attachment = attestation.transports.includes('AUTHENTICATOR_TRANSPORT_INTERNAL')
    ? 'platform'
    : 'cross-platform';
  return {
    authenticatorName,
    ...defined({ userId }),
    challenge: given,
    attestation: {
      id: attestation.credentialId,
      type: 'public-key',
      rawId: attestation.credentialId,
      authenticatorAttachment: attachment,
      response: {
        clientDataJson: attestation.clientDataJson,
        attestationObject: attestation.attestationObject,
        transports: attestation.transports,
        authenticatorAttachment: attachment,
      },
      clientExtensionResults: { appid: false, appidExclude: false, credProps: { rk: false } },
    },
  };
}

/** An authenticator whose attestation holds. */
export interface VerifiedAuthenticator extends AttestedCredential {
  readonly name: string;
  readonly transports: AuthenticatorParams['attestation']['transports'];
}

/** The relying party of an organization, gathered before attestations are checked. */
export const relyingParty = ({
  tx,
  organizationId,
  rpId,
}: Pick<GatherContext<unknown>, 'tx' | 'organizationId' | 'rpId'>): RelyingParty => ({
  rpId,
  origins: passkeyOrigins(tx, organizationId),
});

/**
 * Checks the attestations of authenticators, before the transaction that adds them.
 * @param at The name of `authenticators` in the request, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT naming the field.
 */
export async function verifyAuthenticators(
  party: RelyingParty,
  authenticators: readonly AuthenticatorParams[],
  at: string,
): Promise<readonly VerifiedAuthenticator[]> {
  const verified: VerifiedAuthenticator[] = [];
  // One after another, so that the first that fails is the one that is named.
  for (const [index, { authenticatorName, challenge: given, attestation }] of authenticators.entries()) {
    const credential = await verifyAttestation(given, attestation, party, `${at}[${index}].attestation`);
    verified.push({ ...credential, name: authenticatorName, transports: attestation.transports });
  }
  return verified;
}

/**
 * Registers authenticators for a user.
 * @param at The name of `authenticators` in the request, for errors.
 * @returns the ids of the new authenticators, in order.
 */
export function addAuthenticators(
  context: Pick<ActivityContext<unknown>, 'tx' | 'organizationId' | 'caller' | 'random' | 'now'>,
  userId: string,
  authenticators: readonly VerifiedAuthenticator[],
  at: string,
): string[] {
  const { tx, organizationId, random, now } = context;
  const present = countAuthenticatorsOfUser(tx, userId);
  checkLimit(tx, 'authenticators', present, authenticators.length, limits.authenticatorsPerUser);
  return authenticators.map((authenticator, index) => {
    const { credentialId, publicKey } = authenticator;
    // Registering the same id with another key takes nothing from its owner: the assertion distinguishes the
    // two.
    const isThis = (row: AuthenticatorRow): boolean =>
      row.organizationId === organizationId || isSameCoseKey(row.publicKey, publicKey);
    checkUnclaimed(
      context,
      {
        in(id) {
          const row = findAuthenticator(tx, id, credentialId);
          return row !== undefined && isThis(row) ? row : undefined;
        },
        below: (id) => findAuthenticatorsBelow(tx, id, credentialId).filter(isThis),
      },
      `${at}[${index}].attestation.credentialId`,
    );
    const row: AuthenticatorRow = {
      id: uuidV4(random('authenticator', 16)),
      organizationId,
      userId,
      name: authenticator.name,
      credentialId: authenticator.credentialId,
      publicKey: authenticator.publicKey,
      attestationType: authenticator.format,
      aaguid: authenticator.aaguid,
      model: isPasskey(authenticator) ? 'Passkey' : 'Security key',
      transports: JSON.stringify(authenticator.transports),
      signCount: authenticator.signCount,
      lastAssertion: null,
      createdAt: now,
      updatedAt: now,
    };
    insertAuthenticator(tx, row);
    return row.id;
  });
}

/** True for a passkey of a phone, a computer or a password manager, as opposed to a security key. */
const isPasskey = ({ transports: given, multiDevice }: VerifiedAuthenticator): boolean =>
  multiDevice ||
  given.some((transport) =>
    ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'].includes(transport),
  );

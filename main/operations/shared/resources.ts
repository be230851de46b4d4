/** Resources in answers, and the parts of results that several operations share. */
import { z } from 'zod';
import type { ActivityEnvelope } from '../../activities/define.ts';
import { addressFormats } from '../../chains/addresses/addresses.ts';
import { curves, type Curve } from '../../crypto/keys/curves.ts';

const curve = z.enum(Object.keys(curves) as [Curve, ...Curve[]]);
const addressFormat = z.enum(addressFormats);

/** Seconds since the epoch, in digits, and nanoseconds beyond them. */
export const timestamp = z.object({ seconds: z.string(), nanos: z.string() }).meta({ id: 'Timestamp' });

const dated = { createdAt: timestamp, updatedAt: timestamp };

export const uuid = z.uuid();
export const uuids = z.array(z.uuid());

/** A token in a result that every holder can use: the log keeps it for the credential that asked. */
export const secretToken = z.string().meta({ format: 'password' });

const credentialTypes = [
  'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
  'CREDENTIAL_TYPE_API_KEY_P256',
  'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
  'CREDENTIAL_TYPE_API_KEY_SECP256K1',
  'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_API_KEY_ED25519',
  'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
  'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
  'CREDENTIAL_TYPE_OAUTH_KEY_P256',
  'CREDENTIAL_TYPE_LOGIN',
] as const;

const credential = z
  .object({ publicKey: z.string(), type: z.enum(credentialTypes), sessionProfileId: uuid.optional() })
  .meta({ id: 'Credential' });

export const authenticatorTransports = [
  'AUTHENTICATOR_TRANSPORT_BLE',
  'AUTHENTICATOR_TRANSPORT_INTERNAL',
  'AUTHENTICATOR_TRANSPORT_NFC',
  'AUTHENTICATOR_TRANSPORT_USB',
  'AUTHENTICATOR_TRANSPORT_HYBRID',
] as const;

export const shownAuthenticator = z
  .object({
    transports: z.array(z.enum(authenticatorTransports)),
    attestationType: z.string(),
    aaguid: z.string(),
    credentialId: z.string(),
    model: z.string(),
    credential,
    authenticatorId: uuid,
    authenticatorName: z.string(),
    ...dated,
  })
  .meta({ id: 'Authenticator' });

export const shownApiKey = z
  .object({
    credential,
    apiKeyId: uuid,
    apiKeyName: z.string(),
    ...dated,
    expirationSeconds: z.string().optional(),
  })
  .meta({ id: 'ApiKey' });

export const shownOauthProvider = z
  .object({
    providerId: uuid,
    providerName: z.string(),
    issuer: z.string(),
    audience: z.string(),
    subject: z.string(),
    ...dated,
  })
  .meta({ id: 'OauthProvider' });

export const shownUser = z
  .object({
    userId: uuid,
    userName: z.string(),
    userEmail: z.string().optional(),
    userPhoneNumber: z.string().optional(),
    authenticators: z.array(shownAuthenticator),
    apiKeys: z.array(shownApiKey),
    userTags: uuids,
    oauthProviders: z.array(shownOauthProvider),
    mfaPolicies: z.array(z.never()),
    ...dated,
  })
  .meta({ id: 'User' });

/** A session that has not ended; one that may only read has no credential. */
export const shownSession = z
  .object({
    sessionId: uuid,
    userId: uuid,
    sessionType: z.enum(['SESSION_TYPE_READ_WRITE', 'SESSION_TYPE_READ_ONLY']),
    sessionName: z.string(),
    credential: credential.optional(),
    createdAt: timestamp,
    expiresAt: timestamp,
    lastUsedAt: timestamp.optional(),
  })
  .meta({ id: 'Session' });

/** When a credential, or a session, last proved a request. */
export const shownCredentialUse = z
  .object({ credentialId: uuid, lastUsedAt: timestamp })
  .meta({ id: 'CredentialUse' });

/** An address in one of a key's formats. */
export const shownAddress = z.object({ format: addressFormat, address: z.string() }).meta({ id: 'Address' });

export const shownPrivateKey = z
  .object({
    privateKeyId: uuid,
    publicKey: z.string(),
    privateKeyName: z.string(),
    curve,
    addresses: z.array(shownAddress),
    privateKeyTags: uuids,
    ...dated,
    exported: z.boolean(),
    imported: z.boolean(),
  })
  .meta({ id: 'PrivateKey' });

export const shownWallet = z
  .object({
    walletId: uuid,
    walletName: z.string(),
    ...dated,
    exported: z.boolean(),
    imported: z.boolean(),
  })
  .meta({ id: 'Wallet' });

export const shownWalletAccount = z
  .object({
    walletAccountId: uuid,
    organizationId: uuid,
    walletId: uuid,
    curve,
    pathFormat: z.literal('PATH_FORMAT_BIP32'),
    path: z.string(),
    addressFormat,
    address: z.string(),
    ...dated,
    publicKey: z.string(),
    walletDetails: shownWallet.optional(),
    name: z.string().optional(),
  })
  .meta({ id: 'WalletAccount' });

export const shownTag = z
  .object({
    tagId: uuid,
    tagName: z.string(),
    tagType: z.enum(['TAG_TYPE_USER', 'TAG_TYPE_PRIVATE_KEY']),
    ...dated,
  })
  .meta({ id: 'Tag' });

export const shownPolicy = z
  .object({
    policyId: uuid,
    policyName: z.string(),
    effect: z.enum(['EFFECT_ALLOW', 'EFFECT_DENY']),
    ...dated,
    notes: z.string(),
    consensus: z.string(),
    condition: z.string(),
    time: z.string().optional(),
  })
  .meta({ id: 'Policy' });

export const smartContractInterfaceTypes = [
  'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
] as const;

export const shownSmartContractInterface = z
  .object({
    organizationId: uuid,
    smartContractInterfaceId: uuid,
    smartContractAddress: z.string(),
    smartContractInterface: z.string(),
    type: z.enum(smartContractInterfaceTypes),
    label: z.string(),
    notes: z.string(),
    ...dated,
  })
  .meta({ id: 'SmartContractInterface' });

export const shownPolicyEvaluation = z
  .object({
    id: uuid,
    activityId: uuid,
    organizationId: uuid,
    voteId: uuid,
    policyEvaluations: z.array(
      z.object({
        policyId: uuid,
        outcome: z.enum([
          'OUTCOME_ALLOW',
          'OUTCOME_DENY_EXPLICIT',
          'OUTCOME_DENY_IMPLICIT',
          'OUTCOME_REQUIRES_CONSENSUS',
          'OUTCOME_ERROR',
          'OUTCOME_TIME_INACTIVE',
        ]),
      }),
    ),
    createdAt: timestamp,
  })
  .meta({ id: 'PolicyEvaluation' });

export const shownPolicyStatus = z
  .object({
    organizationId: uuid,
    policyId: uuid,
    active: z.boolean(),
    timeExpr: z.string().optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'PolicyStatus' });

export const featureNames = [
  'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY',
  'FEATURE_NAME_WEBAUTHN_ORIGINS',
  'FEATURE_NAME_EMAIL_AUTH',
  'FEATURE_NAME_EMAIL_RECOVERY',
  'FEATURE_NAME_WEBHOOK',
  'FEATURE_NAME_SMS_AUTH',
  'FEATURE_NAME_OTP_EMAIL_AUTH',
] as const;

export const shownFeature = z
  .object({ name: z.enum(featureNames), value: z.string() })
  .meta({ id: 'Feature' });

const shownSubscription = z
  .object({ eventType: z.string(), filtersJson: z.string().optional(), isActive: z.boolean() })
  .meta({ id: 'WebhookSubscription' });

export const shownWebhookEndpoint = z
  .object({
    endpointId: uuid,
    organizationId: uuid,
    url: z.string(),
    name: z.string(),
    isActive: z.boolean(),
    subscriptions: z.array(shownSubscription),
  })
  .meta({ id: 'WebhookEndpoint' });

/** An event on its way to a webhook endpoint, or its outcome. */
export const shownDelivery = z
  .object({
    deliveryId: uuid,
    endpointId: uuid,
    activityId: uuid,
    activityType: z.string(),
    activityStatus: z.string(),
    state: z.enum(['waiting', 'delivered', 'refused', 'parked']),
    attempts: z.int(),
    lastResult: z.string().optional(),
    nextAttemptAt: timestamp.optional(),
    finishedAt: timestamp.optional(),
    createdAt: timestamp,
  })
  .meta({ id: 'WebhookDelivery' });

export const shownQuorum = z.object({ threshold: z.int(), userIds: uuids }).meta({ id: 'Quorum' });

export const shownOrganizationData = z
  .object({
    organizationId: uuid,
    name: z.string(),
    users: z.array(shownUser),
    policies: z.array(shownPolicy),
    privateKeys: z.array(shownPrivateKey),
    invitations: z.array(z.never()),
    tags: z.array(shownTag),
    rootQuorum: shownQuorum,
    features: z.array(shownFeature),
    wallets: z.array(shownWallet),
    smartContractInterfaceReferences: z.array(
      z.object({ smartContractInterfaceId: uuid, smartContractAddress: z.string(), digest: z.string() }),
    ),
  })
  .meta({ id: 'OrganizationData' });

/** An activity as every submit answers one; what describes the API knows its form from the operations. */
export const shownActivity = z
  .record(z.string(), z.unknown())
  .meta({ id: 'Activity' }) as unknown as z.ZodType<ActivityEnvelope>;

export const shownSignature = z
  .object({ r: z.string(), s: z.string(), v: z.string() })
  .meta({ id: 'Signature' });

/** Sub-organizations: organizations of their own, with users, keys and policies, that a parent makes and may read. */
import { z } from 'zod';
import { activity, older, query } from '../../activities/define.ts';
import { checksumAddress } from '../../chains/addresses/ethereum.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import type { Writer } from '../../storage/connection.ts';
import { setFeature } from '../../storage/tables/features.ts';
import { getOrganization, insertOrganization } from '../../storage/tables/organizations.ts';
import { getAnySecretId } from '../../storage/tables/secrets.ts';
import { listPrivateKeyRows } from '../../storage/tables/private-keys.ts';
import {
  deleteOrganization,
  listSubOrganizationIds,
  type SubOrganizationFilter,
} from '../../storage/tables/sub-organizations.ts';
import { listRootUserIds } from '../../storage/tables/users.ts';
import { listWalletRows } from '../../storage/tables/wallets.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { parsePlainJson } from '../../lib/plain-json.ts';
import { withP256 } from '../credentials/api-key-registration.ts';
import { authenticatorParams, relyingParty } from '../credentials/authenticator-registration.ts';
import { limits } from '../shared/limits.ts';
import { orNotFound, name, notExported, page, pagination, quorumThreshold } from '../shared/parameters.ts';
import { makePrivateKeys, privateKeyParams } from '../private-keys/private-key-registration.ts';
import { type featureNames, shownAddress, uuid, uuids } from '../shared/resources.ts';
import { proveContact } from './sign-up.ts';
import {
  addUsers,
  newUserParams,
  p256ApiKeys,
  provenOauthProviders,
  verifyNewUsers,
} from '../users/user-registration.ts';
import { clientSignature, verificationToken } from '../sign-in/verification-tokens.ts';
import { makeWallet, walletParams } from '../wallets/wallet-registration.ts';

const organizationOf = <Schema extends z.ZodType>(rootUser: Schema) =>
  z.object({
    subOrganizationName: name,
    rootUsers: z.array(rootUser).min(1).max(limits.usersPerOrganization),
    rootQuorumThreshold: quorumThreshold,
  });

const optionalWallet = { wallet: walletParams.optional() };
const emailSwitches = {
  disableEmailRecovery: z.boolean().optional(),
  disableEmailAuth: z.boolean().optional(),
};
const otherSwitches = {
  disableSmsAuth: z.boolean().optional(),
  disableOtpEmailAuth: z.boolean().optional(),
};
const verification = {
  verificationToken: verificationToken.optional(),
  clientSignature: clientSignature.optional(),
};

/** Root users as clients sent them before each of the newer credentials was there. */
const rootUsers = {
  V7: newUserParams.extend({ oauthProviders: provenOauthProviders.default([]) }),
  V6: newUserParams
    .omit({ userPhoneNumber: true })
    .extend({ oauthProviders: provenOauthProviders.default([]) }),
  V5: newUserParams
    .omit({ userPhoneNumber: true })
    .extend({ apiKeys: p256ApiKeys, oauthProviders: provenOauthProviders.default([]) }),
  V4: newUserParams.omit({ userPhoneNumber: true, oauthProviders: true }).extend({ apiKeys: p256ApiKeys }),
};

const withoutProviders = (user: z.output<typeof rootUsers.V4>) => ({
  ...user,
  apiKeys: user.apiKeys.map(withP256),
  oauthProviders: [],
});

const params = organizationOf(newUserParams).extend({
  ...optionalWallet,
  ...emailSwitches,
  ...otherSwitches,
  ...verification,
});

type Params = z.output<typeof params>;

/** One earlier type could ask for private keys instead of a wallet; no newer one can. */
type KeyParams = Params & { readonly privateKeys?: readonly z.output<typeof privateKeyParams>[] };

type FeatureName = (typeof featureNames)[number];

/** Ways to sign in that users of a sub-organization have, unless it is created without them. */
const signInFeatures = [
  ['FEATURE_NAME_EMAIL_AUTH', 'disableEmailAuth'],
  ['FEATURE_NAME_EMAIL_RECOVERY', 'disableEmailRecovery'],
  ['FEATURE_NAME_SMS_AUTH', 'disableSmsAuth'],
  ['FEATURE_NAME_OTP_EMAIL_AUTH', 'disableOtpEmailAuth'],
] as const satisfies readonly (readonly [FeatureName, keyof Params])[];

export const createSubOrganization = activity({
  path: 'create_sub_organization',
  summary: 'Makes a sub-organization with its root users and, if asked, a wallet.',
  title: 'Create a sub-organization',
  type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
  intent: 'createSubOrganizationIntentV8',
  result: 'createSubOrganizationResultV8',
  params,
  returns: z.object({
    subOrganizationId: uuid,
    wallet: z.object({ walletId: uuid, addresses: z.array(z.string()) }).optional(),
    /** For the one earlier type that could ask for them. */
    privateKeys: z.array(z.object({ privateKeyId: uuid, addresses: z.array(shownAddress) })).optional(),
    rootUserIds: uuids.optional(),
  }),
  authority: { resource: 'ORGANIZATION', action: 'CREATE', changesRights: true },
  accepts: {
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: older({
      intent: 'createSubOrganizationIntentV7',
      result: 'createSubOrganizationResultV7',
      params: organizationOf(rootUsers.V7).extend({
        ...optionalWallet,
        ...emailSwitches,
        ...otherSwitches,
        ...verification,
      }),
      upgrade: (value): Params => value,
    }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: older({
      intent: 'createSubOrganizationIntentV6',
      result: 'createSubOrganizationResultV6',
      params: organizationOf(rootUsers.V6).extend({ ...optionalWallet, ...emailSwitches }),
      upgrade: (value): Params => value,
    }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: older({
      intent: 'createSubOrganizationIntentV5',
      result: 'createSubOrganizationResultV5',
      params: organizationOf(rootUsers.V5).extend({ ...optionalWallet, ...emailSwitches }),
      upgrade: (value): Params => ({
        ...value,
        rootUsers: value.rootUsers.map((user) => ({ ...user, apiKeys: user.apiKeys.map(withP256) })),
      }),
    }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: older({
      intent: 'createSubOrganizationIntentV4',
      result: 'createSubOrganizationResultV4',
      params: organizationOf(rootUsers.V4).extend({ ...optionalWallet, ...emailSwitches }),
      upgrade: (value): Params => ({ ...value, rootUsers: value.rootUsers.map(withoutProviders) }),
    }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: older({
      intent: 'createSubOrganizationIntentV3',
      result: 'createSubOrganizationResultV3',
      params: organizationOf(rootUsers.V4).extend({
        privateKeys: z.array(privateKeyParams).max(limits.batch),
      }),
      upgrade: (value): KeyParams => ({ ...value, rootUsers: value.rootUsers.map(withoutProviders) }),
    }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: older({
      intent: 'createSubOrganizationIntentV2',
      result: 'createSubOrganizationResult',
      params: organizationOf(rootUsers.V4),
      upgrade: (value): Params => ({ ...value, rootUsers: value.rootUsers.map(withoutProviders) }),
    }),
    ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION: older({
      intent: 'createSubOrganizationIntent',
      result: 'createSubOrganizationResult',
      params: z.object({ name, rootAuthenticator: authenticatorParams }),
      upgrade: (value): Params => ({
        subOrganizationName: value.name,
        rootUsers: [
          {
            // That type has no name for its one user.
            userName: 'Root user',
            apiKeys: [],
            authenticators: [value.rootAuthenticator],
            oauthProviders: [],
          },
        ],
        rootQuorumThreshold: 1,
      }),
    }),
  },
  gather: relyingParty,
  prepare: (context) => verifyNewUsers(context, context.params.rootUsers, 'parameters.rootUsers'),
  run(context) {
    const { tx, organizationId: parentId, prepared, random, now } = context;
    const { privateKeys, wallet, ...wanted }: KeyParams = context.params;
    if (getOrganization(tx, parentId)?.parentId !== null) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'invalid organizationId: a sub-organization has no sub-organizations of its own; name its parent',
      );
    }
    const users = wanted.rootUsers;
    if (wanted.rootQuorumThreshold > users.length) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        `invalid parameters.rootQuorumThreshold: expected at most ${users.length}, the number of root users, got ${wanted.rootQuorumThreshold}`,
      );
    }
    checkWaysIn(wanted);
    const organizationId = uuidV4(random('organization', 16));
    const times = { createdAt: now, updatedAt: now };
    insertOrganization(tx, {
      id: organizationId,
      parentId,
      name: wanted.subOrganizationName,
      rootQuorumThreshold: wanted.rootQuorumThreshold,
      ...times,
    });
    for (const [feature, without] of signInFeatures) {
      if (wanted[without] !== true) setFeature(tx, organizationId, { name: feature, value: '' }, now);
    }
    const inside = { ...context, organizationId };
    const rootUserIds = addUsers(inside, users, prepared, 'parameters.rootUsers', true);
    proveContact({ tx, parentId, organizationId, now }, wanted);
    return {
      subOrganizationId: organizationId,
      ...(wallet && { wallet: makeWallet(inside, wallet, 'parameters.wallet') }),
      ...(privateKeys && { privateKeys: makePrivateKeys(inside, privateKeys) }),
      rootUserIds,
    };
  },
});

/** Refuses a root user without a way in: that user could do nothing, and no other user could help. */
function checkWaysIn(wanted: Params): void {
  const byEmail =
    wanted.disableEmailAuth !== true ||
    wanted.disableEmailRecovery !== true ||
    wanted.disableOtpEmailAuth !== true;
  wanted.rootUsers.forEach((user, index) => {
    const hasWayIn =
      user.apiKeys.length > 0 ||
      user.authenticators.length > 0 ||
      user.oauthProviders.length > 0 ||
      (user.userEmail !== undefined && byEmail) ||
      (user.userPhoneNumber !== undefined && wanted.disableSmsAuth !== true);
    if (hasWayIn) return;
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `user missing valid credential: parameters.rootUsers[${index}] needs an API key, an authenticator or an OAuth provider, or an email address or phone number that may be signed in with`,
    );
  });
}

export const deleteSubOrganization = activity({
  path: 'delete_sub_organization',
  summary: 'Deletes the sub-organization that the request names, with all that it holds.',
  title: 'Delete the sub-organization',
  type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
  intent: 'deleteSubOrganizationIntent',
  result: 'deleteSubOrganizationResult',
  params: z.object({ deleteWithoutExport: z.boolean().optional() }),
  returns: z.object({ subOrganizationUuid: uuid }),
  // It takes the root users away with all that they sign in with.
  authority: {
    resource: 'ORGANIZATION',
    action: 'DELETE',
    concerns: ({ tx, organizationId }) => listRootUserIds(tx, organizationId),
  },
  run({ tx, organizationId, params: { deleteWithoutExport } }) {
    const organization = orNotFound(
      getOrganization(tx, organizationId),
      'no organization found with the given ID',
    );
    if (organization.parentId === null) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'invalid organizationId: expected a sub-organization, got the organization of the vault itself',
      );
    }
    if (deleteWithoutExport !== true) checkExported(tx, organizationId);
    deleteOrganization(tx, organizationId);
    return { subOrganizationUuid: organizationId };
  },
});

/** @throws KeyhearthError INVALID_ARGUMENT naming what would be lost. */
function checkExported(tx: Writer, organizationId: string): void {
  const wallet = listWalletRows(tx, organizationId).find(({ exported }) => exported === 0);
  if (wallet !== undefined) throw notExported('wallet', wallet.id);
  const key = listPrivateKeyRows(tx, organizationId).find(({ exported }) => exported === 0);
  if (key !== undefined) throw notExported('private key', key.id);
  // Nothing says of a secret whether another copy is left.
  const secretId = getAnySecretId(tx, organizationId);
  if (secretId !== undefined) throw notExported('secret', secretId);
}

/** The names of a filter, with what the database looks for by each. */
const filters: Readonly<Record<string, (value: string) => SubOrganizationFilter>> = {
  NAME: (value) => ['name', value],
  USERNAME: (value) => ['userName', value],
  EMAIL: (value) => ['email', value],
  PHONE_NUMBER: (value) => ['phoneNumber', value],
  // Kept in one of the forms that base64 has.
  CREDENTIAL_ID: (value) => ['credentialId', Buffer.from(value, 'base64url').toString('base64url')],
  PUBLIC_KEY: (value) => ['publicKey', value.toLowerCase()],
  OIDC_TOKEN: (value) => ['identity', ...identityOf(value)],
  WALLET_ACCOUNT_ADDRESS: (value) => ['walletAccountAddress', asKept(value)],
};

/** Ethereum addresses are kept with their checksum, and written in any case. */
const asKept = (address: string): string =>
  /^0x[0-9a-f]{40}$/i.test(address)
    ? checksumAddress(new Uint8Array(Buffer.from(address.slice(2), 'hex')))
    : address;

const verifiedFilters: typeof filters = {
  EMAIL: (value) => ['verifiedEmail', value],
  PHONE_NUMBER: (value) => ['verifiedPhoneNumber', value],
};

const largestFilter = 16_384;

const filterParams = (names: typeof filters) =>
  z.object({
    filterType: z.enum(['', ...Object.keys(names)]).optional(),
    // It may be a token: an error does not repeat it.
    filterValue: z
      .string()
      .refine(({ length }) => length <= largestFilter, {
        error: `Expected at most ${largestFilter} characters`,
        params: { secret: true },
      })
      .meta({ format: 'password' })
      .optional(),
    paginationOptions: pagination,
  });

function filterOf(
  names: typeof filters,
  everything: SubOrganizationFilter,
  { filterType = '', filterValue = '' }: Omit<z.output<ReturnType<typeof filterParams>>, 'paginationOptions'>,
): SubOrganizationFilter {
  const by = names[filterType];
  if (by !== undefined && filterValue !== '') return by(filterValue);
  if (by === undefined && filterValue === '') return everything;
  throw new KeyhearthError(
    'INVALID_ARGUMENT',
    'invalid filterType, filterValue: expected both, or neither for all sub-organizations',
  );
}

/** The claims that a user is known by. The caller may read every user, so the token need not be proven. */
function identityOf(token: string): [issuer: string, audience: string, subject: string] {
  const claims = z
    .object({
      iss: z.string(),
      aud: z.union([z.string(), z.array(z.string())]),
      azp: z.string().optional(),
      sub: z.string(),
    })
    .safeParse(payloadOf(token));
  if (!claims.success) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      'invalid filterValue: expected an ID token, a JWT with the claims iss, aud and sub',
      { turnkeyErrorCode: 'INVALID_OIDC_TOKEN' },
    );
  }
  const { iss, aud, azp, sub } = claims.data;
  const [only = '', another] = typeof aud === 'string' ? [aud] : aud;
  return [iss, another === undefined ? only : (azp ?? only), sub];
}

function payloadOf(token: string): unknown {
  try {
    return parsePlainJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

const returns = z.object({ organizationIds: uuids });
const unknownCursor =
  'invalid paginationOptions: after and before name a sub-organization of this organization';

export const getSubOrganizationIds = query({
  path: 'list_suborgs',
  summary: 'Lists the sub-organizations, or those that have a name, a user or a credential.',
  params: filterParams(filters),
  returns,
  run: ({ tx, organizationId, params: { paginationOptions, ...filter } }) => ({
    organizationIds: orNotFound(
      listSubOrganizationIds(tx, organizationId, filterOf(filters, ['all'], filter), page(paginationOptions)),
      unknownCursor,
    ),
  }),
});

export const getVerifiedSubOrganizationIds = query({
  path: 'list_verified_suborgs',
  summary: 'Lists those with a user who has proven an email address or a phone number.',
  params: filterParams(verifiedFilters),
  returns,
  run: ({ tx, organizationId, params: { paginationOptions, ...filter } }) => ({
    organizationIds: orNotFound(
      listSubOrganizationIds(
        tx,
        organizationId,
        filterOf(verifiedFilters, ['anyVerifiedContact'], filter),
        page(paginationOptions),
      ),
      unknownCursor,
    ),
  }),
});

/**
 * A call by the vendor's SDKs for every operation, in an order in which each finds what it needs. A test makes them all, and
 * docs/reference/compatibility.md names their methods.
 */
import {
  encryptOtpCodeToBundle,
  encryptPrivateKeyToBundle,
  encryptSecretToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
} from '@turnkey/crypto';
import type { TurnkeyApiTypes, TurnkeyClient } from '@turnkey/http';
import type { Turnkey } from '@turnkey/sdk-server';
import { parseAbi, serializeTransaction } from 'viem';
import { english, generateMnemonic, generatePrivateKey } from 'viem/accounts';
import { signP256 } from '../../main/crypto/keys/p256.ts';
import { startOidcProvider } from '../sign-in/oidc-provider.ts';
import type { OidcProvider } from '../sign-in/oidc-provider.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import { ethereumAccount, newTestKey, resultOf, send, startTestVault } from '../support/support.ts';
import type { TestClient, TestKey, TestVault } from '../support/support.ts';

/** The named members of a type, without the "anything else" that the server SDK's client allows. */
type Named<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] };

/** Activities of @turnkey/http that @turnkey/sdk-server lacks, as its methods would take and answer them. */
interface LackedActivities {
  createApiOnlyUsers(
    input: TurnkeyApiTypes['v1CreateApiOnlyUsersIntent'],
  ): Promise<TurnkeyApiTypes['v1CreateApiOnlyUsersResult']>;
  initImportSecrets(
    input: TurnkeyApiTypes['v1InitImportSecretsIntent'],
  ): Promise<TurnkeyApiTypes['v1InitImportSecretsResult']>;
  deleteSecrets(
    input: TurnkeyApiTypes['v1DeleteSecretsIntent'],
  ): Promise<TurnkeyApiTypes['v1DeleteSecretsResult']>;
}

type LackedQueries = Pick<TurnkeyClient, 'getActivePolicies' | 'getOrganization'>;

/** Methods that @turnkey/sdk-server leaves out. */
export const lacked: readonly (keyof LackedActivities | keyof LackedQueries)[] = [
  'createApiOnlyUsers',
  'deleteSecrets',
  'getActivePolicies',
  'getOrganization',
  'initImportSecrets',
];

/** The methods as @turnkey/sdk-server has them; what it lacks, as @turnkey/http has it. */
type Methods = Named<ReturnType<Turnkey['apiClient']>> & LackedActivities & LackedQueries;

type MethodName = {
  [Name in keyof Methods]: Methods[Name] extends (input: never) => Promise<object> ? Name : never;
}[keyof Methods];

/** Of each method, what it takes and what it answers. */
type Inputs = {
  [Name in MethodName]: Methods[Name] extends (input: infer Input) => unknown
    ? Exclude<Input, undefined>
    : never;
};
type Answers = {
  [Name in MethodName]: Methods[Name] extends (input: never) => infer Output ? Awaited<Output> : never;
};

const unsignedTransfer = serializeTransaction({
  type: 'eip1559',
  chainId: 1,
  to: '0x3535353535353535353535353535353535353535',
  value: 1n,
});

/** Values that calls leave to later ones: ids, an address, bundles. */
type Kept =
  | 'activity'
  | 'address'
  | 'apiKey'
  | 'anotherPolicy'
  | 'authenticator'
  | 'contractInterface'
  | 'oneMorePolicy'
  | 'policy'
  | 'oauthProvider'
  | 'otp'
  | 'otpBundle'
  | 'otpForKey'
  | 'privateKey'
  | 'privateKeyImport'
  | 'privateKeyTag'
  | 'secret'
  | 'secretImport'
  | 'sessionProfile'
  | 'subOrganization'
  | 'user'
  | 'userTag'
  | 'verificationToken'
  | 'wallet'
  | 'walletAccount'
  | 'walletImport'
  | 'webhookEndpoint';

/** A vault, and an issuer of tokens that it trusts. */
export interface Scene {
  readonly service: TestVault;
  readonly oidc: OidcProvider;
  /** A client's public key, to which secrets are encrypted. */
  readonly target: string;
  /** The public half of the key that the vault signs bundles with. */
  readonly signer: string;
  /** And those that it makes codes' targets and tokens with. */
  readonly tlsFetcher: string;
  /** The client's key for signing and signing in. */
  readonly clientKey: TestKey;
  /** The code that the vault had sent last. */
  readonly code: () => Promise<string>;
  readonly kept: Map<Kept, string>;
  /** @throws Error where no call has left it. */
  readonly id: (what: Kept) => string;
}

interface CallOf<Name extends MethodName> {
  /** The path after `/public/v1/`. */
  readonly path: string;
  readonly method: Name;
  /** The parameters, flat, as @turnkey/sdk-server takes them. */
  readonly parameters: (scene: Scene) => Inputs[Name] | Promise<Inputs[Name]>;
  /** The values of the answer that later calls need: of a query's resource, or an activity's result. */
  readonly keep?: (answer: Answers[Name]) => Partial<Record<Kept, string | undefined>>;
}

export type SdkCall = { [Name in MethodName]: CallOf<Name> }[MethodName];

const subject = 'ann';

const encryptionSuite = { encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1' } as const;

export const sdkCalls: readonly SdkCall[] = [
  { path: 'query/whoami', method: 'getWhoami', parameters: () => ({}) },
  {
    path: 'query/get_organization',
    method: 'getOrganization',
    parameters: ({ service: { organizationId } }) => ({
      organizationId,
    }),
  },
  {
    path: 'submit/update_organization_name',
    method: 'updateOrganizationName',
    parameters: () => ({ organizationName: 'Renamed' }),
  },
  {
    path: 'submit/set_organization_feature',
    method: 'setOrganizationFeature',
    parameters: () => ({
      name: 'FEATURE_NAME_WEBHOOK',
      value: 'http://127.0.0.1:9/hook',
    }),
  },
  {
    path: 'query/get_organization_configs',
    method: 'getOrganizationConfigs',
    parameters: ({ service: { organizationId } }) => ({
      organizationId,
    }),
  },
  {
    path: 'submit/remove_organization_feature',
    method: 'removeOrganizationFeature',
    parameters: () => ({
      name: 'FEATURE_NAME_WEBHOOK',
    }),
  },
  {
    path: 'submit/create_webhook_endpoint',
    method: 'createWebhookEndpoint',
    parameters: () => ({
      url: 'http://127.0.0.1:9/hook',
      name: 'Hook',
      subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }],
    }),
    keep: ({ endpointId }) => ({ webhookEndpoint: endpointId }),
  },
  { path: 'query/list_webhook_endpoints', method: 'listWebhookEndpoints', parameters: () => ({}) },
  {
    path: 'submit/update_webhook_endpoint',
    method: 'updateWebhookEndpoint',
    parameters: ({ id }) => ({ endpointId: id('webhookEndpoint'), isActive: false }),
  },
  {
    path: 'submit/delete_webhook_endpoint',
    method: 'deleteWebhookEndpoint',
    parameters: ({ id }) => ({ endpointId: id('webhookEndpoint') }),
  },

  {
    path: 'submit/create_sub_organization',
    method: 'createSubOrganization',
    parameters: ({ service: { key } }) => ({
      subOrganizationName: 'Sub',
      rootUsers: [
        {
          userName: 'Ann',
          userEmail: 'ann@example.com',
          // The parent's signer here signs for the sub-organization too, and so may delete it.
          apiKeys: [{ apiKeyName: 'Ann', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [newPasskey('Ann')],
          oauthProviders: [
            { providerName: 'Issuer', oidcClaims: { iss: 'https://issuer.example', sub: 'ann', aud: 'app' } },
          ],
        },
      ],
      rootQuorumThreshold: 1,
      wallet: { walletName: 'Wallet', accounts: [ethereumAccount] },
      disableSmsAuth: true,
    }),
    keep: (answer) => ({ subOrganization: answer.subOrganizationId }),
  },
  {
    path: 'query/list_suborgs',
    method: 'getSubOrgIds',
    parameters: ({ service: { organizationId, key } }) => ({
      organizationId,
      filterType: 'PUBLIC_KEY',
      filterValue: key.publicKey,
      paginationOptions: { limit: '100' },
    }),
  },
  {
    path: 'query/list_verified_suborgs',
    method: 'getVerifiedSubOrgIds',
    parameters: ({ service: { organizationId } }) => ({
      organizationId,
      filterType: 'EMAIL',
      filterValue: 'ann@example.com',
    }),
  },
  {
    path: 'submit/delete_sub_organization',
    method: 'deleteSubOrganization',
    parameters: ({ id }) => ({ organizationId: id('subOrganization'), deleteWithoutExport: true }),
  },

  {
    path: 'submit/create_user_tag',
    method: 'createUserTag',
    parameters: () => ({ userTagName: 'Tag', userIds: [] }),
    keep: (answer) => ({
      userTag: answer.userTagId,
    }),
  },
  {
    path: 'submit/create_users',
    method: 'createUsers',
    parameters: async ({ oidc, id }) => ({
      users: [
        {
          userName: 'Ann',
          userEmail: 'ann@example.com',
          userPhoneNumber: '+15551234567',
          apiKeys: [
            { apiKeyName: 'Ann', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' },
          ],
          authenticators: [newPasskey('Ann')],
          oauthProviders: [{ providerName: 'Issuer', oidcToken: await oidc.idToken({ subject }) }],
          userTags: [id('userTag')],
        },
      ],
    }),
    keep: (answer) => ({ user: answer.userIds[0] }),
  },
  {
    path: 'submit/create_api_only_users',
    method: 'createApiOnlyUsers',
    parameters: () => ({
      apiOnlyUsers: [
        {
          userName: 'CI',
          userTags: [],
          apiKeys: [{ apiKeyName: 'CI', publicKey: newTestKey().publicKey }],
        },
      ],
    }),
  },
  { path: 'query/list_users', method: 'getUsers', parameters: () => ({}) },
  { path: 'query/get_user', method: 'getUser', parameters: ({ id }) => ({ userId: id('user') }) },
  { path: 'query/list_user_tags', method: 'listUserTags', parameters: () => ({}) },
  {
    path: 'submit/update_user_tag',
    method: 'updateUserTag',
    parameters: ({ service: { rootUserId }, id }) => ({
      userTagId: id('userTag'),
      newUserTagName: 'Renamed',
      addUserIds: [rootUserId],
      removeUserIds: [id('user')],
    }),
  },
  {
    path: 'submit/delete_user_tags',
    method: 'deleteUserTags',
    parameters: ({ id }) => ({ userTagIds: [id('userTag')] }),
  },
  {
    path: 'submit/update_user',
    method: 'updateUser',
    parameters: ({ id }) => ({ userId: id('user'), userName: 'Anna' }),
  },
  {
    path: 'submit/update_user_name',
    method: 'updateUserName',
    parameters: ({ id }) => ({
      userId: id('user'),
      userName: 'Anne',
    }),
  },
  {
    path: 'submit/update_user_email',
    method: 'updateUserEmail',
    parameters: ({ id }) => ({
      userId: id('user'),
      userEmail: 'anne@example.com',
    }),
  },
  {
    path: 'submit/update_user_phone_number',
    method: 'updateUserPhoneNumber',
    parameters: ({ id }) => ({
      userId: id('user'),
      userPhoneNumber: '+15557654321',
    }),
  },

  {
    path: 'submit/create_api_keys',
    method: 'createApiKeys',
    parameters: ({ id }) => ({
      userId: id('user'),
      apiKeys: [{ apiKeyName: 'Second', publicKey: newTestKey().publicKey, curveType: 'API_KEY_CURVE_P256' }],
    }),
    keep: (answer) => ({ apiKey: answer.apiKeyIds[0] }),
  },
  { path: 'query/get_api_key', method: 'getApiKey', parameters: ({ id }) => ({ apiKeyId: id('apiKey') }) },
  { path: 'query/get_api_keys', method: 'getApiKeys', parameters: ({ id }) => ({ userId: id('user') }) },
  {
    path: 'submit/delete_api_keys',
    method: 'deleteApiKeys',
    parameters: ({ id }) => ({
      userId: id('user'),
      apiKeyIds: [id('apiKey')],
    }),
  },

  {
    path: 'submit/create_authenticators',
    method: 'createAuthenticators',
    parameters: ({ id }) => ({
      userId: id('user'),
      authenticators: [newPasskey('Second')],
    }),
    keep: (answer) => ({ authenticator: answer.authenticatorIds[0] }),
  },
  {
    path: 'query/get_authenticator',
    method: 'getAuthenticator',
    parameters: ({ id }) => ({
      authenticatorId: id('authenticator'),
    }),
  },
  {
    path: 'query/get_authenticators',
    method: 'getAuthenticators',
    parameters: ({ id }) => ({ userId: id('user') }),
  },
  {
    path: 'submit/delete_authenticators',
    method: 'deleteAuthenticators',
    parameters: ({ id }) => ({
      userId: id('user'),
      authenticatorIds: [id('authenticator')],
    }),
  },

  {
    path: 'query/get_oauth_providers',
    method: 'getOauthProviders',
    parameters: ({ id }) => ({ userId: id('user') }),
  },
  {
    path: 'submit/oauth',
    method: 'oauth',
    parameters: async ({ oidc, target }) => ({
      oidcToken: await oidc.idToken({ subject, boundTo: target }),
      targetPublicKey: target,
      expirationSeconds: '60',
      invalidateExisting: true,
    }),
  },
  {
    path: 'submit/oauth_login',
    method: 'oauthLogin',
    parameters: async ({ oidc }) => {
      const { publicKey } = newTestKey();
      return { oidcToken: await oidc.idToken({ subject, boundTo: publicKey }), publicKey };
    },
  },
  {
    path: 'submit/create_oauth_providers',
    method: 'createOauthProviders',
    parameters: ({ oidc, id }) => ({
      userId: id('user'),
      oauthProviders: [
        { providerName: 'Second', oidcClaims: { iss: oidc.issuer, sub: 'second', aud: 'another' } },
      ],
    }),
    keep: (answer) => ({ oauthProvider: answer.providerIds[0] }),
  },
  {
    path: 'submit/delete_oauth_providers',
    method: 'deleteOauthProviders',
    parameters: ({ id }) => ({ userId: id('user'), providerIds: [id('oauthProvider')] }),
  },
  {
    path: 'submit/init_otp_auth',
    method: 'initOtpAuth',
    parameters: () => ({
      otpType: 'OTP_TYPE_EMAIL',
      contact: 'anne@example.com',
      appName: 'App',
      otpLength: 6,
      alphanumeric: false,
    }),
    keep: (answer) => ({ otpForKey: answer.otpId }),
  },
  {
    path: 'submit/otp_auth',
    method: 'otpAuth',
    parameters: async ({ id, target, code }) => ({
      otpId: id('otpForKey'),
      otpCode: await code(),
      targetPublicKey: target,
      apiKeyName: 'By code',
    }),
  },
  {
    path: 'submit/init_otp',
    method: 'initOtp',
    parameters: () => ({
      otpType: 'OTP_TYPE_SMS',
      contact: '+15557654321',
      appName: 'App',
      smsCustomization: { template: 'Your code: {{.OtpCode}}' },
      userIdentifier: 'somebody',
      expirationSeconds: '600',
    }),
    keep: (answer) => ({ otp: answer.otpId, otpBundle: answer.otpEncryptionTargetBundle }),
  },
  {
    path: 'submit/verify_otp',
    method: 'verifyOtp',
    parameters: async ({ id, code, clientKey, tlsFetcher }) => ({
      otpId: id('otp'),
      encryptedOtpBundle: await encryptOtpCodeToBundle(
        await code(),
        id('otpBundle'),
        clientKey.publicKey,
        tlsFetcher,
      ),
    }),
    keep: (answer) => ({ verificationToken: answer.verificationToken }),
  },
  {
    path: 'submit/otp_login',
    method: 'otpLogin',
    parameters: ({ id, clientKey }) => ({
      verificationToken: id('verificationToken'),
      publicKey: clientKey.publicKey,
      clientSignature: loginSignature(clientKey, id('verificationToken')),
      invalidateExisting: true,
    }),
  },
  {
    path: 'submit/email_auth',
    method: 'emailAuth',
    parameters: ({ target }) => ({
      email: 'anne@example.com',
      targetPublicKey: target,
      emailCustomization: { appName: 'App', magicLinkTemplate: 'https://app.example/%s' },
    }),
  },
  {
    path: 'submit/create_session_profile',
    method: 'createSessionProfile',
    parameters: () => ({
      sessionProfileName: 'Signing',
      scope: "activity.action == 'SIGN'",
      expirationSeconds: '600',
      notes: 'Of a shop',
    }),
    keep: ({ sessionProfileId }) => ({ sessionProfile: sessionProfileId }),
  },
  {
    path: 'query/get_session_profile',
    method: 'getSessionProfile',
    parameters: ({ id }) => ({ sessionProfileId: id('sessionProfile') }),
  },
  { path: 'query/get_session_profiles', method: 'getSessionProfiles', parameters: () => ({}) },
  {
    path: 'submit/stamp_login',
    method: 'stampLogin',
    parameters: ({ id }) => ({
      publicKey: newTestKey().publicKey,
      expirationSeconds: '60',
      sessionProfileId: id('sessionProfile'),
    }),
  },
  {
    path: 'submit/create_read_write_session',
    method: 'createReadWriteSession',
    parameters: ({ id, target }) => ({ targetPublicKey: target, userId: id('user') }),
  },
  {
    path: 'submit/create_read_only_session',
    method: 'createReadOnlySession',
    parameters: () => ({}),
  },
  {
    path: 'submit/init_user_email_recovery',
    method: 'initUserEmailRecovery',
    parameters: ({ target }) => ({
      email: 'anne@example.com',
      targetPublicKey: target,
      emailCustomization: { appName: 'App' },
    }),
  },
  {
    path: 'submit/recover_user',
    method: 'recoverUser',
    parameters: ({ id }) => ({ userId: id('user'), authenticator: newPasskey('Recovered') }),
  },

  {
    path: 'submit/create_private_keys',
    method: 'createPrivateKeys',
    parameters: () => ({
      privateKeys: [
        {
          privateKeyName: 'Key',
          curve: 'CURVE_SECP256K1',
          privateKeyTags: [],
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
        },
      ],
    }),
    keep: (answer) => ({ privateKey: answer.privateKeys[0]?.privateKeyId }),
  },
  { path: 'query/list_private_keys', method: 'getPrivateKeys', parameters: () => ({}) },
  {
    path: 'query/get_private_key',
    method: 'getPrivateKey',
    parameters: ({ id }) => ({ privateKeyId: id('privateKey') }),
  },
  {
    path: 'submit/create_private_key_tag',
    method: 'createPrivateKeyTag',
    parameters: ({ id }) => ({
      privateKeyTagName: 'Tag',
      privateKeyIds: [id('privateKey')],
    }),
    keep: (answer) => ({ privateKeyTag: answer.privateKeyTagId }),
  },
  { path: 'query/list_private_key_tags', method: 'listPrivateKeyTags', parameters: () => ({}) },
  {
    path: 'submit/update_private_key_tag',
    method: 'updatePrivateKeyTag',
    parameters: ({ id }) => ({
      privateKeyTagId: id('privateKeyTag'),
      newPrivateKeyTagName: 'Renamed',
      addPrivateKeyIds: [],
      removePrivateKeyIds: [],
    }),
  },
  {
    path: 'submit/delete_private_key_tags',
    method: 'deletePrivateKeyTags',
    parameters: ({ id }) => ({
      privateKeyTagIds: [id('privateKeyTag')],
    }),
  },
  {
    path: 'submit/init_import_private_key',
    method: 'initImportPrivateKey',
    parameters: ({ service: { rootUserId } }) => ({
      userId: rootUserId,
    }),
    keep: (answer) => ({ privateKeyImport: answer.importBundle }),
  },
  {
    path: 'submit/import_private_key',
    method: 'importPrivateKey',
    parameters: async (scene) => ({
      userId: scene.service.rootUserId,
      privateKeyName: 'Imported',
      encryptedBundle: await encryptPrivateKeyToBundle({
        privateKey: generatePrivateKey().slice(2),
        keyFormat: 'HEXADECIMAL',
        ...importTo(scene, scene.id('privateKeyImport')),
      }),
      curve: 'CURVE_SECP256K1',
      addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
    }),
  },
  {
    path: 'submit/export_private_key',
    method: 'exportPrivateKey',
    parameters: ({ target, id }) => ({
      privateKeyId: id('privateKey'),
      targetPublicKey: target,
    }),
  },

  {
    path: 'submit/init_import_secrets',
    method: 'initImportSecrets',
    parameters: () => ({ ...encryptionSuite, numSecrets: 1 }),
    keep: (answer) => ({ secretImport: answer.enclaveTargetMessages[0] }),
  },
  {
    path: 'submit/import_secrets',
    method: 'importSecrets',
    parameters: async ({ service: { organizationId, root }, signer, kept }) => ({
      secrets: [
        {
          ...encryptionSuite,
          ...(await encryptSecretToBundle({
            plaintext: 'correct horse battery staple',
            ingressTargetBundle: kept.get('secretImport') ?? (await newSecretTarget(root)),
            organizationId,
            dangerouslyOverrideSignerPublicKey: signer,
          })),
          name: 'Database',
          staticProperties: [{ key: 'team', value: 'payments' }],
        },
      ],
    }),
    keep: (answer) => ({ secret: answer.secretIds[0] }),
  },
  { path: 'query/list_secrets', method: 'listSecrets', parameters: () => ({}) },
  {
    path: 'submit/export_secrets',
    method: 'exportSecrets',
    parameters: ({ target, id }) => ({
      secrets: [
        {
          ...encryptionSuite,
          secretId: id('secret'),
          targetPublicKey: target,
          requestContext: [{ key: 'job', value: 'deploy' }],
        },
      ],
    }),
  },
  {
    path: 'submit/delete_secrets',
    method: 'deleteSecrets',
    parameters: ({ id }) => ({ secretIds: [id('secret')] }),
  },

  {
    path: 'submit/create_wallet',
    method: 'createWallet',
    parameters: () => ({
      walletName: 'Wallet',
      accounts: [ethereumAccount],
      mnemonicLength: 24,
    }),
    keep: (answer) => ({ wallet: answer.walletId, address: answer.addresses[0] }),
  },
  { path: 'query/list_wallets', method: 'getWallets', parameters: () => ({}) },
  { path: 'query/get_wallet', method: 'getWallet', parameters: ({ id }) => ({ walletId: id('wallet') }) },
  {
    path: 'submit/update_wallet',
    method: 'updateWallet',
    parameters: ({ id }) => ({
      walletId: id('wallet'),
      walletName: 'Renamed',
    }),
  },
  {
    path: 'submit/create_wallet_accounts',
    method: 'createWalletAccounts',
    parameters: ({ id }) => ({
      walletId: id('wallet'),
      accounts: [{ ...ethereumAccount, path: "m/44'/60'/0'/0/1" }],
    }),
  },
  {
    path: 'query/get_wallet_account',
    method: 'getWalletAccount',
    parameters: ({ id }) => ({
      walletId: id('wallet'),
      address: id('address'),
    }),
  },
  {
    path: 'query/list_wallet_accounts',
    method: 'getWalletAccounts',
    parameters: ({ id }) => ({
      walletId: id('wallet'),
      includeWalletDetails: true,
    }),
    keep: (answer) => ({ walletAccount: answer.accounts[0]?.walletAccountId }),
  },
  {
    path: 'submit/init_import_wallet',
    method: 'initImportWallet',
    parameters: ({ service: { rootUserId } }) => ({
      userId: rootUserId,
    }),
    keep: (answer) => ({ walletImport: answer.importBundle }),
  },
  {
    path: 'submit/import_wallet',
    method: 'importWallet',
    parameters: async (scene) => ({
      userId: scene.service.rootUserId,
      walletName: 'Imported',
      encryptedBundle: await encryptWalletToBundle({
        mnemonic: generateMnemonic(english),
        ...importTo(scene, scene.id('walletImport')),
      }),
      accounts: [ethereumAccount],
    }),
  },
  {
    path: 'submit/export_wallet_account',
    method: 'exportWalletAccount',
    parameters: ({ target, id }) => ({
      address: id('address'),
      targetPublicKey: target,
    }),
  },
  {
    path: 'submit/export_wallet',
    method: 'exportWallet',
    parameters: ({ target, id }) => ({
      walletId: id('wallet'),
      targetPublicKey: target,
    }),
  },

  {
    path: 'submit/sign_raw_payload',
    method: 'signRawPayload',
    parameters: ({ id }) => ({
      signWith: id('address'),
      payload: 'hello',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    }),
    keep: (answer) => ({ activity: answer.activity.id }),
  },
  {
    path: 'submit/sign_transaction',
    method: 'signTransaction',
    parameters: ({ id }) => ({
      signWith: id('address'),
      unsignedTransaction: unsignedTransfer,
      type: 'TRANSACTION_TYPE_ETHEREUM',
    }),
  },
  {
    path: 'submit/sign_raw_payloads',
    method: 'signRawPayloads',
    parameters: ({ id }) => ({
      signWith: id('privateKey'),
      payloads: ['hello', 'again'],
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_SHA256',
    }),
  },

  {
    path: 'submit/create_smart_contract_interface',
    method: 'createSmartContractInterface',
    parameters: () => ({
      smartContractAddress: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
      smartContractInterface: JSON.stringify(parseAbi(['function transfer(address dst, uint256 wad)'])),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'WETH',
    }),
    keep: (answer) => ({ contractInterface: answer.smartContractInterfaceId }),
  },
  {
    path: 'query/get_smart_contract_interface',
    method: 'getSmartContractInterface',
    parameters: ({ id }) => ({ smartContractInterfaceId: id('contractInterface') }),
  },
  {
    path: 'query/list_smart_contract_interfaces',
    method: 'getSmartContractInterfaces',
    parameters: () => ({}),
  },
  {
    path: 'submit/delete_smart_contract_interface',
    method: 'deleteSmartContractInterface',
    parameters: ({ id }) => ({ smartContractInterfaceId: id('contractInterface') }),
  },
  {
    path: 'submit/create_policy',
    method: 'createPolicy',
    parameters: () => ({
      policyName: 'Wallets',
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource == 'WALLET'",
      consensus: 'approvers.count() >= 1',
      notes: '',
    }),
    keep: ({ policyId }) => ({ policy: policyId }),
  },
  {
    path: 'submit/create_policies',
    method: 'createPolicies',
    parameters: () => ({
      policies: [
        { policyName: 'One', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'", notes: '' },
        { policyName: 'Two', effect: 'EFFECT_DENY', condition: "activity.action == 'EXPORT'", notes: '' },
      ],
    }),
    keep: ({ policyIds: [one, two] }) => ({ anotherPolicy: one, oneMorePolicy: two }),
  },
  {
    path: 'submit/update_policy',
    method: 'updatePolicy',
    parameters: ({ id }) => ({
      policyId: id('policy'),
      policyNotes: 'Changed',
      time: "time.now > Timestamp('2020-01-01T00:00:00Z')",
    }),
  },
  { path: 'query/get_policy', method: 'getPolicy', parameters: ({ id }) => ({ policyId: id('policy') }) },
  { path: 'query/list_policies', method: 'getPolicies', parameters: () => ({}) },
  {
    path: 'query/get_active_policies',
    method: 'getActivePolicies',
    parameters: ({ service: { organizationId } }) => ({ organizationId }),
  },
  {
    path: 'query/get_policy_evaluations',
    method: 'getPolicyEvaluations',
    parameters: ({ id }) => ({ activityId: id('activity') }),
  },
  {
    path: 'submit/delete_policy',
    method: 'deletePolicy',
    parameters: ({ id }) => ({ policyId: id('oneMorePolicy') }),
  },
  {
    path: 'submit/delete_policies',
    method: 'deletePolicies',
    parameters: ({ id }) => ({ policyIds: [id('anotherPolicy')] }),
  },
  {
    path: 'submit/update_root_quorum',
    method: 'updateRootQuorum',
    parameters: ({ service: { rootUserId } }) => ({ threshold: 1, userIds: [rootUserId] }),
  },
  {
    path: 'submit/approve_activity',
    method: 'approveActivity',
    parameters: async (scene) => ({ fingerprint: await waitingFor(scene) }),
  },
  {
    path: 'submit/reject_activity',
    method: 'rejectActivity',
    parameters: async (scene) => ({ fingerprint: await waitingFor(scene) }),
  },

  {
    path: 'query/get_activity',
    method: 'getActivity',
    parameters: ({ id }) => ({ activityId: id('activity') }),
  },
  {
    path: 'query/list_activities',
    method: 'getActivities',
    parameters: () => ({
      filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
      paginationOptions: { limit: '100' },
    }),
  },

  {
    path: 'submit/delete_wallet_accounts',
    method: 'deleteWalletAccounts',
    parameters: ({ id }) => ({
      walletAccountIds: [id('walletAccount')],
      deleteWithoutExport: true,
    }),
  },
  {
    path: 'submit/delete_wallets',
    method: 'deleteWallets',
    parameters: ({ id }) => ({ walletIds: [id('wallet')] }),
  },
  {
    path: 'submit/delete_private_keys',
    method: 'deletePrivateKeys',
    parameters: ({ id }) => ({
      privateKeyIds: [id('privateKey')],
    }),
  },
  { path: 'submit/delete_users', method: 'deleteUsers', parameters: ({ id }) => ({ userIds: [id('user')] }) },
];

/** A new passkey, as requests name one. */
function newPasskey(name: string): TurnkeyApiTypes['v1AuthenticatorParamsV2'] {
  return new SoftwareAuthenticator().params(name) as unknown as TurnkeyApiTypes['v1AuthenticatorParamsV2'];
}

/** Encrypts to an import bundle with the vendor's library, which checks it first. */
function importTo({ service, signer }: Scene, importBundle: string) {
  return {
    importBundle,
    userId: service.rootUserId,
    organizationId: service.organizationId,
    dangerouslyOverrideSignerPublicKey: signer,
  };
}

/** For a client without a method for it. */
async function newSecretTarget(client: TestClient): Promise<string> {
  const parameters = { ...encryptionSuite, numSecrets: 1 };
  const answer = await client.submit('init_import_secrets', 'INIT_IMPORT_SECRETS', parameters);
  return String((resultOf(answer)['enclaveTargetMessages'] as readonly string[])[0]);
}

/** A client's request to be signed in by its key. */
function loginSignature(
  { publicKey, privateKey }: TestKey,
  verificationToken: string,
): TurnkeyApiTypes['v1ClientSignature'] {
  const [, claims = ''] = verificationToken.split('.');
  const { id: tokenId } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { id: string };
  const message = JSON.stringify({ login: { publicKey }, tokenId, type: 'USAGE_TYPE_LOGIN' });
  const signature = signP256(
    new Uint8Array(Buffer.from(privateKey, 'hex')),
    new TextEncoder().encode(message),
  );
  return { publicKey, scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message, signature };
}

/**
 * Submits a request of another user that also needs the owner's vote.
 * @returns the fingerprint of the waiting activity.
 */
async function waitingFor({ service }: Scene): Promise<string> {
  const { userId, client } = await service.newUser(`User ${service.root.nextTimestamp()}`);
  await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
    policyName: `Of ${userId}`,
    effect: 'EFFECT_ALLOW',
    condition: "activity.kind == 'CREATE_USER_TAG'",
    consensus: `approvers.any(user, user.id == '${userId}') && approvers.count() >= 2`,
    notes: '',
  });
  const { body } = await client.submit('create_user_tag', 'CREATE_USER_TAG', {
    userTagName: `Tag of ${userId}`,
    userIds: [],
  });
  return (body as { activity: { readonly fingerprint: string } }).activity.fingerprint;
}

export async function setScene(): Promise<Scene & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const oidc = resources.use(await startOidcProvider());
  const service = resources.use(await startTestVault({ oidcIssuers: [oidc.issuer] }));
  const scene = await sceneIn(service, oidc);
  const owned = resources.move();
  return { ...scene, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The scene of calls in one organization of a vault. */
export async function sceneIn(service: TestVault, oidc: OidcProvider): Promise<Scene> {
  const { url, vault } = service;
  await vault.messages.change({ channel: 'desktop', on: true });
  const keys = await send(url, { method: 'GET', path: '/public/v1/discovery/keys' });
  const kept: Scene['kept'] = new Map();
  return {
    service,
    oidc,
    target: generateP256KeyPair().publicKeyUncompressed,
    signer: String(keys.body?.['signer']),
    tlsFetcher: String(keys.body?.['tlsFetcher']),
    clientKey: newTestKey(),
    code: async () => {
      await vault.messages.settled();
      return vault.messages.shown().at(-1)?.code ?? '';
    },
    kept,
    id: (what) => {
      const id = kept.get(what);
      if (id === undefined) throw new Error(`no call has left its ${what}`);
      return id;
    },
  };
}

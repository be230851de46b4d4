/** Limits on the number of resources, unless the settings raise them: the real service's documented ones. */
export const publishedLimits = {
  usersPerOrganization: 100,
  walletsPerOrganization: 100,
  policiesPerOrganization: 100,
  policyCharactersPerOrganization: 500_000,
  tagsPerOrganization: 100,
  tagsPerWallet: 20,
  tagsPerSubOrganization: 10,
  privateKeysPerOrganization: 1000,
  secretsPerOrganization: 1000,
  sessionProfilesPerOrganization: 100,
  webhookEndpointsPerOrganization: 20,
  interfacesPerOrganization: 100,
  knownAddressesPerOrganization: 1000,
  longLivedApiKeysPerUser: 10,
  expiringApiKeysPerUser: 10,
  authenticatorsPerUser: 10,
  oauthProvidersPerUser: 10,
} as const;

/** Limits on one request. No setting changes them: they keep one request from delaying others. */
export const requestLimits = {
  /** Of JSON, all that its lists and objects hold: a hundred times what most requests have. */
  values: 15_000,
  /** Of one list. Some have fewer, as the API's description says. */
  elements: 100,
  /** Of JSON that is a payload to sign, in all payloads. */
  payloadValues: 4000,
  /** In all payloads to sign. */
  payloadCharacters: 1_000_000,
  /** API keys, passkeys and OAuth providers of all new users. */
  credentials: 200,
  /** Addresses of all new private keys. */
  addresses: 200,
  /** Secrets that are imported, exported or deleted. */
  secrets: 32,
  /** The value of one secret. */
  secretBytes: 65_536,
  /** All values that are exported. */
  secretBytesTogether: 1_000_000,
} as const;

/** How much there may be of what, unless the settings say more: the real service's documented limits. */
export const publishedLimits = {
  usersPerOrganization: 100,
  walletsPerOrganization: 100,
  policiesPerOrganization: 100,
  tagsPerOrganization: 100,
  tagsPerSubOrganization: 10,
  privateKeysPerOrganization: 1000,
  webhookEndpointsPerOrganization: 20,
  interfacesPerOrganization: 100,
  longLivedApiKeysPerUser: 10,
  expiringApiKeysPerUser: 10,
  authenticatorsPerUser: 10,
  oauthProvidersPerUser: 10,
} as const;

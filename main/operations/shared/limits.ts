/** Limits on the number of resources, in one table. */
import { publishedLimits, requestLimits } from '../../lib/published-limits.ts';

export const limits = {
  ...publishedLimits,
  /** The longest life of a key from a sign-in: a year. */
  sessionKeySeconds: 31_536_000,
  wrongTriesPerOneTimeCode: 3,
  /** Codes that wait for one contact at a time, used up by wrong tries or not. */
  waitingCodesPerContact: 3,
  /** Messages to one contact, or for one identifier of a client's, within the window. */
  messagesPerContact: 3,
  messagesPerOrganization: 100,
  contactWindowSeconds: 180,
  oneTimeCodeSeconds: 600,
  verificationTokenSeconds: 86_400,
  readOnlySessionsPerUser: 10,
  /** Events that one request sends again. */
  replayedEvents: 10_000,
  nameCharacters: 64,
  composedNameCharacters: 255,
  policyNameCharacters: 255,
  policyNotesCharacters: 10_000,
  batch: requestLimits.elements,
  /** Largest payload to sign, in characters. */
  payloadCharacters: requestLimits.payloadCharacters,
  secretsPerRequest: requestLimits.secrets,
  secretBytes: requestLimits.secretBytes,
  secretBytesPerRequest: requestLimits.secretBytesTogether,
  /** Properties of one secret, for policies. */
  propertiesPerSecret: 20,
  propertyCharacters: 255,
  /** A whole request, given as a text. */
  requestCharacters: 1_100_000,
  /** 400 KB of JSON. */
  interfaceCharacters: 400_000,
  noteCharacters: 10_000,
  pageSize: 100,
  defaultPageSize: 10,
} as const;

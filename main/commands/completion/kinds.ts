/** The kinds of things of the vault that a shell offers at the Tab key. */

/** By the name of an operand, or of an option's value. */
const kindsByName = {
  wallet: 'wallet',
  'private-key': 'private-key',
  secret: 'secret',
  secrets: 'secret',
  user: 'user',
  users: 'user',
  tag: 'tag',
  tags: 'tag',
  policy: 'policy',
  policies: 'policy',
  bot: 'bot',
  endpoint: 'endpoint',
  activity: 'activity',
  'key-name': 'key-name',
} as const;

export type OfferedKind = (typeof kindsByName)[keyof typeof kindsByName];

export const offeredKinds: readonly OfferedKind[] = [...new Set(Object.values(kindsByName))];

export const kindOfValue = (name: string): OfferedKind | undefined =>
  Object.hasOwn(kindsByName, name) ? kindsByName[name as keyof typeof kindsByName] : undefined;

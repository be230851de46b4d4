/**
 * The doors, one row each: the owner's words for it, the bounds of its programs as policies, and how a program is set up. The
 * command and the window read this table. `openers` in `main/doors/doors.ts` has the protocols.
 */
import type { DoorKind, PairedProgram } from './door-kind.ts';
import { ethereumDoor } from './ethereum-programs.ts';
import { mcpDoor } from './mcp-programs.ts';
import { areExactly, type PolicyText } from './spenders.ts';
import type { PairedResources } from './pairing.ts';
import { sshDoor } from './ssh-programs.ts';

const kinds = { ssh: sshDoor, ethereum: ethereumDoor, mcp: mcpDoor } as const satisfies Readonly<
  Record<string, DoorKind>
>;

export type DoorName = keyof typeof kinds;
export const doorKinds: Readonly<Record<DoorName, DoorKind>> = kinds;
export const doorNames = Object.keys(kinds) as readonly DoorName[];

/** The name of the user by which a program asks. */
export const userNameOf = (door: DoorName, name: string): string => `${door} ${name}`;

interface KnownUser {
  readonly userName: string;
  readonly userEmail?: string | undefined;
  readonly userPhoneNumber?: string | undefined;
  readonly apiKeys: readonly {
    readonly apiKeyName: string;
    readonly credential: { readonly publicKey: string };
  }[];
  readonly authenticators: readonly unknown[];
  readonly oauthProviders: readonly unknown[];
}

/**
 * The user that goes with a program: the holder of its key, or else the one that is left under its name where pairing or revoking
 * was cut off. That one has no other way in.
 * @param publicKey Undefined where the vault keeps no key of the program.
 */
export function userToRevoke<User extends KnownUser>(
  users: readonly User[],
  door: DoorName,
  { name, publicKey }: { readonly name: string; readonly publicKey: string | undefined },
): User | undefined {
  const isHolder = ({ apiKeys }: User): boolean =>
    publicKey !== undefined && apiKeys.some(({ credential }) => credential.publicKey === publicKey);
  return users.find(isHolder) ?? userLeft(users, userNameOf(door, name));
}

/** Finds the user of a program by its name. It has no other way in than the program's. */
const userLeft = <User extends KnownUser>(users: readonly User[], userName: string): User | undefined =>
  users.find(
    ({ apiKeys, authenticators, oauthProviders, ...user }) =>
      user.userName === userName &&
      apiKeys.every(({ apiKeyName }) => apiKeyName === userName) &&
      authenticators.length + oauthProviders.length === 0 &&
      [user.userEmail, user.userPhoneNumber].every((address) => address === undefined),
  );

/**
 * Finds what a pairing created before its answer was lost. Its user gets the key last: one of that name who has a key is another's.
 * @param userId Undefined where its user is known by name alone.
 */
export function pairedIn(
  {
    users,
    policies,
  }: {
    readonly users: readonly (KnownUser & { readonly userId: string })[];
    readonly policies: readonly PolicyText[];
  },
  { userName, userId }: { readonly userName: string; readonly userId: string | undefined },
): PairedResources {
  const keyless = users.filter(({ apiKeys }) => apiKeys.length === 0);
  const found = userId ?? userLeft(keyless, userName)?.userId;
  return {
    userId: users.find((user) => user.userId === found)?.userId,
    policyIds: found === undefined ? [] : policiesOfProgram(found, policies),
  };
}

/**
 * The bounds of a program, as its policies say them to the letter.
 * @param policies Those of the program alone.
 * @returns undefined where one is gone, was changed, or stands beside them.
 */
export function boundsOf(
  { policies: write, read }: DoorKind,
  userId: string,
  policies: readonly PolicyText[],
): PairedProgram | undefined {
  const bounds = read?.(userId, policies);
  const wanted = bounds === undefined ? [] : (write?.('', bounds) ?? []);
  return areExactly(wanted, policies) ? bounds : undefined;
}

/** Answers the ids of the policies that name one program as their only submitter, its pause among them. */
export const policiesOfProgram = (userId: string, policies: readonly PolicyText[]): readonly string[] =>
  policies
    .filter(({ condition }) =>
      ['==', '!='].some((sign) => `${condition} `.startsWith(`submitter.id ${sign} '${userId}' `)),
    )
    .map(({ policyId }) => policyId);

/**
 * Answers the ids of the policies that a program left where its removal was cut off: those with its title name a user who is gone, and
 * so do its pause and its grants.
 */
export function policiesLeftOf(
  door: DoorName,
  name: string,
  users: readonly { readonly userId: string }[],
  policies: readonly (PolicyText & { readonly policyName: string })[],
): readonly string[] {
  const title = `${doorKinds[door].policyTitle(name)}: `;
  const present = new Set(users.map(({ userId }) => userId));
  const gone = policies.flatMap(({ policyName, condition }) => {
    const [, userId] = /^submitter\.id [=!]= '([^']*)' /.exec(`${condition} `) ?? [];
    return userId === undefined || !policyName.startsWith(title) || present.has(userId) ? [] : [userId];
  });
  return [...new Set(gone)].flatMap((userId) => policiesOfProgram(userId, policies));
}

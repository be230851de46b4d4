/** `keyhearth doors add` and `remove`. The vault makes a program's key and keeps its private half. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { quoted } from '../../lib/errors.ts';
import type { PairedProgram, ProgramToSetUp } from '../../lib/policies/door-kind.ts';
import { pairInOrder } from '../../lib/policies/pairing.ts';
import type { ProgramPolicy } from '../../lib/policies/spenders.ts';
import {
  doorKinds,
  doorNames,
  pairedIn,
  policiesLeftOf,
  policiesOfProgram,
  userNameOf,
  userToRevoke,
  type DoorName,
} from '../../lib/policies/doors.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { createApiKeysActivity } from '../credentials/keygen.ts';
import { createPoliciesActivity, deletePoliciesActivity } from '../policies/policies.ts';
import { agreeToDelete } from '../requests/agree.ts';
import { activityKind, type Api } from '../shared/api.ts';
import type { Running } from '../shared/client.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { connectAsOwner, type OwnerOptions } from '../shared/owner-api.ts';
import { didYouMean } from '../shared/suggestions.ts';
import { createUsersActivity, deleteUsersActivity, userWithoutKey } from '../users/users.ts';
import { doorOf, doorsOf } from './doors.ts';
import { keyTag } from './key-tags.ts';

export interface AddProgramOptions extends OwnerOptions {
  readonly door: DoorName;
  readonly account: readonly string[];
  readonly forwarder: readonly string[];
  readonly ask?: boolean;
  readonly expires?: string;
  readonly json: boolean;
}

const createUserTagActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  result: z.object({ userTagId: z.string() }),
});

export async function addProgram(config: Config, name: string, options: AddProgramOptions): Promise<void> {
  const { door, ask } = options;
  const kind = doorKinds[door];
  if (kind.policies === undefined || kind.takes.includes('spending')) {
    throw new CommandError(
      exitCodes.usage,
      `a program of the door ${door} is added with \`${kind.addedBy} ${name}\``,
    );
  }
  const { accounts, forwarders, expiry } = readTerms(options);
  await pairProgram(config, options, {
    door,
    name,
    expiry,
    boundsFor: ({ ownerId }) =>
      Promise.resolve({
        accounts,
        forwarders,
        spending: undefined,
        approverId: ask === true ? ownerId : undefined,
      }),
  });
}

export interface Pairing {
  readonly door: DoorName;
  readonly name: string;
  /** Members of the program's API key. */
  readonly expiry: { readonly expirationSeconds?: string };
  readonly boundsFor: (given: {
    readonly api: Api;
    readonly ownerId: string | undefined;
  }) => Promise<Omit<PairedProgram, 'userId' | 'tagId'>>;
  /** The policies of a door whose bounds are of another kind. */
  readonly policiesOf?: (userId: string) => readonly ProgramPolicy[];
  /** Looks at the organization's other policies, once the program's are in force. @throws CommandError where they open what these bound. */
  readonly check?: (api: Api, userId: string) => Promise<void>;
  /** Called at the end. @returns what is printed besides. */
  readonly afterwards?: () => Promise<{ readonly json: object; readonly lines: readonly string[] }>;
}

/** Pairs a program and prints how it is set up. If a step is refused, what was created is deleted. */
export async function pairProgram(
  config: Config,
  options: OwnerOptions & { readonly json: boolean },
  { door, name, expiry, boundsFor, policiesOf, check, afterwards }: Pairing,
): Promise<void> {
  const kind = doorKinds[door];
  const running = await doorsOf(config);
  const { owner } = await running.status();
  const api = await connectAsOwner(config, options);
  const bounds = await boundsFor({ api, ownerId: owner?.userId });
  const userName = userNameOf(door, name);
  let tagId = '';
  const {
    key: { publicKey, socket, token },
    userId,
    policyIds,
  } = await pairInOrder({
    makeKey: async () => {
      const made = await running.call('changeDoors', { change: 'pair', door, name });
      const program = doorOf(made.doors, door)?.programs.find((each) => each.name === name);
      return { publicKey: program?.publicKey ?? '', socket: program?.socket ?? null, token: made.token };
    },
    createUser: async () => {
      // Tags stay, for the next program. So they come after the key, which the service may refuse.
      if (kind.keyTag !== undefined) tagId = await keyTag(api, kind.keyTag);
      const users = [{ ...userWithoutKey(userName), userTags: [await userTag(api, door)] }];
      const made = await api.submit(createUsersActivity, { users });
      return made.userIds[0] ?? '';
    },
    policiesOf: (id) => policiesOf?.(id) ?? kind.policies?.(name, { userId: id, tagId, ...bounds }) ?? [],
    createPolicies: async (policies) => (await api.submit(createPoliciesActivity, { policies })).policyIds,
    check: async (id) => check?.(api, id),
    giveKey: (id, made) => {
      const key = {
        apiKeyName: userName,
        publicKey: made.publicKey,
        curveType: 'API_KEY_CURVE_P256',
        ...expiry,
      } as const;
      return api.submit(createApiKeysActivity, { userId: id, apiKeys: [key] });
    },
    isUnanswered: (error) =>
      error instanceof CommandError &&
      [exitCodes.absent, exitCodes.busy].some((code) => code === error.exitCode),
    find: async (id) =>
      pairedIn(
        { users: await listings.user.all(api), policies: await listings.policy.all(api) },
        { userName, userId: id },
      ),
    undo: undoSteps(api, running, { door, name }),
    onLeft: ({ key, userId: leftUser, policyIds: leftPolicies, isUnsure }, reasons) => {
      const left = [
        ...(key ? [`the key of ${quoted(name)} at the door ${door}`] : []),
        ...(leftUser === undefined ? [] : [`the user ${leftUser}`]),
        ...(leftPolicies.length === 0 ? [] : [`the policies ${leftPolicies.join(', ')}`]),
      ];
      const doubt = `Perhaps not deleted: the user ${quoted(userName)} and the policies of ${quoted(name)}. `;
      note(
        `${left.length === 0 ? '' : `Not deleted: ${left.join(', ')}. `}${isUnsure ? doubt : ''}${reasons.map(reasonOf).join(' ')}`,
      );
    },
  });
  const more = await afterwards?.();
  const { url } = await running.status();
  const address = kind.endpoint === undefined ? socket : `${url}/${kind.endpoint}`;
  const lines = [
    `Paired ${quoted(name)} with the door ${door}: ${userId}`,
    ...(more?.lines ?? []),
    ...(token === null ? [] : [`Token: ${token}`, 'The vault keeps its hash alone: note the token now.']),
    ...(address === null ? [] : setupLines(door, { name, address, token: token ?? '' })),
    ...(socket === null ? [`Next: keyhearth doors on ${door}`] : []),
  ];
  const made = { door, name, userId, userName, publicKey, policyIds, socket };
  print(options.json, { ...made, ...more?.json, ...(token !== null && { token }) }, lines.join('\n'));
}

const setupLines = (door: DoorName, program: ProgramToSetUp): readonly string[] => {
  const { setup, words } = doorKinds[door];
  const texts = setup(program);
  return [
    // A text of the setup may be the address itself.
    ...(texts.some(({ text }) => text === program.address) ? [] : [`Address: ${program.address}`]),
    ...texts.map(({ what, text }) => `${words[what] ?? ''}: ${text}`),
  ];
};

const undoSteps = (api: Api, running: Running, { door, name }: { door: DoorName; name: string }) => ({
  forgetKey: () => running.call('changeDoors', { change: 'remove', door, name }),
  deleteUser: (userId: string) => api.submit(deleteUsersActivity, { userIds: [userId] }),
  deletePolicies: (policyIds: readonly string[]) =>
    api.submit(deletePoliciesActivity, { policyIds: [...policyIds] }),
});

async function userTag(api: Api, name: string): Promise<string> {
  const known = (await listings.tag.all(api)).find(({ tagName }) => tagName === name);
  if (known !== undefined) return known.tagId;
  return (await api.submit(createUserTagActivity, { userTagName: name, userIds: [] })).userTagId;
}

function readTerms({ account, forwarder, expires }: AddProgramOptions) {
  const wrong = account.find((key) => !/^([0-9a-f]{64}|0[23][0-9a-f]{64})$/.test(key));
  if (wrong !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --account ${quoted(wrong)}: expected a public key in hex, compressed, as the wallet shows it`,
    );
  }
  const bad = forwarder.find((print) => !/^SHA256:[A-Za-z0-9+/]{43}$/.test(print));
  if (bad !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --forwarder ${quoted(bad)}: expected a fingerprint as \`ssh-keygen -l\` shows it, SHA256:…`,
    );
  }
  return { accounts: account, forwarders: forwarder, expiry: readExpiry(expires) };
}

/** @param days Undefined for no end. @returns the members of an API key. */
export function readExpiry(days: string | undefined): Pairing['expiry'] {
  if (days === undefined) return {};
  const [, count] = /^([1-9][0-9]{0,3})d?$/.exec(days) ?? [];
  if (count !== undefined) return { expirationSeconds: String(Number(count) * 86_400) };
  throw new CommandError(exitCodes.usage, `invalid --expires ${quoted(days)}: expected a number of days`);
}

const isWanted = (door: string, wanted: string | undefined): boolean =>
  wanted === undefined || door === wanted;

export interface RemoveProgramOptions extends OwnerOptions {
  readonly door?: DoorName;
  readonly yes?: boolean;
  readonly json: boolean;
}

export async function removeProgram(
  config: Config,
  name: string,
  { door: wanted, yes, json, ...options }: RemoveProgramOptions,
): Promise<void> {
  const running = await doorsOf(config);
  const doors = await running.call('doors');
  const wantedDoors = doorNames.filter((door) => isWanted(door, wanted));
  const paired = wantedDoors.flatMap((door) =>
    (doorOf(doors, door)?.programs ?? []).flatMap((each) =>
      each.name === name ? [{ door, publicKey: each.publicKey }] : [],
    ),
  );
  const api = await connectAsOwner(config, options);
  const users = await listings.user.all(api);
  const policies = await listings.policy.all(api);
  const left = wantedDoors.map((door) => ({ door, publicKey: undefined }));
  const [found, ...others] = (paired.length > 0 ? paired : left).flatMap((each) => {
    const user = userToRevoke(users, each.door, { ...each, name });
    const leftPolicies = policiesLeftOf(each.door, name, users, policies);
    const isThere = user !== undefined || each.publicKey !== undefined || leftPolicies.length > 0;
    return isThere ? [{ ...each, user, leftPolicies }] : [];
  });
  if (others.length > 0) {
    throw new CommandError(
      exitCodes.usage,
      `several doors have a program ${quoted(name)}: expected --door with one of ${[found, ...others].map((each) => each?.door).join(', ')}`,
    );
  }
  if (found === undefined) {
    const known = wantedDoors.flatMap((door) => doorOf(doors, door)?.programs.map((each) => each.name) ?? []);
    throw new CommandError(
      exitCodes.failed,
      `no program ${quoted(name)} is paired: \`keyhearth doors list\` lists all${didYouMean(name, known)}`,
    );
  }
  const { user, leftPolicies } = found;
  await agreeToDelete(quoted(name), yes);
  const policyIds = [
    ...(user === undefined ? [] : policiesOfProgram(user.userId, policies)),
    ...leftPolicies,
  ];
  // The user is deleted before its policies: its key must not outlive them.
  const undo = undoSteps(api, running, { door: found.door, name });
  if (found.publicKey !== undefined) await undo.forgetKey();
  if (user !== undefined) await undo.deleteUser(user.userId);
  if (policyIds.length > 0) await undo.deletePolicies(policyIds);
  print(json, { name, userId: user?.userId, policyIds }, `Revoked ${quoted(name)}.`);
}

/** Pairing a program with a door, and revoking it. */
import { doorKinds, policiesOfProgram, type DoorName } from '../../../main/lib/policies/doors.ts';
import { pairInOrder, type PairedResources, type PairingSteps } from '../../../main/lib/policies/pairing.ts';
import type { ProgramPolicy } from '../../../main/lib/policies/spenders.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useDoorsCall, useSubmit } from '../../app/rpc/vault.tsx';
import { useCreateTag, useTags } from '../tags/tag-queries.ts';

/** A program's key at the door, its user and its policies: to be deleted together. */
interface Made extends PairedResources {
  readonly door: DoorName;
  readonly name: string;
}

export const userNameOf = (door: DoorName, name: string): string => `${door} ${name}`;

/** As the service takes names of programs. @returns null for a good one. */
export function programNameProblem(name: string, taken: readonly string[]): string | null {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) {
    return t('Enter small letters, digits and hyphens, 32 at most.');
  }
  return taken.includes(name) ? t('A program has this name.') : null;
}

/** @returns what revokes a program. The user goes first: its key must not outlive its policies. */
function useUndo(): (made: Made) => Promise<void> {
  const change = useDoorsCall();
  const deleteUsers = useSubmit('ACTIVITY_TYPE_DELETE_USERS');
  const deletePolicies = useSubmit('ACTIVITY_TYPE_DELETE_POLICIES');
  return async ({ door, name, userId, policyIds }) => {
    if (userId !== undefined) await deleteUsers.mutateAsync({ userIds: [userId] });
    if (policyIds.length > 0) await deletePolicies.mutateAsync({ policyIds: [...policyIds] });
    await change.mutateAsync({ change: 'remove', door, name });
  };
}

interface Pairing {
  readonly door: DoorName;
  readonly name: string;
  /** Seconds as digits; empty for no end. */
  readonly lifetime: string;
  /** @param tagId The tag of the private keys that the door offers; empty where it has none. */
  readonly policiesOf: (userId: string, tagId: string) => readonly ProgramPolicy[];
  readonly check?: PairingSteps<unknown>['check'];
}

/** @returns what pairs a program, and answers the token of one that has a token. */
export function usePairing(): (pairing: Pairing) => Promise<string | null> {
  const keyTags = useTags('privateKey');
  const userTags = useTags('user');
  const createKeyTag = useCreateTag('privateKey');
  const createUserTag = useCreateTag('user');
  const change = useDoorsCall();
  const steps = useUserSteps();
  const undo = useUndo();
  return async ({ door, name, lifetime, policiesOf, check }) => {
    const { keyTag } = doorKinds[door];
    const userName = userNameOf(door, name);
    const idOf = async (wanted: string, { list }: typeof keyTags, create: typeof createKeyTag) =>
      list.find(({ tagName }) => tagName === wanted)?.tagId ??
      (await create.mutateAsync({ name: wanted, holderIds: [] }));
    const tagId = keyTag === undefined ? '' : await idOf(keyTag, keyTags, createKeyTag);
    const ofDoor = await idOf(door, userTags, createUserTag);
    const { key } = await pairInOrder({
      ...steps({ userName, userTags: [ofDoor], lifetime }),
      makeKey: async () => {
        const { doors, token } = await change.mutateAsync({ change: 'pair', door, name });
        const program = doors.flatMap(({ programs }) => programs).find((each) => each.name === name);
        return { publicKey: program?.publicKey ?? '', token };
      },
      policiesOf: (userId) => policiesOf(userId, tagId),
      check: async (userId) => check?.(userId),
      undo: (made) => undo({ door, name, ...made }),
    });
    return key.token;
  };
}

/** The steps of a pairing that are requests of the API. */
export function useUserSteps() {
  const createUsers = useSubmit('ACTIVITY_TYPE_CREATE_USERS_V4');
  const createPolicies = useSubmit('ACTIVITY_TYPE_CREATE_POLICIES');
  const createKeys = useSubmit('ACTIVITY_TYPE_CREATE_API_KEYS_V2');
  return ({
    userName,
    userTags,
    lifetime,
  }: {
    readonly userName: string;
    readonly userTags: readonly string[];
    readonly lifetime: string;
  }) => ({
    createUser: async () => {
      const user = { userName, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [...userTags] };
      return (await createUsers.mutateAsync({ users: [user] })).result.userIds[0] ?? '';
    },
    createPolicies: async (policies: readonly ProgramPolicy[]) =>
      (await createPolicies.mutateAsync({ policies: [...policies] })).result.policyIds,
    giveKey: (userId: string, { publicKey }: { readonly publicKey: string }) => {
      const key = {
        apiKeyName: userName,
        publicKey,
        curveType: 'API_KEY_CURVE_P256',
        ...(lifetime === '' ? {} : { expirationSeconds: lifetime }),
      } as const;
      return createKeys.mutateAsync({ userId, apiKeys: [key] });
    },
  });
}

export function useRevoking(): (door: DoorName, name: string, userId: string | undefined) => Promise<void> {
  const { data } = useApiQuery('list_policies');
  const undo = useUndo();
  return (door, name, userId) => {
    const policyIds = userId === undefined ? [] : policiesOfProgram(userId, data?.policies ?? []);
    return undo({ door, name, userId, policyIds });
  };
}

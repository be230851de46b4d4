/** Pairing a program with a door, and revoking it: the user gets its key once the policies that bound it are in force. */
import { doorKinds, policiesOfProgram, type DoorName } from '../../../main/lib/policies/doors.ts';
import type { PairedProgram } from '../../../main/lib/policies/door-kind.ts';
import { useApiQuery, useDoorsCall, useSubmit } from '../../app/rpc/vault.tsx';
import { useCreateTag, useTags } from '../tags/tag-queries.ts';

export type Bounds = Omit<PairedProgram, 'userId' | 'tagId'>;

/** A program's key at the door, its user and its policies: to be deleted together. */
interface Made {
  readonly door: DoorName;
  readonly name: string;
  readonly userId: string | undefined;
  readonly policyIds: readonly string[];
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

/**
 * If a step is refused, the created resources are deleted.
 * @param lifetime Seconds as digits; empty for no end.
 * @returns the token of a program that has one.
 */
export function usePairing(): (
  door: DoorName,
  name: string,
  bounds: Bounds,
  lifetime: string,
) => Promise<string | null> {
  const keyTags = useTags('privateKey');
  const userTags = useTags('user');
  const createKeyTag = useCreateTag('privateKey');
  const createUserTag = useCreateTag('user');
  const createUsers = useSubmit('ACTIVITY_TYPE_CREATE_USERS_V4');
  const createPolicies = useSubmit('ACTIVITY_TYPE_CREATE_POLICIES');
  const createKeys = useSubmit('ACTIVITY_TYPE_CREATE_API_KEYS_V2');
  const change = useDoorsCall();
  const undo = useUndo();
  return async (door, name, bounds, lifetime) => {
    const { keyTag, policies: policiesOf } = doorKinds[door];
    const userName = `${door} ${name}`;
    const idOf = async (wanted: string, { list }: typeof keyTags, create: typeof createKeyTag) =>
      list.find(({ tagName }) => tagName === wanted)?.tagId ??
      (await create.mutateAsync({ name: wanted, holderIds: [] }));
    const tagId = keyTag === undefined ? '' : await idOf(keyTag, keyTags, createKeyTag);
    const ofDoor = await idOf(door, userTags, createUserTag);
    const { doors, token } = await change.mutateAsync({ change: 'pair', door, name });
    const program = doors.flatMap(({ programs }) => programs).find((each) => each.name === name);
    let userId: string | undefined;
    let policyIds: readonly string[] = [];
    try {
      const user = { userName, apiKeys: [], authenticators: [], oauthProviders: [], userTags: [ofDoor] };
      [userId = ''] = (await createUsers.mutateAsync({ users: [user] })).result.userIds;
      const policies = policiesOf?.(name, { ...bounds, userId, tagId }) ?? [];
      ({ policyIds } = (await createPolicies.mutateAsync({ policies: [...policies] })).result);
      const key = {
        apiKeyName: userName,
        publicKey: program?.publicKey ?? '',
        curveType: 'API_KEY_CURVE_P256',
        ...(lifetime === '' ? {} : { expirationSeconds: lifetime }),
      } as const;
      await createKeys.mutateAsync({ userId, apiKeys: [key] });
    } catch (error) {
      await undo({ door, name, userId, policyIds });
      throw error;
    }
    return token;
  };
}

export function useRevoking(): (door: DoorName, name: string, userId: string | undefined) => Promise<void> {
  const { data } = useApiQuery('list_policies');
  const undo = useUndo();
  return (door, name, userId) => {
    const policyIds = userId === undefined ? [] : policiesOfProgram(userId, data?.policies ?? []);
    return undo({ door, name, userId, policyIds });
  };
}

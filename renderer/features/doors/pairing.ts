/** Pairing a program with a door, and revoking it. */
import { notifications } from '@mantine/notifications';
import {
  doorKinds,
  pairedIn,
  policiesLeftOf,
  policiesOfProgram,
  userNameOf,
  type DoorName,
} from '../../../main/lib/policies/doors.ts';
import { pairInOrder, type LeftResources, type PairingSteps } from '../../../main/lib/policies/pairing.ts';
import type { ProgramPolicy } from '../../../main/lib/policies/spenders.ts';
import { t } from '../../app/i18n/text.ts';
import type { Activity, Tag } from '../../app/rpc/resources.ts';
import { orFind, RpcError } from '../../app/rpc/rpc-error.ts';
import { queryApi, useApiQuery, useDoorsCall, useRpc, useSubmit } from '../../app/rpc/vault.tsx';
import { usePatientSubmit } from '../approvals/patient-submit.tsx';
import { readable } from '../../ui/text/readable.ts';
import { useTags } from '../tags/tag-queries.ts';

/** As the service takes names of programs. @returns null for a good one. */
export function programNameProblem(name: string, taken: readonly string[]): string | null {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) {
    return t('Enter small letters, digits and hyphens, 32 at most.');
  }
  return taken.includes(name) ? t('A program has this name.') : null;
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

interface UsePairing {
  /** Pairs a program. @returns the token of one that has a token. */
  readonly pair: (pairing: Pairing) => Promise<string | null>;
  /** The request that needs votes now. */
  readonly waiting: Activity | null;
}

export function usePairing(): UsePairing {
  const keyTags = useTags('privateKey');
  const userTags = useTags('user');
  const change = useDoorsCall();
  const { steps, submit, waiting } = useUserSteps();
  const rpc = useRpc();
  const forgetKey = (door: DoorName, name: string): Promise<unknown> =>
    orFind<unknown>(
      () => change.mutateAsync({ change: 'remove', door, name }),
      async () => {
        const { programs } = (await rpc.doors()).find((each) => each.door === door) ?? { programs: [] };
        return programs.every((program) => program.name !== name) || undefined;
      },
    );
  return {
    waiting,
    async pair({ door, name, lifetime, policiesOf, check }) {
      const { keyTag } = doorKinds[door];
      const userName = userNameOf(door, name);
      let tagId = '';
      // Tags stay, for the next program. So they come after the key, which the service may refuse.
      const tagUser = async (): Promise<readonly string[]> => {
        if (keyTag !== undefined) {
          tagId =
            idOf(keyTag, keyTags.list) ??
            (
              await submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', {
                privateKeyTagName: keyTag,
                privateKeyIds: [],
              })
            ).privateKeyTagId;
        }
        const ofDoor =
          idOf(door, userTags.list) ??
          (await submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: door, userIds: [] })).userTagId;
        return [ofDoor];
      };
      const { undo, ...others } = steps({ userName, tagUser, lifetime });
      const { key } = await pairInOrder({
        ...others,
        makeKey: async () => {
          const { doors, token } = await change.mutateAsync({ change: 'pair', door, name });
          const program = doors.flatMap(({ programs }) => programs).find((each) => each.name === name);
          return { publicKey: program?.publicKey ?? '', token };
        },
        policiesOf: (userId) => policiesOf(userId, tagId),
        check: async (userId) => check?.(userId),
        undo: { ...undo, forgetKey: () => forgetKey(door, name) },
      });
      return key.token;
    },
  };
}

const idOf = (wanted: string, tags: readonly Tag[]): string | undefined =>
  tags.find(({ tagName }) => tagName === wanted)?.tagId;

interface NewUser {
  readonly userName: string;
  /** @returns the ids of its tags, which it creates where they are missing. */
  readonly tagUser?: () => Promise<readonly string[]>;
  /** Seconds as digits; empty for no end. */
  readonly lifetime: string;
}

/** The steps of a pairing that are requests of the API. Each waits for the votes that it needs. */
export function useUserSteps() {
  const { submit, waiting } = usePatientSubmit();
  const deleting = useDeleting();
  const rpc = useRpc();
  const steps = ({ userName, tagUser, lifetime }: NewUser) => ({
    createUser: async () => {
      const userTags = [...((await tagUser?.()) ?? [])];
      const user = { userName, apiKeys: [], authenticators: [], oauthProviders: [], userTags };
      return (await submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [user] })).userIds[0] ?? '';
    },
    createPolicies: async (policies: readonly ProgramPolicy[]) =>
      (await submit('ACTIVITY_TYPE_CREATE_POLICIES', { policies: [...policies] })).policyIds,
    giveKey: (userId: string, { publicKey }: { readonly publicKey: string }) => {
      const key = {
        apiKeyName: userName,
        publicKey,
        curveType: 'API_KEY_CURVE_P256',
        ...(lifetime === '' ? {} : { expirationSeconds: lifetime }),
      } as const;
      return submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys: [key] });
    },
    // A refusal of the vault is an error of another kind.
    isUnanswered: (error: unknown) => error instanceof RpcError,
    find: async (userId: string | undefined) => {
      const { users } = await queryApi(rpc, 'list_users', {});
      const { policies } = await queryApi(rpc, 'list_policies', {});
      return pairedIn({ users, policies }, { userName, userId });
    },
    undo: deleting,
    onLeft: ({ key, userId, policyIds, isUnsure }: LeftResources, reasons: readonly unknown[]) => {
      const left = [
        ...(key ? [t('The key of “{{userName}}” is still there.', { userName })] : []),
        ...(userId === undefined ? [] : [t('The user “{{userName}}” is still there.', { userName })]),
        ...(policyIds.length === 0
          ? []
          : [t('{{count}} policies are still there.', { count: policyIds.length })]),
        ...(isUnsure
          ? [t('The user “{{userName}}” and its policies may still be there.', { userName })]
          : []),
      ];
      notifications.show({
        autoClose: false,
        title: t('Couldn’t delete what was created'),
        message: [...left, ...reasons.map(readable)].join(' '),
      });
    },
  });
  return { steps, submit, waiting };
}

/** Deletes what belongs to a program. */
function useDeleting() {
  const deleteUsers = useSubmit('ACTIVITY_TYPE_DELETE_USERS');
  const deletePolicies = useSubmit('ACTIVITY_TYPE_DELETE_POLICIES');
  return {
    deleteUser: (userId: string): Promise<unknown> => deleteUsers.mutateAsync({ userIds: [userId] }),
    deletePolicies: (policyIds: readonly string[]): Promise<unknown> =>
      deletePolicies.mutateAsync({ policyIds: [...policyIds] }),
  };
}

/** @returns what revokes a program. The user goes first: its key must not outlive its policies. */
export function useRevoking(): (door: DoorName, name: string, userId: string | undefined) => Promise<void> {
  const { data: users } = useApiQuery('list_users');
  const { data } = useApiQuery('list_policies');
  const change = useDoorsCall();
  const { deleteUser, deletePolicies } = useDeleting();
  return async (door, name, userId) => {
    const policies = data?.policies ?? [];
    const policyIds = [
      ...(userId === undefined ? [] : policiesOfProgram(userId, policies)),
      ...(users === undefined ? [] : policiesLeftOf(door, name, users.users, policies)),
    ];
    if (userId !== undefined) await deleteUser(userId);
    if (policyIds.length > 0) await deletePolicies(policyIds);
    await change.mutateAsync({ change: 'remove', door, name });
  };
}

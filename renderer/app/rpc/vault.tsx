/** The vault as React sees it: its status, its queries and submits, all over the rpc. */

import { createContext, useContext, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import {
  QueryClient,
  QueryClientProvider,
  skipToken,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { MutateOptions, UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type {
  BackupsStatus,
  DoorsChange,
  DoorsChanged,
  DoorStatus,
  RpcCall,
  WindowRpc,
  MessagesStatus,
  SeenRequests,
  Settings,
  SettingsChange,
  ShownMessage,
  VaultEvent,
  VaultStatus,
} from '../../../preload/contract.ts';
import { dropDrafts } from '../kept-drafts.ts';
import { refresh } from './refresh.ts';
import type { RpcConnection } from './rpc.ts';
import type { RpcState } from './http-session.ts';
import { steppingUp } from '../../features/unlock/step-up.ts';
import { pathOfType, voteTypes } from '../../../main/lib/text/activity-types.ts';
import { resultOf } from '../../../main/lib/text/to-be-signed.ts';
import type {
  ActivityParameters,
  ActivityResult,
  ActivityType,
  Answer,
  QueryParameters,
  QueryPath,
  VoteType,
} from '../../../main/operations/api.ts';
import type { Activity } from './resources.ts';
import { t } from '../i18n/text.ts';

/** An operation that the service refused: its message, and the code that scripts see. */
export class OperationError extends Error {
  declare protected readonly brand: 'OperationError';
  override readonly name = 'OperationError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, message: string, code: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const RpcContext = createContext<RpcConnection | null>(null);

function useRpcConnection(): RpcConnection {
  const connection = useContext(RpcContext);
  if (connection === null) throw new Error('useRpcConnection: no VaultProvider above');
  return connection;
}

export const useRpc = (): WindowRpc => useRpcConnection().rpc;

export function useRpcState(): RpcState {
  const connection = useRpcConnection();
  return useSyncExternalStore(connection.onState, connection.state);
}

const queryClient = new QueryClient({
  defaultOptions: {
    // The service is on this machine: whether the machine is online says nothing about it.
    queries: { networkMode: 'always', retry: false, staleTime: 30_000 },
    // The arguments and the answer may be secret: they are gone with the part that made the call.
    mutations: { networkMode: 'always', retry: false, gcTime: 0 },
  },
});

const statusKey = ['status'];
const queriesKey = ['queries'];
const backupsKey = [...queriesKey, 'backups'];
const messagesKey = [...queriesKey, 'messages'];
const requestsKey = [...queriesKey, 'requests'];
const settingsKey = [...queriesKey, 'settings'];
const doorsKey = [...queriesKey, 'doors'];

export function VaultProvider({
  connection,
  children,
}: {
  readonly connection: RpcConnection;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    const refresh = refresher(queryClient);
    const stopListening = connection.rpc.onEvent(refresh.onEvent);
    const stopWatching = connection.onState(() => {
      // Refetch what failed while the service was away, as soon as it is back.
      if (connection.state() === 'signed-out') queryClient.clear();
      if (connection.state() === 'ready') void refreshAll(queryClient);
    });
    return () => {
      stopListening();
      stopWatching();
      refresh.stop();
    };
  }, [connection]);
  const confirming = useMemo(
    () => ({ ...connection, rpc: { ...connection.rpc, ...steppingUp(connection.rpc) } }),
    [connection],
  );
  return (
    <RpcContext value={confirming}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </RpcContext>
  );
}

/** The status as it is known, outside of rendering. */
export const statusIn = (client: QueryClient): VaultStatus | undefined =>
  client.getQueryData<VaultStatus>(statusKey);

/** Refetches the status, and the rest only if the vault is still open. */
async function refreshAll(client: QueryClient): Promise<void> {
  await refresh(client, { queryKey: statusKey });
  if (statusIn(client)?.state === 'unlocked') {
    await refresh(client, { queryKey: queriesKey });
  } else client.removeQueries({ queryKey: queriesKey });
}

/** Between two refreshes of what is shown, in milliseconds: a script may sign thousands of times in a second. */
const refreshPause = 1_000;

/** Between two looks at what is shown here, in milliseconds. */
const shownPause = 15_000;

const renames: ReadonlySet<string> = new Set([
  'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
  'ACTIVITY_TYPE_UPDATE_USER',
  'ACTIVITY_TYPE_UPDATE_USER_NAME',
]);

/** Shows the progress of an unlock, some ten times a second, from the event and without a query. */
function showUnlocking(client: QueryClient, { checked, total }: NonNullable<VaultStatus['unlocking']>): void {
  client.setQueryData<VaultStatus>(
    statusKey,
    (status) => status && { ...status, unlocking: { checked, total } },
  );
}

const ofTheLog = /activit|^(?:logState|count_signing_days|list_policy_budgets|list_receiver_uses)$/;

/** Turns events into invalidated queries, the first at once and the rest of a burst together. */
function refresher(client: QueryClient): { onEvent: (event: VaultEvent) => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Set<'log' | 'all'>();
  const flush = () => {
    timer = undefined;
    if (waiting.size === 0) return;
    // A signature changes the log, and what is read from it.
    const onlyLog = !waiting.has('all');
    waiting.clear();
    void refresh(client, {
      queryKey: queriesKey,
      predicate: ({ queryKey }) => !onlyLog || ofTheLog.test(String(queryKey[1])),
    });
    timer = setTimeout(flush, refreshPause);
  };
  return {
    onEvent(event) {
      if (event.kind === 'status') void refreshAll(client);
      else if (event.kind === 'backups') void refresh(client, { queryKey: backupsKey });
      else if (event.kind === 'unlocking') showUnlocking(client, event);
      else if (event.kind === 'doors') void refresh(client, { queryKey: doorsKey });
      else if (event.kind === 'settings') void refresh(client, { queryKey: settingsKey });
      else if (event.kind === 'webhooks') {
        void refresh(client, { queryKey: [...queriesKey, 'list_webhook_deliveries'] });
        // The status says what waits to be sent.
        void refresh(client, { queryKey: statusKey });
      } else if (event.kind === 'messages' || event.kind === 'message') {
        void refresh(client, { queryKey: messagesKey });
        void refresh(client, { queryKey: statusKey });
      } else if (event.kind === 'requests') {
        void refresh(client, { queryKey: requestsKey });
        void refresh(client, { queryKey: [...queriesKey, 'list_credential_uses'] });
      } else if (event.kind === 'activity') {
        // The status says what the organization and its owner are called.
        if (renames.has(event.type)) void refresh(client, { queryKey: statusKey });
        waiting.add(event.type.includes('_SIGN_') ? 'log' : 'all');
        if (timer === undefined) flush();
      }
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

export function useStatusQuery(): UseQueryResult<VaultStatus> {
  const rpc = useRpc();
  return useQuery({ queryKey: statusKey, queryFn: () => rpc.status() });
}

const StatusContext = createContext<VaultStatus | null>(null);
export const StatusProvider = StatusContext;

/** The status, on screens that are shown only once it is known. */
export function useStatus(): VaultStatus {
  const status = useContext(StatusContext);
  if (status === null) throw new Error('useStatus: no StatusProvider above');
  return status;
}

/** The backups of the vault; refetched while one is written or verified, to show its progress. */
export function useBackups(): UseQueryResult<BackupsStatus> {
  const rpc = useRpc();
  return useQuery({
    queryKey: backupsKey,
    queryFn: () => rpc.backups(),
    refetchInterval: ({ state }) => (state.data?.running == null ? false : 1_000),
  });
}

/**
 * A busy window takes a second press before it shows that the first one works. The second call asks nothing: it has the answer of
 * the first. An input is compared by its JSON, and is forgotten with the answer.
 */
function useJoined<Input, Answer>(ask: (input: Input) => Promise<Answer>): (input: Input) => Promise<Answer> {
  const asked = useRef(new Map<string, Promise<Answer>>());
  return (input) => {
    const wish = JSON.stringify([input]);
    const before = asked.current.get(wish);
    if (before !== undefined) return before;
    const answer = ask(input).finally(() => {
      asked.current.delete(wish);
    });
    asked.current.set(wish, answer);
    return answer;
  };
}

/** Makes an rpc call, and refetches what it concerns, whether it succeeds or fails. */
function useRpcCall<Input, Answer>(
  queryKey: readonly unknown[],
  run: (rpc: WindowRpc, input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> {
  const rpc = useRpc();
  const client = useQueryClient();
  return useMutation({
    mutationFn: useJoined((input: Input) => run(rpc, input)),
    onSettled() {
      void refresh(client, { queryKey });
    },
  });
}

/** Makes an rpc call about backups, and refetches their list, whether it succeeds or fails. */
export const useBackupCall = <Input, Answer>(
  run: (rpc: WindowRpc, input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> => useRpcCall(backupsKey, run);

/** The vault's behavior on this computer. */
export function useSettings(): UseQueryResult<Settings> {
  const rpc = useRpc();
  return useQuery({ queryKey: settingsKey, queryFn: () => rpc.settings() });
}

/** The new settings are there before what was done is said: forms begin with them, also where that is undone at once. */
export function useSettingsCall(): UseMutationResult<Settings, Error, SettingsChange> {
  const client = useQueryClient();
  return useRpcCall(settingsKey, async (rpc, change: SettingsChange) => {
    const settings = await rpc.changeSettings(change);
    client.setQueryData(settingsKey, settings);
    return settings;
  });
}

/** The doors, and the programs that are paired with them. */
export function useDoors(): UseQueryResult<readonly DoorStatus[]> {
  const rpc = useRpc();
  return useQuery({ queryKey: doorsKey, queryFn: () => rpc.doors() });
}

export const useDoorsCall = (): UseMutationResult<DoorsChanged, Error, DoorsChange> =>
  useRpcCall(doorsKey, (rpc, change: DoorsChange) => rpc.changeDoors(change));

/** The channels for messages, and the outcomes of the last messages. */
export function useMessages(): UseQueryResult<MessagesStatus> {
  const rpc = useRpc();
  return useQuery({ queryKey: [...messagesKey, 'status'], queryFn: () => rpc.messages() });
}

/** Messages that are shown here; refetched now and then, since each is gone when it expires. */
export function useShownMessages(): UseQueryResult<readonly ShownMessage[]> {
  const rpc = useRpc();
  return useQuery({
    queryKey: [...messagesKey, 'shown'],
    queryFn: () => rpc.shownMessages(),
    // A code is not kept behind the screen that shows it.
    gcTime: 0,
    refetchInterval: shownPause,
  });
}

/** While the list is on the screen, in milliseconds: the service emits new requests for half a minute after each query. */
const requestsPause = 10_000;

/** The last requests that came to the API, as they come; @param live Whether to fetch new ones. */
export function useRequests(live: boolean): UseQueryResult<SeenRequests> {
  const rpc = useRpc();
  return useQuery({
    queryKey: requestsKey,
    queryFn: () => rpc.requests(),
    enabled: live,
    staleTime: 0,
    refetchInterval: live && requestsPause,
  });
}

/** Makes an rpc call about messages, and refetches what the window shows of them, whether it succeeds or fails. */
export const useMessageCall = <Input, Answer>(
  run: (rpc: WindowRpc, input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> => useRpcCall(messagesKey, run);

/** Makes an rpc call that answers a status, and shows that status at once. */
export function useStatusCall<Input>(
  run: (rpc: WindowRpc, input: Input) => Promise<VaultStatus>,
): UseMutationResult<VaultStatus, Error, Input> {
  const rpc = useRpc();
  const client = useQueryClient();
  return useMutation({
    mutationFn: useJoined((input: Input) => run(rpc, input)),
    onSuccess(status) {
      client.setQueryData(statusKey, status);
      // Data from the open vault is not kept behind its lock.
      if (status.state !== 'unlocked') client.removeQueries({ queryKey: queriesKey });
    },
  });
}

/** The organization of a request; the vault's own unless given. */
interface Where {
  readonly organizationId?: string;
}

type QueryBody<Path extends QueryPath> = QueryParameters<Path> & Where;

/** One query of the API. The service's schemas have made the types of what it takes and answers. */
export const queryApi = async <Path extends QueryPath>(
  rpc: WindowRpc,
  path: Path,
  body: QueryBody<Path>,
): Promise<Answer<Path>> => read(await rpc.call(`/public/v1/query/${path}`, body)) as Answer<Path>;

/** The key of the answers to a query, or to a call of the rpc that reads. */
export const apiQueryKey = (path: QueryPath | RpcCall, body: object | null): readonly unknown[] => [
  ...queriesKey,
  path,
  body,
];

/** @param body null while there is nothing to ask. */
export function useApiQuery<Path extends QueryPath>(
  path: Path,
  ...[body]: object extends QueryBody<Path> ? [body?: QueryBody<Path> | null] : [body: QueryBody<Path> | null]
): UseQueryResult<Answer<Path>> {
  const rpc = useRpc();
  const wanted = body === undefined ? ({} as QueryBody<Path>) : body;
  return useQuery({
    queryKey: apiQueryKey(path, wanted),
    queryFn: wanted === null ? skipToken : () => queryApi(rpc, path, wanted),
  });
}

/** @returns the activity that it became, or that was voted on. */
export async function submitApi(
  rpc: WindowRpc,
  type: ActivityType | VoteType,
  parameters: unknown,
  where: Where = {},
): Promise<Activity> {
  const answer = await rpc.call(submitPath(type), { ...where, type, parameters });
  return (read(answer) as Answer<'get_activity'>).activity;
}

const submitPath = (type: ActivityType | VoteType): string => `/public/v1/submit/${pathOfType(type)}`;

export interface Submitted<Type extends ActivityType> {
  readonly activity: Activity;
  readonly result: ActivityResult<Type>;
}

type OnSuccess<Type extends ActivityType> = MutateOptions<
  Submitted<Type>,
  Error,
  ActivityParameters<Type>
>['onSuccess'];

export type UseSubmit<Type extends ActivityType> = UseMutationResult<
  Submitted<Type>,
  Error,
  ActivityParameters<Type>
>;

/**
 * One submit; resolves when its activity is completed and rejects with the reason when it is not. A lock meanwhile takes its form
 * away, and keeps what was typed. What follows success is done all the same, so that the form does not come back.
 */
export function useSubmit<Type extends ActivityType>(type: Type, where: Where = {}): UseSubmit<Type> {
  const rpc = useRpc();
  const client = useQueryClient();
  const newest = useRef<{ readonly screen: string; readonly onSuccess: OnSuccess<Type> }>(null);
  const mutation: UseSubmit<Type> = useMutation({
    mutationFn: useJoined(async (parameters: ActivityParameters<Type>) =>
      completed<Type>(await submitApi(rpc, type, parameters, where)),
    ),
    onSuccess(...answer) {
      void refresh(client, { queryKey: queriesKey });
      if (statusIn(client)?.state === 'unlocked' || newest.current === null) return;
      dropDrafts();
      const { screen, onSuccess } = newest.current;
      if (window.location.hash === screen) onSuccess?.(...answer);
    },
  });
  return {
    ...mutation,
    mutate(...given) {
      newest.current = { screen: window.location.hash, onSuccess: given[1]?.onSuccess };
      mutation.mutate(...given);
    },
  };
}

/** @throws OperationError with the reason why it is not completed. */
export function completed<Type extends ActivityType>(activity: Activity): Submitted<Type> {
  const { status, failure } = activity;
  if (status !== 'ACTIVITY_STATUS_COMPLETED')
    throw new OperationError(200, failure?.message ?? unfinished(status), status);
  return { activity, result: resultOf(activity) as ActivityResult<Type> };
}

/** Votes on an activity by its fingerprint; answers the activity as it is by then. */
export function useVote(how: keyof typeof voteTypes): UseMutationResult<Activity, Error, string> {
  const rpc = useRpc();
  const client = useQueryClient();
  return useMutation({
    mutationFn: useJoined((fingerprint: string) => submitApi(rpc, voteTypes[how], { fingerprint })),
    onSettled() {
      void refresh(client, { queryKey: queriesKey });
    },
  });
}

/**
 * Asks the owner for the secret that a vote needs, if it needs one, before the vote is held.
 * @throws RpcError where the owner gives none.
 */
export async function confirmVote(
  rpc: WindowRpc,
  how: keyof typeof voteTypes,
  fingerprint: string,
): Promise<void> {
  const type = voteTypes[how];
  read(await rpc.reserveStepUp(submitPath(type), { type, parameters: { fingerprint } }));
}

const unfinished = (status: string): string =>
  status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
    ? t('This needs more approvals. Find the request under Approvals.')
    : t('Activity status: {{status}}', { status });

function read({ status, body }: { status: number; body: unknown }): unknown {
  if (status === 200) return body;
  const { message, turnkeyErrorCode } = (body ?? {}) as { message?: string; turnkeyErrorCode?: string };
  throw new OperationError(
    status,
    message ?? `The service answered ${String(status)}.`,
    turnkeyErrorCode ?? '',
  );
}

/** The vault as React sees it: its status, its queries and submits, all through the one bridge. */

import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import {
  QueryClient,
  QueryClientProvider,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type {
  BackupsStatus,
  Bridge,
  MessagesStatus,
  SeenRequests,
  Settings,
  SettingsChange,
  ShownMessage,
  VaultEvent,
  VaultStatus,
} from '../../preload/contract.ts';
import type { Door, DoorState } from '../bridge.ts';
import { askingCall } from './owner-proof.ts';
import type { Activity } from './resources.ts';
import { t } from './text.ts';

/** An operation that the service refused: its message, and the code that scripts see. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, message: string, code: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const DoorContext = createContext<Door | null>(null);

function useDoor(): Door {
  const door = useContext(DoorContext);
  if (door === null) throw new Error('useDoor: no VaultProvider above');
  return door;
}

export const useBridge = (): Bridge => useDoor().bridge;

export function useDoorState(): DoorState {
  const door = useDoor();
  return useSyncExternalStore(door.onState, door.state);
}

const queryClient = new QueryClient({
  defaultOptions: {
    // The service is on this machine: whether the machine is online says nothing about it.
    queries: { networkMode: 'always', retry: false, staleTime: 30_000 },
    mutations: { networkMode: 'always', retry: false },
  },
});

const statusKey = ['status'];
const askedKey = ['asked'];
const backupsKey = [...askedKey, 'backups'];
const messagesKey = [...askedKey, 'messages'];
const requestsKey = [...askedKey, 'requests'];
const settingsKey = [...askedKey, 'settings'];

export function VaultProvider({
  door,
  children,
}: {
  readonly door: Door;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    const refresh = refresher(queryClient);
    const stopListening = door.bridge.onEvent(refresh.onEvent);
    const stopWatching = door.onState(() => {
      // What failed while the service was away is asked again as soon as it is back.
      if (door.state() === 'signed-out') queryClient.clear();
      if (door.state() === 'ready') void refreshAll(queryClient);
    });
    return () => {
      stopListening();
      stopWatching();
      refresh.stop();
    };
  }, [door]);
  const asking = useMemo(
    () => ({ ...door, bridge: { ...door.bridge, call: askingCall(door.bridge) } }),
    [door],
  );
  return (
    <DoorContext value={asking}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </DoorContext>
  );
}

/** Asks for the status, and for the rest only if the vault is still open. */
async function refreshAll(client: QueryClient): Promise<void> {
  await client.invalidateQueries({ queryKey: statusKey });
  if (client.getQueryData<VaultStatus>(statusKey)?.state === 'unlocked') {
    await client.invalidateQueries({ queryKey: askedKey });
  } else client.removeQueries({ queryKey: askedKey });
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

/** How far an unlocking is, told some ten times a second: shown at once, and not asked for. */
function tellUnlocking(client: QueryClient, { checked, total }: NonNullable<VaultStatus['unlocking']>): void {
  client.setQueryData<VaultStatus>(
    statusKey,
    (status) => status && { ...status, unlocking: { checked, total } },
  );
}

/** Turns events into invalidated queries, the first at once and the rest of a burst together. */
function refresher(client: QueryClient): { onEvent: (event: VaultEvent) => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Set<'log' | 'all'>();
  const flush = () => {
    timer = undefined;
    if (waiting.size === 0) return;
    // A signature changes the log and nothing else.
    const onlyLog = !waiting.has('all');
    waiting.clear();
    void client.invalidateQueries({
      queryKey: askedKey,
      predicate: ({ queryKey }) => !onlyLog || String(queryKey[1]).includes('activit'),
    });
    timer = setTimeout(flush, refreshPause);
  };
  return {
    onEvent(event) {
      if (event.kind === 'status') void refreshAll(client);
      else if (event.kind === 'backups') void client.invalidateQueries({ queryKey: backupsKey });
      else if (event.kind === 'unlocking') tellUnlocking(client, event);
      else if (event.kind === 'settings') void client.invalidateQueries({ queryKey: settingsKey });
      else if (event.kind === 'webhooks') {
        void client.invalidateQueries({ queryKey: [...askedKey, 'list_webhook_deliveries'] });
        // The status says what waits to be sent.
        void client.invalidateQueries({ queryKey: statusKey });
      } else if (event.kind === 'messages' || event.kind === 'message') {
        void client.invalidateQueries({ queryKey: messagesKey });
        void client.invalidateQueries({ queryKey: statusKey });
      } else if (event.kind === 'requests') {
        void client.invalidateQueries({ queryKey: requestsKey });
        void client.invalidateQueries({ queryKey: [...askedKey, 'list_credential_uses'] });
      } else if (event.kind === 'activity') {
        // The status says what the organization and its owner are called.
        if (renames.has(event.type)) void client.invalidateQueries({ queryKey: statusKey });
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
  const bridge = useBridge();
  return useQuery({ queryKey: statusKey, queryFn: () => bridge.status() });
}

const StatusContext = createContext<VaultStatus | null>(null);
export const StatusProvider = StatusContext;

/** The status, on screens that are shown only once it is known. */
export function useStatus(): VaultStatus {
  const status = useContext(StatusContext);
  if (status === null) throw new Error('useStatus: no StatusProvider above');
  return status;
}

/** The backups of the vault; asked again while one is made or tried, so that its progress is seen. */
export function useBackups(): UseQueryResult<BackupsStatus> {
  const bridge = useBridge();
  return useQuery({
    queryKey: backupsKey,
    queryFn: () => bridge.backups(),
    refetchInterval: ({ state }) => (state.data?.running == null ? false : 1_000),
  });
}

/** Runs a bridge call, and asks again for what it is about whatever came of it. */
function useBridgeCall<Input, Answer>(
  queryKey: readonly unknown[],
  run: (bridge: Bridge, input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> {
  const bridge = useBridge();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => run(bridge, input),
    // What it was given may be a secret: it is not kept.
    gcTime: 0,
    onSettled() {
      void client.invalidateQueries({ queryKey });
    },
  });
}

/** Runs a bridge call about backups, and asks for their list again whatever came of it. */
export const useBackupCall = <Input, Answer>(
  run: (bridge: Bridge, input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> => useBridgeCall(backupsKey, run);

/** How this vault behaves on this computer. */
export function useSettings(): UseQueryResult<Settings> {
  const bridge = useBridge();
  return useQuery({ queryKey: settingsKey, queryFn: () => bridge.settings() });
}

export const useSettingsCall = (): UseMutationResult<Settings, Error, SettingsChange> =>
  useBridgeCall(settingsKey, (bridge, change: SettingsChange) => bridge.changeSettings(change));

/** How messages leave the vault, and what became of the last. */
export function useMessages(): UseQueryResult<MessagesStatus> {
  const bridge = useBridge();
  return useQuery({ queryKey: [...messagesKey, 'status'], queryFn: () => bridge.messages() });
}

/** Messages that are shown here; asked again now and then, since each is gone when it expires. */
export function useShownMessages(): UseQueryResult<readonly ShownMessage[]> {
  const bridge = useBridge();
  return useQuery({
    queryKey: [...messagesKey, 'shown'],
    queryFn: () => bridge.shownMessages(),
    // A code is not kept behind the screen that shows it.
    gcTime: 0,
    refetchInterval: shownPause,
  });
}

/** While it is looked at, in milliseconds: the service tells of new requests for half a minute after each look. */
const requestsPause = 10_000;

/** The last requests that came to the API, as they come; @param live Whether new ones are asked for. */
export function useRequests(live: boolean): UseQueryResult<SeenRequests> {
  const bridge = useBridge();
  return useQuery({
    queryKey: requestsKey,
    queryFn: () => bridge.requests(),
    enabled: live,
    staleTime: 0,
    refetchInterval: live && requestsPause,
  });
}

/** Runs a bridge call about messages, and asks again for what is shown of them whatever came of it. */
export const useMessageCall = <Input, Answer>(
  run: (bridge: Bridge, input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> => useBridgeCall(messagesKey, run);

/** Runs a bridge call that answers a status, and shows that status at once. */
export function useStatusCall<Input>(
  run: (bridge: Bridge, input: Input) => Promise<VaultStatus>,
): UseMutationResult<VaultStatus, Error, Input> {
  const bridge = useBridge();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => run(bridge, input),
    onSuccess(status) {
      client.setQueryData(statusKey, status);
      // What was read while the vault was open is not kept behind its lock.
      if (status.state !== 'unlocked') client.removeQueries({ queryKey: askedKey });
    },
  });
}

/** One query of the service, for `useQuery` and `useInfiniteQuery`. */
export async function ask<Answer>(
  bridge: Bridge,
  operation: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  return read(await bridge.call(`/public/v1/query/${operation}`, body)) as Answer;
}

export const askKey = (operation: string, body: Readonly<Record<string, unknown>>): readonly unknown[] => [
  ...askedKey,
  operation,
  body,
];

export function useAsk<Answer>(
  operation: string,
  body: Readonly<Record<string, unknown>> = {},
  enabled = true,
): UseQueryResult<Answer> {
  const bridge = useBridge();
  return useQuery({
    queryKey: askKey(operation, body),
    queryFn: () => ask<Answer>(bridge, operation, body),
    enabled,
  });
}

export interface Submit {
  readonly operation: string;
  readonly type: string;
  /** The key of `activity.result` that holds what was made. */
  readonly result: string;
  /** Where it is done, unless in the vault's own organization. */
  readonly organizationId?: string;
}

export interface Submitted<Result> {
  readonly activity: Activity;
  readonly result: Result;
}

export type UseSubmit<Parameters, Result> = UseMutationResult<Submitted<Result>, Error, Parameters>;

/** One submit; resolves when its activity is completed and rejects with the reason when it is not. */
export function useSubmit<Parameters extends object, Result>({
  operation,
  type,
  result,
  ...where
}: Submit): UseSubmit<Parameters, Result> {
  const bridge = useBridge();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (parameters: Parameters) => {
      const body = read(await bridge.call(`/public/v1/submit/${operation}`, { ...where, type, parameters }));
      const { activity } = body as { activity: Activity };
      if (activity.status !== 'ACTIVITY_STATUS_COMPLETED') {
        throw new OperationError(
          200,
          activity.failure?.message ?? unfinished(activity.status),
          activity.status,
        );
      }
      return { activity, result: activity.result?.[result] as Result };
    },
    onSuccess() {
      void client.invalidateQueries({ queryKey: askedKey });
    },
  });
}

const unfinished = (status: string): string =>
  status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
    ? t('Others must agree to this first. It waits under Approvals.')
    : t('The activity is {{status}}.', { status });

/** One call of the API, whatever it answers; what is shown is asked for again, whatever came of it. */
export function useCall<Input, Read>(
  path: string,
  toBody: (input: Input) => Readonly<Record<string, unknown>>,
  fromAnswer: (answer: unknown) => Read,
): UseMutationResult<Read, Error, Input> {
  const bridge = useBridge();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: Input) =>
      fromAnswer(read(await bridge.call(`/public/v1/${path}`, toBody(input)))),
    onSettled() {
      void client.invalidateQueries({ queryKey: askedKey });
    },
  });
}

function read({ status, body }: { status: number; body: unknown }): unknown {
  if (status === 200) return body;
  const { message, turnkeyErrorCode } = (body ?? {}) as { message?: string; turnkeyErrorCode?: string };
  throw new OperationError(
    status,
    message ?? `The service answered ${String(status)}.`,
    turnkeyErrorCode ?? '',
  );
}

/** Which activities wait for the owner's vote: for the tray, the badge and notifications. The window asks for itself. */
import type { VaultBridge } from '../../preload/contract.ts';
import { LatchkeyError } from '../lib/errors.ts';
import type { AskedActivity } from '../lib/to-be-signed.ts';
import { report } from './report.ts';
import { owned } from '../lib/faults.ts';

export interface WaitingActivity extends AskedActivity {
  readonly id: string;
}

export interface Approvals extends Disposable {
  /** Newest first; none while the vault is locked. */
  readonly waiting: readonly WaitingActivity[];
  /** @returns the function that stops listening. */
  onChange(listener: () => void): () => void;
  /** Tells of those that began to wait while the vault was open. @returns the function that stops listening. */
  onNew(listener: (activities: readonly WaitingActivity[]) => void): () => void;
}

/** As many as the window shows. */
const mostShown = 100;

/** Between two questions, in milliseconds: a script may submit thousands in a second. */
const pause = 500;

/** Follows the vault until it is disposed of. */
export function watchApprovals(bridge: Pick<VaultBridge, 'status' | 'call' | 'onEvent'>): Approvals {
  let waiting: readonly WaitingActivity[] = [];
  /** Those known since the vault was opened; undefined while it is locked, and what waits already is no news. */
  let known: Set<string> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  let isDisposed = false;
  const changed = new Set<() => void>();
  const begun = new Set<(activities: readonly WaitingActivity[]) => void>();

  async function refresh(): Promise<void> {
    try {
      const found = await ask(bridge);
      if (isDisposed) return;
      const news = known === undefined ? [] : (found ?? []).filter(({ id }) => known?.has(id) === false);
      known = found && new Set([...(known ?? []), ...found.map(({ id }) => id)]);
      const isSame = String((found ?? []).map(({ id }) => id)) === String(waiting.map(({ id }) => id));
      waiting = found ?? [];
      if (!isSame) for (const listener of changed) listener();
      if (news.length > 0) for (const listener of begun) listener(news);
    } catch (error) {
      report('what waits for votes is not known', error);
    }
  }

  /** Asks now, and again after a pause for all that came meanwhile. */
  function want(): void {
    isWanted = true;
    if (timer !== undefined || isDisposed) return;
    isWanted = false;
    timer = setTimeout(
      owned(() => {
        timer = undefined;
        if (isWanted) want();
      }),
      pause,
    ).unref();
    void refresh();
  }

  want();
  const stopEvents = bridge.onEvent((event) => {
    if (event.kind === 'status') want();
    if (event.kind !== 'activity') return;
    // Most activities wait for nobody, and say nothing new.
    const waits = event.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
    if (waits || waiting.some(({ id }) => id === event.id)) want();
  });
  return {
    get waiting() {
      return waiting;
    },
    onChange(listener) {
      changed.add(listener);
      return () => changed.delete(listener);
    },
    onNew(listener) {
      begun.add(listener);
      return () => begun.delete(listener);
    },
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(timer);
      stopEvents();
    },
  };
}

/** @returns undefined where the vault is not open. */
async function ask(bridge: Pick<VaultBridge, 'status' | 'call'>): Promise<WaitingActivity[] | undefined> {
  try {
    if ((await bridge.status()).state !== 'unlocked') return undefined;
    const { status, body } = await bridge.call('/public/v1/query/list_activities', {
      filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
      paginationOptions: { limit: String(mostShown) },
    });
    if (status !== 200) throw new Error(`the activities that wait: HTTP ${String(status)}`);
    const { activities } = body as {
      readonly activities: readonly (WaitingActivity & { readonly canApprove: boolean })[];
    };
    return activities
      .filter(({ canApprove }) => canApprove)
      .map(({ id, type, intent }) => ({ id, type, intent }));
  } catch (error) {
    // Locked between the two questions.
    if (error instanceof LatchkeyError) return undefined;
    throw error;
  }
}

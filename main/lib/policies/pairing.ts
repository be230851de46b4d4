/**
 * The order in which a program gets its rights, in the window and the command alike: its user gets a key once the policies that
 * bound it are in force and no other policy goes beyond them. A key may wait for votes meanwhile, so others are looked at again
 * once it is there.
 */
import type { ProgramPolicy } from './spenders.ts';

/** Resources of one program, to be deleted together. */
export interface PairedResources {
  /** Undefined where none was created. */
  readonly userId: string | undefined;
  readonly policyIds: readonly string[];
}

export interface PairingSteps<Key> {
  readonly makeKey: () => Promise<Key>;
  /** @returns the id of a user without a way in. */
  readonly createUser: () => Promise<string>;
  readonly policiesOf: (userId: string) => readonly ProgramPolicy[];
  /** @returns the ids of the policies. */
  readonly createPolicies: (policies: readonly ProgramPolicy[]) => Promise<readonly string[]>;
  /** Rejects where policies in force let the user do more than its own do. */
  readonly check: (userId: string) => Promise<void>;
  readonly giveKey: (userId: string, key: Key) => Promise<unknown>;
  /** True where no answer came: the vault may have done what it was asked. */
  readonly isUnanswered: (error: unknown) => boolean;
  /**
   * Looks for what a request without an answer created, or did not delete.
   * @param userId Undefined where its answer did not come.
   * @returns no user where it is gone.
   */
  readonly find: (userId: string | undefined) => Promise<PairedResources>;
  /** Deletes what was created. */
  readonly undo: UndoSteps;
  /** Called where some of it could not be deleted, with the reason of each. */
  readonly onLeft: (left: LeftResources, reasons: readonly unknown[]) => void;
}

export interface LeftResources extends PairedResources {
  /** True while the vault keeps the program's key. */
  readonly key: boolean;
  /** True where a request had no answer, and its outcome could not be looked up. */
  readonly isUnsure: boolean;
}

interface UndoSteps {
  /** Left out where the vault keeps no key of the program. */
  readonly forgetKey?: () => Promise<unknown>;
  readonly deleteUser: (userId: string) => Promise<unknown>;
  readonly deletePolicies: (policyIds: readonly string[]) => Promise<unknown>;
}

/** If a step is refused, what was created is deleted. */
export async function pairInOrder<Key>(
  steps: PairingSteps<Key>,
): Promise<{ readonly key: Key; readonly userId: string; readonly policyIds: readonly string[] }> {
  const key = await steps.makeKey();
  let userId: string | undefined;
  let policyIds: readonly string[] = [];
  try {
    userId = await steps.createUser();
    policyIds = await steps.createPolicies(steps.policiesOf(userId));
    await steps.check(userId);
    await steps.giveKey(userId, key);
    await steps.check(userId);
    return { key, userId, policyIds };
  } catch (error) {
    await undoAll(steps, { userId, policyIds }, steps.isUnanswered(error));
    throw error;
  }
}

/** Tries each step, so that one that is refused leaves no more than it must. A user that stays keeps the policies that bound it. */
async function undoAll(
  {
    undo,
    find,
    onLeft,
    isUnanswered,
  }: Pick<PairingSteps<never>, 'undo' | 'find' | 'onLeft' | 'isUnanswered'>,
  known: PairedResources,
  isUnsure: boolean,
): Promise<void> {
  const reasons: unknown[] = [];
  /** @param isGone Looks for what the step deletes, where its answer is lost. */
  const isDone = (step: Promise<unknown>, isGone?: () => Promise<boolean>): Promise<boolean> =>
    step.then(
      () => true,
      async (reason: unknown) => {
        if (isUnanswered(reason) && (await isGone?.().catch(() => false)) === true) return true;
        reasons.push(reason);
        return false;
      },
    );
  let made = known;
  const look = async (): Promise<void> => {
    made = await find(known.userId);
  };
  const isKnown = !isUnsure || (await isDone(look()));
  const { userId, policyIds } = made;
  const isUserDeleted = async (): Promise<boolean> => (await find(userId)).userId === undefined;
  const arePoliciesDeleted = async (): Promise<boolean> => (await find(userId)).policyIds.length === 0;
  const isKeyGone = undo.forgetKey === undefined || (await isDone(undo.forgetKey()));
  const isUserGone = userId === undefined || (await isDone(undo.deleteUser(userId), isUserDeleted));
  const arePoliciesGone =
    isUserGone &&
    (policyIds.length === 0 || (await isDone(undo.deletePolicies(policyIds), arePoliciesDeleted)));
  if (reasons.length === 0) return;
  const left = {
    key: !isKeyGone,
    userId: isUserGone ? undefined : userId,
    policyIds: arePoliciesGone ? [] : policyIds,
    isUnsure: !isKnown,
  };
  onLeft(left, reasons);
}

/**
 * The order in which a program gets its rights, in the window and the command alike: its user gets a key once the policies that
 * bound it are in force and no other policy goes beyond them. At no moment may it do more than they say.
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
  /** Deletes what was created; the user before its policies. */
  readonly undo: (made: PairedResources) => Promise<void>;
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
    return { key, userId, policyIds };
  } catch (error) {
    await steps.undo({ userId, policyIds });
    throw error;
  }
}

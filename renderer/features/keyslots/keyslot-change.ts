/** A change of what opens the vault, whose answer may be lost. */

import type { Keyslot, KeyslotChange } from '../../../preload/contract.ts';
import { orFind } from '../../app/rpc/rpc-error.ts';
import { useRpc } from '../../app/rpc/vault.tsx';

const kinds = { addPassword: 'password', addKeychain: 'keychain', changePassword: 'password' } as const;

/** A change that the list of keyslots shows. */
export type ShownChange = Extract<KeyslotChange, { readonly do: keyof typeof kinds | 'remove' }>;

/**
 * @returns what changes a keyslot. Where the answer is lost, it looks for the change: a form that belongs to a keyslot goes with
 * it, and could not say that it may be done.
 */
export function useKeyslotChange(): (change: ShownChange) => Promise<void> {
  const rpc = useRpc();
  return async (change) => {
    const { keyslots: before } = await rpc.keyslots();
    await orFind(
      async () => {
        await rpc.changeKeyslots(change);
        return true;
      },
      async () => isThere(change, before, (await rpc.keyslots()).keyslots) || undefined,
    );
  };
}

function isThere(change: ShownChange, before: readonly Keyslot[], now: readonly Keyslot[]): boolean {
  const isGone = !('keyslotId' in change) || now.every(({ id }) => id !== change.keyslotId);
  if (change.do === 'remove') return isGone;
  return (
    isGone && now.some(({ id, kind }) => kind === kinds[change.do] && before.every((slot) => slot.id !== id))
  );
}

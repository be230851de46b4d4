/** The ways to open the vault, in the window's words. */

import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Keyslot, Keyslots } from '../../../preload/contract.ts';
import { t } from '../../app/i18n/text.ts';
import { apiQueryKey, useRpc } from '../../app/rpc/vault.tsx';

export function useKeyslots(): UseQueryResult<Keyslots> {
  const rpc = useRpc();
  return useQuery({ queryKey: apiQueryKey('keyslots', {}), queryFn: () => rpc.keyslots() });
}

/** Why a keyslot cannot go, or undefined: the keychain is never the only holder of the vault's key. */
export const lastOne = (slots: readonly Keyslot[], slot: Keyslot): string | undefined =>
  slot.kind === 'keychain' || slots.some(({ id, kind }) => id !== slot.id && kind !== 'keychain')
    ? undefined
    : t('The last password or recovery phrase cannot be removed.');

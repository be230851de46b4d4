/** Tags and the archive of wallets: they sort lists for people, and decide nothing. The real API has nothing of the kind. */
import { z } from 'zod';
import { activity } from '../../activities/define.ts';
import { getWalletLabels, setWalletLabels } from '../../storage/tables/wallet-labels.ts';
import { limits } from '../shared/limits.ts';
import { checkDistinct, id, name } from '../shared/parameters.ts';
import { uuid } from '../shared/resources.ts';
import { walletFacts } from '../signing/key-facts.ts';
import { findWallet } from './account-derivation.ts';

export const updateWalletLabels = activity({
  path: 'update_wallet_labels',
  summary: 'Gives a wallet tags, and puts it into the archive or back. An archived wallet signs as before.',
  title: 'Tag or archive a wallet',
  own: true,
  type: 'ACTIVITY_TYPE_UPDATE_WALLET_LABELS',
  intent: 'updateWalletLabelsIntent',
  result: 'updateWalletLabelsResult',
  authority: {
    resource: 'WALLET',
    action: 'UPDATE',
    shows: ({ walletId }) => ({ wallet_id: walletId }),
    facts: ({ params: { walletId }, ...where }) => walletFacts(where, walletId),
  },
  params: z.object({
    walletId: id,
    /** All tags that the wallet has then. Left out, they stay as they are. */
    tags: z.array(name).max(limits.tagsPerWallet).optional(),
    /** Left out, it stays as it is. */
    archived: z.boolean().optional(),
  }),
  returns: z.object({ walletId: uuid }),
  run({ tx, organizationId, params: { walletId, tags, archived } }) {
    const wallet = findWallet(tx, organizationId, walletId);
    if (tags !== undefined) checkDistinct('parameters.tags', tags);
    const before = getWalletLabels(tx, wallet.id);
    setWalletLabels(
      tx,
      { walletId: wallet.id, organizationId },
      { tags: tags ?? before.tags, archived: archived ?? before.archived },
    );
    return { walletId: wallet.id };
  },
});

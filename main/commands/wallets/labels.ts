/** `keyhearth wallets label`: tags and the archive, by which people sort wallets. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';

export interface LabelOptions extends ApiOptions {
  readonly tag?: readonly string[];
  /** False for `--no-tags`. */
  readonly tags: boolean;
  readonly archive?: boolean;
  readonly unarchive?: boolean;
}

const updateLabels = activityKind({
  type: 'ACTIVITY_TYPE_UPDATE_WALLET_LABELS',
  result: z.object({ walletId: z.string() }),
  options: { 'parameters.tags': '--tag' },
});

const summaries = z.object({
  walletSummaries: z.array(
    z.object({ walletId: z.string(), tags: z.array(z.string()), archived: z.boolean() }),
  ),
});

/** @param wanted The wallet's id or name. */
export async function labelWallet(config: Config, wanted: string, options: LabelOptions): Promise<void> {
  const tags = options.tags ? options.tag : [];
  const archived = options.archive === true ? true : options.unarchive === true ? false : undefined;
  if (tags === undefined && archived === undefined) {
    throw new CommandError(
      exitCodes.usage,
      'nothing to change: give --tag NAME, --no-tags, --archive or --unarchive',
    );
  }
  const api = await VaultApi.connect(config, options.apiKey);
  const { walletId, walletName } = await listings.wallet.find(api, wanted);
  await api.submit(updateLabels, { walletId, ...defined({ tags, archived }) });
  const { walletSummaries } = await api.query('list_wallet_summaries', summaries, {});
  const now = walletSummaries.find((each) => each.walletId === walletId) ?? { tags: [], archived: false };
  print(options.json, { walletId, walletName, tags: now.tags, archived: now.archived }, [
    `Wallet ${JSON.stringify(walletName)}: ${now.tags.length === 0 ? 'no tags' : `tags ${now.tags.map((tag) => JSON.stringify(tag)).join(', ')}`}${now.archived ? ', archived' : ''}`,
  ]);
}

/** `keyhearth bots list` and `keyhearth bots remove`: which programs pay within a budget, and their end. */
import { z } from 'zod';
import { coinsOf, networkName, networkOf } from '../../chains/ethereum/networks.ts';
import type { Config } from '../../app/config.ts';
import { readSpenders, type Spender, type SpenderInForce } from '../../lib/policies/spenders.ts';
import { quoted } from '../../lib/errors.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { deleteKeyFilesOf } from '../credentials/key-files.ts';
import { deletePoliciesActivity } from '../policies/policies.ts';
import { agreeToDelete } from '../requests/agree.ts';
import type { Api } from '../shared/api.ts';
import { Listing, listings, type UserItem } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { connectAsOwner, type OwnerOptions } from '../shared/owner-api.ts';
import { deleteUsersActivity } from '../users/users.ts';

type BotsOptions = OwnerOptions & { readonly json: boolean };

/** A bot as the policies and the users in force say it. */
interface KnownBot extends SpenderInForce {
  /** Undefined where the user is gone, and the policies are left. */
  readonly user: UserItem | undefined;
}

async function findBots(api: Api): Promise<readonly KnownBot[]> {
  const policies = await listings.policy.all(api);
  const users = await listings.user.all(api);
  return readSpenders(policies)
    .filter(({ isBot }) => isBot)
    .map((each) => ({ ...each, user: users.find(({ userId }) => userId === each.userId) }));
}

const nameOfBot = ({ user, userId }: KnownBot): string => user?.userName ?? userId;

export const botListing = new Listing('bot', findBots, (bot) => ({ id: bot.userId, name: nameOfBot(bot) }));

export async function listBots(config: Config, options: BotsOptions): Promise<void> {
  const api = await connectAsOwner(config, options);
  const wallets = await listings.wallet.all(api);
  const found = await findBots(api);
  const bots = [];
  for (const known of found) {
    const { userId, user, spender: bot } = known;
    const wallet = wallets.find(({ walletId }) => walletId === bot?.walletId);
    const others = user === undefined ? [] : await widening(api, userId);
    bots.push({
      userId,
      userName: user?.userName,
      apiKeys: user?.apiKeys.length ?? 0,
      ...(bot && termsOf(bot)),
      walletName: wallet?.walletName,
      asCreated: bot !== undefined && user !== undefined && others.length === 0,
      words: [...(bot === undefined ? [changed] : wordsOf(bot, wallet?.walletName)), ...others],
    });
  }
  const lines = bots.map(({ words, ...bot }) =>
    [
      `${bot.userId}  ${visibleName(bot.userName ?? 'a deleted user')}`,
      ...words.map((line) => `  ${line}`),
    ].join('\n'),
  );
  print(
    options.json,
    { bots },
    lines.join('\n') || 'No bots. Create one with: keyhearth bots add NAME --wallet WALLET --budget BUDGET',
  );
}

const changed =
  'The policies of this bot were changed. See them with `keyhearth policies list`, or remove the bot and add it again.';

/** In JSON a number of wei is a text. */
export const termsOf = ({ walletId, chainIds, budgets: [budget], receivers }: Spender) => ({
  walletId,
  chainId: String(chainIds[0]),
  budget: { wei: String(budget?.amount), period: budget?.period },
  receivers,
});

/** Describes in plain words what a bot may do. */
export function wordsOf(
  { chainIds: [chainId = 0n], budgets: [budget], receivers }: Spender,
  walletName: string | undefined,
): readonly string[] {
  const coins = coinsOf(networkOf(chainId), budget?.amount ?? 0n);
  const wallet = walletName === undefined ? 'a deleted wallet' : `the wallet ${quoted(walletName)}`;
  return [
    `May send at most ${coins} from ${wallet} on ${networkName(chainId)} in any ${budget?.period ?? ''}, fees included.`,
    receivers.length === 0 ? 'May pay any address.' : `May pay only ${receivers.join(', ')}.`,
    'Everything else is denied: tokens, contract calls, messages, other keys, exports, approvals, and changes to users, policies and its own key.',
    'Can read what every user can read: names, addresses, policies and the log. Secrets are not readable.',
  ];
}

const wideningList = z.object({
  inRootQuorum: z.boolean(),
  wideningPolicies: z.array(z.object({ policyName: z.string() })),
});

/**
 * Finds what a spender may do beside what its own policies say.
 * @returns it in words; nothing where the budget holds.
 */
export async function widening(api: Api, userId: string): Promise<readonly string[]> {
  const found = await api.query('list_widening_policies', wideningList, { userId });
  return [
    ...(found.inRootQuorum ? ['It is a member of the root quorum, which no budget bounds.'] : []),
    ...found.wideningPolicies.map(
      ({ policyName }) => `The policy ${quoted(policyName)} may allow payments beyond the budget.`,
    ),
  ];
}

/** @throws CommandError where other policies open what a budget bounds. */
export async function refuseWidening(api: Api, userId: string): Promise<void> {
  const others = await widening(api, userId);
  if (others.length === 0) return;
  throw new CommandError(
    exitCodes.failed,
    `the budget would not hold. ${others.join(' ')} Say in its consensus whom it is for`,
  );
}

/** @param wanted The bot's id, how it begins, or its name. */
export async function removeBot(
  config: Config,
  wanted: string,
  { yes, json, ...options }: BotsOptions & { readonly yes?: boolean },
): Promise<void> {
  const api = await connectAsOwner(config, options);
  const known = await botListing.find(api, wanted);
  await agreeToDelete(JSON.stringify(nameOfBot(known)), yes);
  const { userId, user, policyIds } = known;
  // The key is deleted first: without its policies, the bot might do what others allow all users.
  if (user !== undefined) await api.submit(deleteUsersActivity, { userIds: [userId] });
  await api.submit(deletePoliciesActivity, { policyIds });
  // A server elsewhere could name the files of any key that it knows, and of the one that this command stamps with.
  const isHere = config.remote === undefined;
  if (user !== undefined && isHere) deleteKeyFilesOf(config.keysDirectory, user.userName, publicKeysOf(user));
  print(
    json,
    { userId, userName: user?.userName, policyIds },
    `Deleted bot ${quoted(nameOfBot(known))}.${isHere ? '' : ' Key files on this computer stay.'}`,
  );
}

const publicKeysOf = ({ apiKeys }: UserItem): readonly string[] =>
  apiKeys.map(({ credential }) => credential.publicKey);

/**
 * `keyhearth bots add`: a user, its policies and its key. The user is created without a way in, and gets its key only once the
 * policies that bound it are in force and no other goes beyond them. Others are looked at again once the key is there.
 */
import { readEthereumAddress } from '../../chains/addresses/ethereum.ts';
import { networkName, networkOf } from '../../chains/ethereum/networks.ts';
import type { Config } from '../../app/config.ts';
import {
  botTitle,
  coinUnits,
  policiesOfSpender,
  readBudget,
  readSpenders,
  type Budget,
  type Spender,
} from '../../lib/policies/spenders.ts';
import { messageOf, quoted } from '../../lib/errors.ts';
import { createApiKeysActivity } from '../credentials/keygen.ts';
import {
  deleteKeyFiles,
  findKeyFiles,
  hasKeyFiles,
  keyFilesTable,
  newKeyPair,
  writeKeyFiles,
  type KeyFiles,
} from '../credentials/key-files.ts';
import { createPoliciesActivity, deletePoliciesActivity } from '../policies/policies.ts';
import type { Api } from '../shared/api.ts';
import { listings, type UserItem } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { connectAsOwner, type OwnerOptions } from '../shared/owner-api.ts';
import { createUsersActivity, deleteUsersActivity, userWithoutKey } from '../users/users.ts';
import { refuseWidening, termsOf, wordsOf } from './bots.ts';
import { reasonOf } from '../../lib/text/reasons.ts';

export interface AddBotOptions extends OwnerOptions {
  readonly wallet: string;
  readonly budget: string;
  readonly to: readonly string[];
  /** Digits. */
  readonly chain: string;
  /** Go on with what an earlier run left waiting. */
  readonly continue?: boolean;
  readonly json: boolean;
}

type Terms = Omit<Spender, 'userId'>;

export async function addBot(config: Config, name: string, options: AddBotOptions): Promise<void> {
  const terms = readTerms(options);
  const api = await connectAsOwner(config, options);
  const { walletId, walletName } = await listings.wallet.find(api, options.wallet);
  const directory = config.keysDirectory;
  const isResumed = options.continue === true;
  const files = isResumed ? filesToContinue(directory, name) : newFiles(directory, name);
  const making = new BotInTheMaking(api, name, { ...terms, walletId });
  let bot: Spender;
  try {
    const known = isResumed ? await findUnfinished(api, name, files.publicKey) : undefined;
    bot = await making.finish(known, files.publicKey);
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.waits) throw toBeContinued(error);
    const left = await making.undo();
    if (!isResumed) deleteKeyFiles(files);
    throw left === undefined ? error : withRest(error, left);
  }
  const words = wordsOf(bot, walletName);
  const { publicKey, publicKeyFile, privateKeyFile } = files;
  const made = { userName: name, userId: bot.userId, walletName, ...termsOf(bot) };
  print(options.json, { ...made, publicKey, publicKeyFile, privateKeyFile, words }, [
    `Created bot ${quoted(name)}: ${bot.userId}`,
    ...words,
    keyFilesTable(files),
  ]);
}

/** A bot that waits for approvals has its files already, and so has one whose command was killed. */
function newFiles(directory: string, name: string): KeyFiles {
  const isThere = hasKeyFiles(directory, name);
  try {
    return writeKeyFiles(directory, name, newKeyPair());
  } catch (error) {
    throw isThere ? withRest(error, 'to go on with a bot that an earlier run began, add --continue') : error;
  }
}

/** Another key than the bot's own is none to continue with: one of the owner's may do everything. */
function filesToContinue(directory: string, name: string): KeyFiles {
  if (hasKeyFiles(directory, name)) return findKeyFiles(directory, name);
  throw new CommandError(
    exitCodes.failed,
    `there is no key of the bot ${quoted(name)} to continue with: leave out --continue`,
  );
}

/** The steps, each of which knows how to be taken back. */
class BotInTheMaking {
  readonly #api: Api;
  readonly #name: string;
  readonly #terms: Terms;
  /** Made by this run. Nothing else is taken back. */
  #userId: string | undefined;
  #policyIds: readonly string[] = [];

  constructor(api: Api, name: string, terms: Terms) {
    this.#api = api;
    this.#name = name;
    this.#terms = terms;
  }

  /** @param known The user of a run that waited for approvals. */
  async finish(known: UserItem | undefined, publicKey: string): Promise<Spender> {
    const userId = known?.userId ?? (await this.#createUser());
    const bot = { ...this.#terms, userId };
    await this.#createPolicies(bot);
    const hasKey = known?.apiKeys.some(({ credential }) => credential.publicKey === publicKey) ?? false;
    if (!hasKey) {
      await refuseWidening(this.#api, userId);
      const key = { apiKeyName: this.#name, publicKey, curveType: 'API_KEY_CURVE_P256' } as const;
      await this.#api.submit(createApiKeysActivity, { userId, apiKeys: [key] });
    }
    try {
      // The key may have waited for votes, and other policies may have come into force meanwhile.
      await refuseWidening(this.#api, userId);
    } catch (error) {
      // The user of an earlier run is not taken back.
      throw known === undefined
        ? error
        : withRest(error, `its key works already: remove it with \`keyhearth bots remove ${userId}\``);
    }
    return bot;
  }

  async #createUser(): Promise<string> {
    const users = [userWithoutKey(this.#name)];
    const {
      userIds: [userId = ''],
    } = await this.#api.submit(createUsersActivity, { users });
    this.#userId = userId;
    return userId;
  }

  async #createPolicies(bot: Spender): Promise<void> {
    const policies = await listings.policy.all(this.#api);
    const inForce = readSpenders(policies).find(({ userId }) => userId === bot.userId);
    if (inForce === undefined) {
      const wanted = policiesOfSpender(botTitle(this.#name), bot);
      const made = await this.#api.submit(createPoliciesActivity, { policies: wanted });
      this.#policyIds = made.policyIds;
    } else if (inForce.spender === undefined || !areSame(inForce.spender, bot)) {
      throw new CommandError(
        exitCodes.failed,
        `the bot ${quoted(this.#name)} has other policies already: remove it with \`keyhearth bots remove ${bot.userId}\``,
      );
    }
  }

  /** @returns what could not be taken back, in words. */
  async undo(): Promise<string | undefined> {
    try {
      // The user is deleted first, with or without its key: the key must not outlive the policies.
      if (this.#userId !== undefined)
        await this.#api.submit(deleteUsersActivity, { userIds: [this.#userId] });
      if (this.#policyIds.length > 0)
        await this.#api.submit(deletePoliciesActivity, { policyIds: this.#policyIds });
      return undefined;
    } catch (error) {
      return `the user ${String(this.#userId)} may be left: \`keyhearth users delete ${String(this.#userId)}\` (${reasonOf(error)})`;
    }
  }
}

const areSame = (one: Spender, other: Spender): boolean =>
  JSON.stringify([one.userId, termsOf(one)]) === JSON.stringify([other.userId, termsOf(other)]);

/** @returns the user that an earlier run created. @throws CommandError where the name is another's. */
async function findUnfinished(api: Api, name: string, publicKey: string): Promise<UserItem | undefined> {
  const users = await listings.user.all(api);
  const user = users.find(({ userName }) => userName === name);
  if (user === undefined) return undefined;
  const { apiKeys, authenticators, oauthProviders, userEmail, userPhoneNumber, userTags } = user;
  const foreign =
    apiKeys.some(({ credential }) => credential.publicKey !== publicKey) ||
    [...authenticators, ...oauthProviders, ...userTags].length > 0 ||
    userEmail !== undefined ||
    userPhoneNumber !== undefined;
  if (!foreign) return user;
  throw new CommandError(
    exitCodes.failed,
    `the user ${quoted(name)} is not a bot that waits: it has other ways in, or tags. Give the bot another name`,
  );
}

function toBeContinued({ message, details }: CommandError): CommandError {
  return new CommandError(
    exitCodes.waits,
    `${message}\nThe bot can sign nothing before that. Once it is approved, run the same command again with --continue`,
    details,
  );
}

function withRest(error: unknown, left: string): unknown {
  if (!(error instanceof CommandError)) return error;
  return new CommandError(error.exitCode, `${error.message}; ${left}`, error.details);
}

const readTerms = ({ budget, to, chain }: AddBotOptions): Omit<Terms, 'walletId'> => ({
  isBot: true,
  budgets: [readBudgetOption(budget)],
  receivers: readReceivers(to),
  chainIds: [readChain(chain)],
  messages: false,
  approverId: undefined,
});

export function readBudgetOption(text: string): Budget {
  const budget = readBudget(text, coinUnits);
  if (budget !== undefined) return budget;
  throw new CommandError(
    exitCodes.usage,
    `invalid --budget ${quoted(text)}: expected a number of ETH, gwei or wei for each hour, day or week, such as "0.05 ETH/day"`,
  );
}

export function readReceivers(to: readonly string[]): readonly string[] {
  for (const address of to) {
    try {
      // Where it mixes both cases, they are a checksum.
      readEthereumAddress(`--to ${quoted(address)}`, address);
    } catch (error) {
      throw new CommandError(exitCodes.usage, messageOf(error));
    }
  }
  return to;
}

/** Elsewhere the coin is another one, or gas does not bound the fee. */
export function readChain(text: string): bigint {
  const chainId = /^[0-9]{1,15}$/.test(text) ? BigInt(text) : 0n;
  const { coin, gasPaysForAll } = networkOf(chainId);
  if (['ETH', 'test ETH'].includes(coin) && gasPaysForAll) return chainId;
  throw new CommandError(
    exitCodes.usage,
    `invalid --chain ${quoted(text)}: a budget in ETH is exact where ETH is the coin and gas bounds the fee, not on ${networkName(chainId)}; expected 1 (Ethereum), 42161 (Arbitrum One), 59144 (Linea), 324 (ZKsync Era), 11155111 (Sepolia) or another such chain`,
  );
}

/**
 * `keyhearth agents add`: pairs an agent. Its user gets a key once the policies that bound it are in force. The vault makes the
 * key and keeps its private half.
 */
import { networkName } from '../../chains/ethereum/networks.ts';
import { unitsOn, wordsOfSpender } from '../../chains/ethereum/budgets.ts';
import type { Config } from '../../app/config.ts';
import { quoted } from '../../lib/errors.ts';
import { agentTitle, clientEntry, clientFile } from '../../lib/policies/mcp-programs.ts';
import { policiesOfSpender, readBudget, type Spender } from '../../lib/policies/spenders.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { refuseWidening } from '../bots/bots.ts';
import { readReceivers } from '../bots/add-bot.ts';
import { pairProgram, readExpiry } from '../doors/programs.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, note } from '../shared/output.ts';
import type { OwnerOptions } from '../shared/owner-api.ts';
import { thisProgram } from '../../app/this-program.ts';
import { dataDirectory } from '../vault/control.ts';
import { writeClient } from './client-file.ts';

export interface AddAgentOptions extends OwnerOptions {
  readonly wallet: string;
  readonly budget: readonly string[];
  readonly to: readonly string[];
  readonly chain: readonly string[];
  readonly messages?: boolean;
  readonly ask?: boolean;
  readonly expires?: string;
  readonly client?: string;
  readonly yes?: boolean;
  readonly json: boolean;
}

export async function addAgent(config: Config, name: string, options: AddAgentOptions): Promise<void> {
  const terms = readTerms(options);
  let walletId = '';
  let walletName = '';
  let approverId: string | undefined;
  const spenderOf = (userId: string): Spender => ({ ...terms, userId, walletId, approverId });
  await pairProgram(config, options, {
    door: 'mcp',
    name,
    expiry: readExpiry(options.expires),
    boundsFor: async ({ api, ownerId }) => {
      ({ walletId, walletName } = await listings.wallet.find(api, options.wallet));
      approverId = options.ask === true ? ownerId : undefined;
      return { accounts: [], forwarders: [], spending: undefined, approverId };
    },
    policiesOf: (userId) => policiesOfSpender(agentTitle(name), spenderOf(userId)),
    check: refuseWidening,
    afterwards: async () => {
      const entry = clientEntry(thisProgram(), name, dataDirectory(config));
      const { client } = options;
      const written = client !== undefined && (await isWritten(config, client, name, entry, options.yes));
      const words = wordsOfSpender(spenderOf(''), `the wallet ${quoted(walletName)}`);
      return {
        json: { walletName, words, client: entry, written },
        lines: [
          ...words,
          'Everything else is denied: other calls, new contracts, authorizations, hashes, other keys, exports, votes, and changes to users, policies and its own key.',
          written ? `Wrote ${client}.` : `For your MCP client: ${JSON.stringify(clientFile(name, entry))}`,
        ],
      };
    },
  });
}

/** The agent is paired by now, with its file or without: its owner must read what it may do, and how to set it up. */
async function isWritten(...[config, file, ...about]: Parameters<typeof writeClient>): Promise<boolean> {
  try {
    await writeClient(config, file, ...about);
    return true;
  } catch (error) {
    note(`Not written to ${file}: ${reasonOf(error)}`);
    process.exitCode = exitCodes.failed;
    return false;
  }
}

function readTerms({
  budget,
  to,
  chain,
  messages,
}: AddAgentOptions): Omit<Spender, 'userId' | 'walletId' | 'approverId'> {
  const wrong = chain.find((text) => !/^[1-9][0-9]{0,14}$/.test(text));
  if (wrong !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      `invalid --chain ${quoted(wrong)}: expected a number, such as 1 or 8453`,
    );
  }
  const chainIds = [...new Set(chain.length === 0 ? ['1'] : chain)].map(BigInt);
  const units = unitsOn(chainIds);
  if (budget.length === 0) {
    throw new CommandError(
      exitCodes.usage,
      'expected --budget, such as "5 USDC/day": an agent without one spends nothing',
    );
  }
  const budgets = budget.map((text) => {
    const read = readBudget(text, units);
    if (read !== undefined) return read;
    const networks = chainIds.map(networkName).join(', ');
    throw new CommandError(
      exitCodes.usage,
      `invalid --budget ${quoted(text)}: expected an amount for each hour, day or week, such as "5 USDC/day"; on ${networks} in ${units.map(({ symbol }) => symbol).join(', ') || 'nothing that the vault knows'}`,
    );
  });
  return { isBot: false, chainIds, budgets, receivers: readReceivers(to), messages: messages === true };
}

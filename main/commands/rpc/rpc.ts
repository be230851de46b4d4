/** `keyhearth rpc add` and `list`: tools that send transactions of Ethereum through the vault. */
import type { DoorNode, DoorsChange } from '../../../preload/contract.ts';
import { coinsOf, networkName, networkOf } from '../../chains/ethereum/networks.ts';
import type { Config } from '../../app/config.ts';
import { quoted } from '../../lib/errors.ts';
import type { PairedProgram, Spending } from '../../lib/policies/door-kind.ts';
import { boundsOf, doorKinds, policiesOfProgram } from '../../lib/policies/doors.ts';
import { readBudgetOption, readChain, readReceivers } from '../bots/add-bot.ts';
import { refuseWidening, widening } from '../bots/bots.ts';
import { doorOf, doorsOf } from '../doors/doors.ts';
import { pairProgram, readExpiry } from '../doors/programs.ts';
import { listings } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { readSecretFile } from '../shared/secrets.ts';
import { connectAsOwner, type OwnerOptions } from '../shared/owner-api.ts';

export interface AddToolOptions extends OwnerOptions {
  readonly wallet: string;
  readonly budget: string;
  /** Digits, separated by commas. */
  readonly chain: string;
  readonly to: readonly string[];
  readonly tokens?: boolean;
  readonly ask?: boolean;
  readonly expires?: string;
  readonly json: boolean;
}

export async function addTool(config: Config, name: string, options: AddToolOptions): Promise<void> {
  const { wallet, ask, tokens = false } = options;
  const terms = {
    budget: readBudgetOption(options.budget),
    chainIds: [...new Set(options.chain.split(',').map((each) => readChain(each.trim())))],
    receivers: readReceivers(options.to),
    tokens,
  };
  await pairProgram(config, options, {
    door: 'ethereum',
    name,
    expiry: readExpiry(options.expires),
    boundsFor: async ({ api, ownerId }) => {
      const { walletId } = await listings.wallet.find(api, wallet);
      return {
        accounts: [],
        forwarders: [],
        spending: { ...terms, walletId },
        approverId: ask === true ? ownerId : undefined,
      };
    },
    check: refuseWidening,
  });
}

export interface NodeOptions {
  readonly urlFile?: string;
  readonly remove?: boolean;
  readonly previews?: 'on' | 'off';
  readonly json: boolean;
}

/** Sets the node of a chain, removes it, or switches its previews. */
export async function setNode(
  config: Config,
  chainId: string,
  url: string | undefined,
  { urlFile, remove = false, previews, json }: NodeOptions,
): Promise<void> {
  const given = [url !== undefined, urlFile !== undefined, remove].filter(Boolean).length;
  if (previews === undefined ? given !== 1 : given > 1 || remove) {
    throw new CommandError(
      exitCodes.usage,
      'expected one of: a URL, --url-file, --remove; and --previews alone, or with an address',
    );
  }
  const node = { door: 'ethereum', chainId } as const;
  const changes: DoorsChange[] = [];
  if (remove) changes.push({ ...node, change: 'node', url: null });
  else if (given === 1) {
    const wanted = url ?? readSecretFile('--url-file', String(urlFile));
    changes.push({ ...node, change: 'node', url: wanted });
  }
  if (previews !== undefined) changes.push({ ...node, change: 'previews', on: previews === 'on' });
  const running = await doorsOf(config);
  for (const change of changes) await running.call('changeDoors', change);
  const doors = await running.call('doors');
  const nodes = doorOf(doors, 'ethereum')?.nodes ?? [];
  print(json, { nodes }, nodes.map(nodeLine).join('\n') || 'No nodes.');
}

const nodeLine = ({ chainId, chain, origin, previews }: DoorNode): string =>
  `${chain} (chain ID ${chainId}): ${origin}, ${previews ? 'with previews' : 'without previews'}`;

export async function listTools(
  config: Config,
  { json, ...options }: OwnerOptions & { readonly json: boolean },
): Promise<void> {
  const door = doorOf(await (await doorsOf(config)).call('doors'), 'ethereum');
  const api = await connectAsOwner(config, options);
  const [users, policies, wallets] = [
    await listings.user.all(api),
    await listings.policy.all(api),
    await listings.wallet.all(api),
  ];
  const tools = [];
  for (const { name, publicKey, socket } of door?.programs ?? []) {
    const user = users.find(({ apiKeys }) =>
      apiKeys.some(({ credential }) => credential.publicKey === publicKey),
    );
    const userId = user?.userId;
    const policyIds = userId === undefined ? [] : policiesOfProgram(userId, policies);
    const bounds =
      userId &&
      boundsOf(
        doorKinds.ethereum,
        userId,
        policies.filter(({ policyId }) => policyIds.includes(policyId)),
      );
    const others = userId === undefined ? [] : await widening(api, userId);
    const walletOf = (wanted: string) => wallets.find(({ walletId }) => walletId === wanted)?.walletName;
    tools.push({
      name,
      address: socket,
      userId,
      asCreated: Boolean(bounds) && others.length === 0,
      words: [...(bounds ? wordsOf(bounds, walletOf) : [userId === undefined ? gone : changed]), ...others],
    });
  }
  const lines = tools.map(({ name, words }) => [name, ...words.map((line) => `  ${line}`)].join('\n'));
  print(
    json,
    { on: door?.on ?? false, tools, nodes: door?.nodes ?? [] },
    [
      `The door ethereum is ${door?.on === true ? 'on' : 'off: `keyhearth doors on ethereum`'}.`,
      ...(lines.length > 0
        ? lines
        : ['No tools. Pair one with: keyhearth rpc add NAME --wallet WALLET --budget BUDGET']),
      ...(door?.nodes ?? []).map(nodeLine),
    ].join('\n'),
  );
}

const gone = 'Its user or key is gone: it may do nothing.';
const changed =
  'Its policies were changed, or are of an earlier version. See them with `keyhearth policies list`, or remove the tool and add it again.';

function wordsOf(
  { spending, approverId }: PairedProgram,
  nameOf: (walletId: string) => string | undefined,
): readonly string[] {
  if (spending === undefined) return [];
  const { receivers, tokens } = spending;
  return [
    `May send at most ${amountOf(spending)} from ${walletWords(nameOf(spending.walletId))} on ${spending.chainIds.map(networkName).join(', ')} in any ${spending.budget.period}, fees included.`,
    receivers.length === 0
      ? 'May send to any address, call any contract, and create contracts.'
      : `May send only to ${receivers.join(', ')}.`,
    tokens
      ? 'May move tokens, which the budget does not count.'
      : 'May not call the functions of tokens that move them, or let others move them.',
    approverId === undefined
      ? 'Everything else is denied, messages too.'
      : 'What is beyond the budget, and messages, wait for approval. Everything else is denied.',
  ];
}

const amountOf = ({ chainIds: [chainId], budget }: Spending): string =>
  coinsOf(networkOf(chainId), budget.amount);

const walletWords = (name: string | undefined): string =>
  name === undefined ? 'a deleted wallet' : `the wallet ${quoted(name)}`;

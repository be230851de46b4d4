/** `keyhearth agents list`, `show`, `pause` and `resume`. */
import { z } from 'zod';
import { wordsOfSpender } from '../../chains/ethereum/budgets.ts';
import type { Config } from '../../app/config.ts';
import { quoted } from '../../lib/errors.ts';
import { agentTitle } from '../../lib/policies/mcp-programs.ts';
import {
  pauseOf,
  pausesOf,
  readSpenders,
  type PolicyText,
  type Spender,
} from '../../lib/policies/spenders.ts';
import { voteTypes } from '../../lib/text/activity-types.ts';
import { visibleLine, visibleName } from '../../lib/text/visible-text.ts';
import { widening } from '../bots/bots.ts';
import { doorOf, doorsOf } from '../doors/doors.ts';
import { listWaiting } from '../requests/approvals.ts';
import { createPoliciesActivity, deletePoliciesActivity } from '../policies/policies.ts';
import type { Api } from '../shared/api.ts';
import { findNamed, listings } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { connectAsOwner, type OwnerOptions } from '../shared/owner-api.ts';

type AgentOptions = OwnerOptions & { readonly json: boolean };

interface KnownAgent {
  readonly name: string;
  /** Undefined where its user or its key is gone. */
  readonly userId: string | undefined;
  readonly spender: Spender | undefined;
  readonly pauses: readonly PolicyText[];
}

const budgetList = z.object({
  policyBudgets: z.array(
    z.object({
      spender: z
        .object({
          userId: z.string(),
          period: z.string(),
          limit: z.string(),
          spent: z.string(),
          left: z.string(),
        })
        .optional(),
    }),
  ),
});

async function findAgents(config: Config, api: Api): Promise<readonly KnownAgent[]> {
  const door = doorOf(await (await doorsOf(config)).call('doors'), 'mcp');
  const users = await listings.user.all(api);
  const policies = await listings.policy.all(api);
  const spenders = readSpenders(policies);
  return (door?.programs ?? []).map(({ name, publicKey }) => {
    const userId = users.find(({ apiKeys }) =>
      apiKeys.some(({ credential }) => credential.publicKey === publicKey),
    )?.userId;
    const known = spenders.find((each) => each.userId === userId);
    return {
      name,
      userId,
      spender: known?.spender,
      pauses: userId === undefined ? [] : pausesOf(userId, policies),
    };
  });
}

async function findAgent(
  config: Config,
  api: Api,
  wanted: string,
): Promise<KnownAgent & { readonly userId: string }> {
  const agents = await findAgents(config, api);
  const found = findNamed('agent', wanted, agents, ({ name, userId: id = name }) => ({ id, name }));
  const { userId } = found;
  if (userId !== undefined) return { ...found, userId };
  throw new CommandError(
    exitCodes.failed,
    `the user or the key of ${found.name} is gone: \`keyhearth agents remove ${found.name}\``,
  );
}

async function described(api: Api, agent: KnownAgent) {
  const { name, userId, spender, pauses } = agent;
  const wallets = await listings.wallet.all(api);
  const wallet = wallets.find(({ walletId }) => walletId === spender?.walletId);
  const others = userId === undefined ? [] : await widening(api, userId);
  const { policyBudgets } = await api.query('list_policy_budgets', budgetList, {});
  const budgets = policyBudgets.flatMap(({ spender: of }) =>
    of !== undefined && of.userId === userId
      ? [{ limit: of.limit, spent: of.spent, left: of.left, per: of.period }]
      : [],
  );
  const words =
    userId === undefined
      ? ['Its user or key is gone: it may do nothing.']
      : spender === undefined
        ? [
            'Its policies were changed. See them with `keyhearth policies list`, or remove the agent and add it again.',
          ]
        : wordsOfSpender(
            spender,
            wallet === undefined ? 'a deleted wallet' : `the wallet ${quoted(wallet.walletName)}`,
          );
  return {
    name,
    userId,
    paused: pauses.length > 0,
    asCreated: spender !== undefined && others.length === 0,
    budgets,
    words: [...(pauses.length > 0 ? ['Paused: everything is refused.'] : []), ...words, ...others],
  };
}

type Described = Awaited<ReturnType<typeof described>>;

const linesOf = ({ name, words, budgets }: Described): readonly string[] => [
  visibleName(name),
  ...words.map((line) => `  ${line}`),
  ...budgets.map(({ limit, spent, per }) => `  Spent in the last ${per}: ${spent} of ${limit}.`),
];

export async function listAgents(config: Config, { json, ...options }: AgentOptions): Promise<void> {
  const api = await connectAsOwner(config, options);
  const agents = [];
  for (const agent of await findAgents(config, api)) agents.push(await described(api, agent));
  print(
    json,
    { agents },
    agents.flatMap(linesOf).join('\n') ||
      'No agents. Create one with: keyhearth agents add NAME --wallet WALLET --budget "5 USDC/day"',
  );
}

const requestList = z.object({
  activities: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      status: z.string(),
      votes: z.array(z.object({ userId: z.string() })).optional(),
    }),
  ),
});
const refusalList = z.object({
  refusals: z.array(z.object({ userId: z.string(), type: z.string(), reason: z.string() })),
});

const mostShown = 10;

export async function showAgent(
  config: Config,
  wanted: string,
  { json, ...options }: AgentOptions,
): Promise<void> {
  const api = await connectAsOwner(config, options);
  const agent = await findAgent(config, api, wanted);
  const about = await described(api, agent);
  const { activities } = await api.query('list_activities', requestList, {
    inParts: true,
    paginationOptions: { limit: '100' },
  });
  const { refusals } = await api.query('list_refusals', refusalList, {});
  const requests = activities
    .filter(({ votes }) => votes?.[0]?.userId === agent.userId)
    .slice(0, mostShown)
    .map(({ id, type, status }) => ({ id, type, status }));
  const refused = refusals
    .filter(({ userId }) => userId === agent.userId)
    .slice(0, mostShown)
    .map(({ type, reason }) => ({ type, reason }));
  print(json, { ...about, requests, refused }, [
    ...linesOf(about),
    ...(requests.length === 0 ? [] : ['Last requests:']),
    ...requests.map(({ id, type, status }) => `  ${id}  ${short(type)}  ${short(status)}`),
    ...(refused.length === 0 ? [] : ['Refused:']),
    ...refused.map(({ type, reason }) => `  ${short(type)}: ${visibleLine(reason)}`),
  ]);
}

const short = (text: string): string =>
  text
    .replace(/^ACTIVITY_(TYPE|STATUS)_/, '')
    .toLowerCase()
    .replaceAll('_', ' ');

export async function pauseAgent(
  config: Config,
  wanted: string,
  paused: boolean,
  { json, ...options }: AgentOptions,
): Promise<void> {
  const api = await connectAsOwner(config, options);
  const { name, userId, pauses } = await findAgent(config, api, wanted);
  if (paused && pauses.length === 0) {
    const { policyName, effect, condition, consensus, notes } = pauseOf(agentTitle(name), userId);
    await api.submit(createPoliciesActivity, {
      policies: [{ policyName, effect, condition, consensus, notes }],
    });
  }
  const rejected = paused ? await rejectWaiting(api, userId) : 0;
  if (!paused && pauses.length > 0) {
    await api.submit(deletePoliciesActivity, { policyIds: pauses.map(({ policyId }) => policyId) });
  }
  const waited = rejected === 0 ? '' : ` Requests that waited and are rejected now: ${String(rejected)}.`;
  print(
    json,
    { name, userId, paused, rejected },
    paused
      ? `Paused ${quoted(name)}.${waited} Resume it with: keyhearth agents resume ${name}`
      : `Resumed ${quoted(name)}.`,
  );
}

/** Rejects what waits from before the pause: nothing new comes, since the pause is in force. @returns how many. */
async function rejectWaiting(api: Api, userId: string): Promise<number> {
  const ofAgent = async () =>
    (await listWaiting(api)).filter(({ votes: [request] }) => request?.userId === userId);
  let rejected = 0;
  for (const { id, fingerprint } of await ofAgent()) {
    try {
      await api.vote(voteTypes.reject, fingerprint, z.looseObject({}));
      rejected += 1;
    } catch (error) {
      // Another's vote may have decided it meanwhile.
      if ((await ofAgent()).some((each) => each.id === id)) throw error;
    }
  }
  return rejected;
}

/** The tools of an agent. Each is one request of the API, as the agent's user. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { Answer } from '../../operations/api.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { agentTools, waitsNote, type AgentToolName } from '../../lib/text/agent-tools.ts';
import { signedIn, type Ask } from '../asks.ts';
import type { Gone, Program } from '../program.ts';
import { deniedBy } from '../refusals.ts';
import { answering, type AgentParts, type Extra } from './answers.ts';
import {
  askOf,
  type Asked,
  from,
  message,
  transaction,
  typedData,
  unsignedTransaction,
  wanted,
} from './requests.ts';
import { accountsOf, checkNotPaused, isPaused, rightsOf } from './rights.ts';

/** The words of a tool, without the example of a call. */
const wordsOf = (name: AgentToolName) => ({
  title: agentTools[name].title,
  description: agentTools[name].description,
});

const shownRights = {
  rights: z.array(z.string()),
  paused: z.boolean(),
  budgets: z.array(z.object({ limit: z.string(), spent: z.string(), left: z.string(), per: z.string() })),
};
const lines = z.array(z.object({ label: z.string(), value: z.string() }));
const description = z.object({
  title: z.string(),
  unread: z.string().optional(),
  lines,
  parts: z.array(z.object({ title: z.string(), lines })),
  warnings: z.array(z.string()),
});
const signed = {
  signedTransaction: z.string().optional(),
  signature: z.string().optional(),
};

export function registerTools(server: McpServer, parts: AgentParts): void {
  const { program } = parts;
  const reads = { readOnlyHint: true };

  server.registerTool(
    'list_accounts',
    {
      ...wordsOf('list_accounts'),
      inputSchema: {},
      outputSchema: {
        accounts: z.array(
          z.object({
            address: z.string(),
            path: z.string(),
            untrusted: z.object({ walletName: z.string() }),
          }),
        ),
        ...shownRights,
      },
      annotations: reads,
    },
    (_asked, extra) =>
      answering(parts, extra, async (gone) => {
        const rights = await rightsOf(program, gone);
        const { words, paused, budgets } = rights;
        return { accounts: await accountsOf(program, rights, gone), rights: words, paused, budgets };
      }),
  );

  server.registerTool(
    'describe',
    {
      ...wordsOf('describe'),
      inputSchema: { from, ...wanted },
      outputSchema: { untrusted: z.object({ description }) },
      annotations: reads,
    },
    (asked, extra) =>
      answering(parts, extra, async (gone) => {
        const { parameters } = askOf(program, asked);
        const answer = await program.query('describe_payload', parameters, gone);
        return { untrusted: { description: description.parse(answer.description) } };
      }),
  );

  server.registerTool(
    'check',
    {
      ...wordsOf('check'),
      inputSchema: { from, ...wanted },
      outputSchema: {
        outcome: z.enum(['allowed', 'waits', 'refused']),
        untrusted: z.object({ because: z.string().optional() }),
        ...shownRights,
      },
      annotations: reads,
    },
    (asked, extra) => answering(parts, extra, (gone) => check(program, askOf(program, asked), gone)),
  );

  for (const [name, inputs] of [
    [
      'sign_transaction',
      { transaction: transaction.optional(), unsignedTransaction: unsignedTransaction.optional() },
    ],
    ['sign_typed_data', { typedData }],
    ['sign_message', { message }],
  ] as const) {
    server.registerTool(
      name,
      {
        ...wordsOf(name),
        inputSchema: { from, ...inputs },
        outputSchema: { status: z.enum(['signed', 'waiting']), ...signed, next: z.string().optional() },
      },
      (asked: Asked, extra: Extra) =>
        answering(parts, extra, async (gone) => {
          const { type, parameters } = askOf(program, asked);
          const result = await program.submit(type, parameters, gone);
          // The same call again is answered from the log, which no policy decides about.
          await checkNotPaused(program, gone);
          return result === undefined
            ? { status: 'waiting', next: waitsNote }
            : { status: 'signed', ...shownSignature(result) };
        }),
    );
  }

  server.registerTool(
    'request_status',
    {
      ...wordsOf('request_status'),
      inputSchema: { id: z.string().max(100).optional() },
      outputSchema: {
        requests: z.array(
          z.object({
            id: z.string(),
            status: z.enum(['signed', 'waiting', 'rejected', 'failed', 'refused']),
            ...signed,
            reason: z.string().optional(),
          }),
        ),
      },
      annotations: reads,
    },
    ({ id }, extra) => answering(parts, extra, (gone) => statusOf(program, id, gone)),
  );
}

const outcomes: Readonly<Record<string, 'allowed' | 'waits'>> = {
  OUTCOME_ALLOW: 'allowed',
  OUTCOME_REQUIRES_CONSENSUS: 'waits',
};

async function check(program: Program, request: Ask, gone: Gone) {
  const { organizationId, userId, words, paused, budgets } = await rightsOf(program, gone);
  const requestBody = JSON.stringify({ ...request, timestampMs: String(Date.now()), organizationId });
  const { policyExplanation } = await program.query('explain_policies', { requestBody }, gone);
  const outcome = outcomes[policyExplanation.outcome] ?? ('refused' as const);
  const because =
    outcome === 'refused'
      ? await deniedBy(
          (path, wanted) => program.query(path, wanted, gone),
          userId,
          policyExplanation.policies,
        )
      : undefined;
  return { outcome, untrusted: { because }, rights: words, paused, budgets };
}

function shownSignature(result: Parameters<typeof signedIn>[0]) {
  const hex = signedIn(result);
  return 'signedTransaction' in result ? { signedTransaction: hex } : { signature: hex };
}

const statuses: Readonly<Record<string, 'signed' | 'waiting' | 'rejected'>> = {
  ACTIVITY_STATUS_COMPLETED: 'signed',
  ACTIVITY_STATUS_CONSENSUS_NEEDED: 'waiting',
  ACTIVITY_STATUS_REJECTED: 'rejected',
};

const mostShown = 20;

/** Of the agent's own requests alone. */
async function statusOf(program: Program, id: string | undefined, gone: Gone) {
  const { userId } = await program.query('whoami', {}, gone);
  const filter = {
    filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2', 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'] as const,
    inParts: true,
    paginationOptions: { limit: '100' },
  };
  const { activities } = await program.query('list_activities', filter, gone);
  const { refusals } = await program.query('list_refusals', {}, gone);
  const withSignatures = !(await isPaused(program, userId, gone));
  const requests = [
    ...activities
      .filter(({ votes }) => votes[0]?.userId === userId)
      .map((each) => shownActivity(each, withSignatures)),
    ...refusals
      .filter((each) => each.userId === userId)
      .map(({ refusalId, reason }) => ({ id: refusalId, status: 'refused' as const, reason })),
  ].filter((each) => id === undefined || each.id === id);
  if (id !== undefined && requests.length === 0) {
    throw new KeyhearthError('NOT_FOUND', 'no such request of this agent among its latest');
  }
  return { requests: requests.slice(0, mostShown) };
}

function shownActivity(
  { id, status, result }: Answer<'list_activities'>['activities'][number],
  withSignature: boolean,
) {
  const [made] = Object.values(result) as readonly Parameters<typeof signedIn>[0][];
  const isSigned = status === 'ACTIVITY_STATUS_COMPLETED' && made !== undefined;
  return {
    id,
    status: statuses[status] ?? ('failed' as const),
    ...(isSigned && withSignature && shownSignature(made)),
  };
}

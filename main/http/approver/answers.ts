/**
 * The answers that an approver's window gets: the API's own, to its user, narrowed to activities that concern the user. A
 * query that is not listed here is refused.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { toBeSigned, type PendingActivity } from '../../lib/text/to-be-signed.ts';
import { defined } from '../../lib/defined.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { parse } from '../../lib/parse.ts';
import { handle, type Service } from '../handle.ts';
import { remember, type ApproverSession } from './sessions.ts';

type Fields = Readonly<Record<string, unknown>>;

interface ShownActivity extends PendingActivity {
  readonly id: string;
  readonly canApprove: boolean;
  readonly canReject: boolean;
  readonly status: string;
  readonly votes: readonly { readonly userId?: string }[];
}

/** Activities that one request reads, and the number of requests for a list. */
const pageSize = 100;
const mostPages = 20;

/** Answers queries of one session. */
export class ApproverAnswers {
  readonly #service: Service;
  readonly #session: ApproverSession;

  constructor(service: Service, session: ApproverSession) {
    this.#service = service;
    this.#session = session;
  }

  /**
   * @param name The path of a query.
   * @throws KeyhearthError PERMISSION_DENIED for a query that this window may not ask, NOT_FOUND for an activity that does
   *   not concern the user, and whatever the query throws.
   */
  async answer(name: string, body: unknown): Promise<Fields> {
    switch (name) {
      case 'list_activities':
        return this.#list(parse(listBody, body));
      case 'list_needed_activities':
        return this.#needed();
      case 'get_activity':
        return { activity: await this.#activity(parse(activityBody, body).activityId) };
      case 'get_policy_evaluations':
        return this.#evaluations(parse(activityBody, body).activityId);
      case 'preview_activity':
        return this.#preview(parse(activityBody, body).activityId);
      case 'describe_activities':
        return this.#descriptions(parse(activitiesBody, body).activityIds);
      case 'list_policies':
        return this.#policies();
      case 'describe_payload':
        return this.#description(body);
      case 'list_receiver_uses':
        return this.#receiverUses(parse(receiversBody, body));
      case 'get_user':
        return this.#query('get_user', { userId: this.#session.userId });
      default:
        throw new KeyhearthError(
          'PERMISSION_DENIED',
          'request not authorized: this window shows approvals and the user’s own credentials',
        );
    }
  }

  /** False once the passkey that signed in is deleted. The API's session would go on: it is the user's. */
  async hasPasskey(): Promise<boolean> {
    const { userId, credentialId } = this.#session;
    const { user } = (await this.#query('get_user', { userId })) as {
      readonly user: { readonly authenticators: readonly { readonly credentialId: string }[] };
    };
    return user.authenticators.some((each) => each.credentialId === credentialId);
  }

  /** Reads until a page is full of activities that concern the user. */
  async #list({ filterByStatus, paginationOptions }: z.output<typeof listBody>): Promise<Fields> {
    const found: ShownActivity[] = [];
    let after = paginationOptions?.after;
    for (let page = 0; page < mostPages; page += 1) {
      const { activities, next } = (await this.#query('list_activities', {
        ...(filterByStatus === undefined ? {} : { filterByStatus }),
        inParts: true,
        paginationOptions: { limit: String(pageSize), ...(after === undefined ? {} : { after }) },
      })) as { readonly activities: readonly ShownActivity[]; readonly next?: string };
      for (const activity of activities) {
        after = activity.id;
        if (this.#concerns(activity)) found.push(this.#shown(activity));
        if (found.length === pageSize) return { activities: found, next: after };
      }
      if (next === undefined) return { activities: found };
    }
    return { activities: found, next: after };
  }

  /** All of them concern the user. */
  async #needed(): Promise<Fields> {
    const { activities, areMore } = (await this.#query('list_needed_activities', {})) as {
      readonly activities: readonly ShownActivity[];
      readonly areMore: boolean;
    };
    return { activities: activities.map((activity) => this.#shown(activity)), areMore };
  }

  async #activity(activityId: string): Promise<ShownActivity> {
    const { activity } = (await this.#query('get_activity', { activityId })) as {
      readonly activity: ShownActivity;
    };
    if (this.#concerns(activity)) {
      await this.#rememberPolicies(activityId);
      return this.#shown(activity);
    }
    // The answer for an activity that is not there.
    throw new KeyhearthError('NOT_FOUND', `unable to find activity ${activityId}`);
  }

  async #evaluations(activityId: string): Promise<Fields> {
    await this.#activity(activityId);
    return this.#query('get_policy_evaluations', { activityId });
  }

  /** Of an activity that concerns the user. The API answers users who may vote on it. */
  async #preview(activityId: string): Promise<Fields> {
    await this.#activity(activityId);
    return this.#query('preview_activity', { activityId });
  }

  /** The window asks for the names of these policies next. */
  async #rememberPolicies(activityId: string): Promise<void> {
    const { policyEvaluations } = (await this.#query('get_policy_evaluations', { activityId })) as {
      readonly policyEvaluations: readonly {
        readonly policyEvaluations: readonly { readonly policyId: string }[];
      }[];
    };
    for (const { policyId } of policyEvaluations.flatMap((each) => each.policyEvaluations)) {
      remember(this.#session.policies, policyId);
    }
  }

  /** Names of the policies that decided, without their texts. */
  async #policies(): Promise<Fields> {
    const { policies } = (await this.#query('list_policies', {})) as {
      readonly policies: readonly { readonly policyId: string; readonly policyName: string }[];
    };
    return {
      policies: policies
        .filter(({ policyId }) => this.#session.policies.has(policyId))
        .map(({ policyId, policyName }) => ({ policyId, policyName })),
    };
  }

  /** Of the activities that the window has seen; none of the others, as of activities that are not there. */
  async #descriptions(asked: readonly string[]): Promise<Fields> {
    const activityIds = asked.filter((each) => this.#session.activities.has(each));
    return activityIds.length === 0
      ? { descriptions: [] }
      : this.#query('describe_activities', { activityIds });
  }

  async #description(body: unknown): Promise<Fields> {
    if (!this.#session.payloads.has(payloadDigest(body))) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        'request not authorized: this window has only payloads described that wait for the user',
      );
    }
    const answer = await this.#query('describe_payload', body as Fields);
    const { strangers } = answer['description'] as { readonly strangers: readonly string[] };
    for (const address of strangers) remember(this.#session.receivers, address);
    return answer;
  }

  /** Of receivers that the window has seen, without the activities: those may concern others alone. */
  async #receiverUses({ addresses, before }: z.output<typeof receiversBody>): Promise<Fields> {
    if (!addresses.every((address) => this.#session.receivers.has(address))) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        'request not authorized: this window asks about receivers of what waits for the user alone',
      );
    }
    const { receiverUses, next } = (await this.#query('list_receiver_uses', {
      addresses,
      ...defined({ before }),
    })) as {
      readonly receiverUses: readonly { readonly address: string; readonly createdAt: unknown }[];
      readonly next?: number;
    };
    return {
      receiverUses: receiverUses.map(({ address, createdAt }) => ({ address, createdAt })),
      ...defined({ next }),
    };
  }

  #concerns({ votes, canApprove, canReject, status }: ShownActivity): boolean {
    const isVoter = status === waiting && (canApprove || canReject);
    return isVoter || votes.some(({ userId }) => userId === this.#session.userId);
  }

  /** Without its result, which may hold a secret of the user's programs. */
  #shown(activity: ShownActivity): ShownActivity {
    remember(this.#session.activities, activity.id);
    for (const request of toBeSigned(activity)) remember(this.#session.payloads, payloadDigest(request));
    return { ...activity, result: {} } as ShownActivity;
  }

  async #query(path: string, body: Fields): Promise<Fields> {
    const { organizationId, token } = this.#session;
    const raw = Buffer.from(JSON.stringify({ ...body, organizationId }));
    const answer = await handle(this.#service, {
      path: `query/${path}`,
      headers: { 'x-session': token },
      raw,
    });
    if (answer.status === 200) return answer.body;
    throw new ApproverRefusal(answer.status, answer.body);
  }
}

const waiting = 'ACTIVITY_STATUS_CONSENSUS_NEEDED';

const receiversBody = z.object({ addresses: z.array(z.string()), before: z.number().optional() });

const listBody = z.object({
  filterByStatus: z.array(z.string()).max(20).optional(),
  paginationOptions: z.object({ after: z.string().max(100).optional() }).optional(),
});

const activitiesBody = z.object({ activityIds: z.array(z.string().max(100)).max(pageSize) });

const activityBody = z.object({ activityId: z.string().max(100) });

/** A refusal by the API, as its caller gets it. */
export class ApproverRefusal extends Error {
  declare protected readonly brand: 'ApproverRefusal';
  override readonly name = 'ApproverRefusal';
  readonly status: number;
  readonly body: Fields;

  constructor(status: number, body: Fields) {
    super(String(body['message']));
    this.status = status;
    this.body = body;
  }
}

const payloadFields = [
  'unsignedTransaction',
  'type',
  'payload',
  'encoding',
  'hashFunction',
  'preimage',
  'signWith',
] as const;

/** By the fields that a description reads, in one order. */
function payloadDigest(request: unknown): string {
  const fields = (typeof request === 'object' && request !== null ? request : {}) as Fields;
  return createHash('sha256')
    .update(JSON.stringify(payloadFields.map((name) => fields[name] ?? null)))
    .digest('hex');
}

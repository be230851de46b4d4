/**
 * Approvals for a time. The real API has nothing of the kind.
 *
 * A grant follows from a request that waits, and is a policy: the one that asked, bounded to the same user, key and server,
 * repository or receiver, with an end.
 */
import { z } from 'zod';
import { activity, type ActivityOperation, type Item } from '../../activities/define.ts';
import type { Reader } from '../../storage/connection.ts';
import { findActivityByFingerprint, type ActivityRow } from '../../storage/tables/activities.ts';
import { getPolicyRow, findPolicyByName, type PolicyRow } from '../../storage/tables/policies.ts';
import { listEvaluations } from '../../storage/tables/policy-evaluations.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { readVotes } from '../../storage/tables/votes.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { endOf, grantNotes, grantSpans, grantTime, inheritedFrom } from '../../lib/policies/grants.ts';
import { kindOf } from '../../lib/text/activity-types.ts';
import { storedJson } from '../../lib/text/stored-json.ts';
import { upTo } from '../../lib/text/up-to.ts';
import { orNotFound } from '../shared/parameters.ts';
import { uuid } from '../shared/resources.ts';
import { signRawPayload } from '../signing/signing.ts';
import { signTransaction } from '../signing/transactions.ts';
import { addPolicy, checkRoom } from './policy-registration.ts';

/** Everything else is approved once: exports, changes of the vault, and batches. */
const grantable: Readonly<Record<string, ActivityOperation>> = {
  SIGN_RAW_PAYLOAD: signRawPayload,
  SIGN_TRANSACTION: signTransaction,
};

const refused = (problem: string): KeyhearthError =>
  new KeyhearthError('FAILED_PRECONDITION', `this request can only be approved once: ${problem}`);

export const createGrant = activity({
  path: 'create_grant',
  summary:
    'Allows a user for a time what a request of the user asks for, with the same key and nothing else.',
  title: 'Approve for a time',
  own: true,
  type: 'ACTIVITY_TYPE_CREATE_GRANT',
  intent: 'createGrantIntent',
  result: 'createGrantResult',
  authority: { resource: 'POLICY', action: 'CREATE', changesRights: true },
  params: z.object({
    fingerprint: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'Expected the fingerprint of an activity'),
    span: z.enum(grantSpans),
  }),
  returns: z.object({ policyId: uuid, endsAtMs: z.string() }),
  run(context) {
    const { tx, organizationId, params, now } = context;
    const row = orNotFound(
      findActivityByFingerprint(tx, organizationId, params.fingerprint),
      `unable to find activity ${params.fingerprint}`,
    );
    if (tx.waiting?.isFollowed === false) {
      throw new KeyhearthError('UNAVAILABLE', 'the activity log is being verified, try again in a moment');
    }
    if (row.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') throw refused('it waits for no approval');
    const userId = readVotes(tx, row)?.[0]?.userId;
    if (userId === undefined) throw refused('its votes cannot be read');
    const user = orNotFound(getUserRow(tx, organizationId, userId), `unable to find user ${userId}`);
    const asking = askingPolicy(tx, row);
    const end = endOf(params.span, now);
    const own = [`submitter.id == '${userId}'`, ...boundsOf(tx, row)];
    const policy = {
      policyName: freeName(tx, organizationId, `Until ${utc(end)}: ${upTo(user.name, 100)}`),
      effect: 'EFFECT_ALLOW' as const,
      condition: `${own.join(' && ')}${inheritedFrom(asking)}`,
      consensus: `approvers.any(user, user.id == '${userId}')`,
      time: `${grantTime(now, end)}${asking.time === null ? '' : ` && (${asking.time})`}`,
      notes: grantNotes,
    };
    checkRoom(context, [policy]);
    return { policyId: addPolicy(context, policy, 'parameters'), endsAtMs: String(end) };
  },
});

const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function freeName(tx: Reader, organizationId: string, name: string): string {
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? name : `${name} (${String(number)})`;
    if (findPolicyByName(tx, organizationId, wanted) === undefined) return wanted;
  }
}

/** The policy whose approval the request waits for, as it is now. */
function askingPolicy(tx: Reader, { organizationId, id }: ActivityRow): PolicyRow {
  const said = listEvaluations(tx, organizationId, id).at(-1)?.policyEvaluations ?? [];
  const [asking] = said
    .filter(({ outcome }) => outcome === 'OUTCOME_REQUIRES_CONSENSUS')
    .flatMap(({ policyId }) => getPolicyRow(tx, organizationId, policyId) ?? []);
  if (asking?.effect === 'EFFECT_ALLOW') return asking;
  throw refused('no policy asks for the approval');
}

/** Conditions that the request itself meets, and others of its kind. */
function boundsOf(tx: Reader, { type, intent, organizationId }: ActivityRow): readonly string[] {
  const kind = kindOf(type);
  const operation = grantable[kind];
  const version = operation?.versions.find((each) => each.type === type);
  if (operation === undefined || version === undefined) throw refused('it is more than one signature');
  const request = version.params.safeParse(storedJson(intent));
  if (!request.success) throw refused('it cannot be read');
  const params = version.upgrade(request.data);
  const facts = (operation.authority.facts?.({ tx, organizationId, params }) ?? {}) as Item;
  const key = facts.signing_key?.();
  const bounds = [
    `activity.kind == '${kind}'`,
    is('signing_key.public_key', key !== undefined && 'public_key' in key ? key.public_key : undefined),
  ];
  const read = sshBounds(facts) ?? ethereumBounds(facts);
  if (read === undefined) throw refused('the vault cannot bound what such requests sign');
  return [...bounds, ...read];
}

function sshBounds({ ssh, git }: Item): readonly string[] | undefined {
  const fact = ssh?.();
  if (fact === undefined || !('purpose' in fact)) return undefined;
  const way = wayBounds(fact.via);
  if (fact.purpose === 'LOGIN') {
    // The server's key is proven. The name of the server is a claim.
    return [
      "ssh.purpose == 'LOGIN'",
      is('ssh.host_key', fact.host_key),
      is('ssh.user', fact.user),
      is('ssh.service', fact.service),
      ...way,
    ];
  }
  const object = git?.();
  const repository = object !== undefined && 'repository' in object ? object.repository : undefined;
  return [
    "ssh.purpose == 'SIGNATURE'",
    is('ssh.namespace', fact.namespace),
    ...way,
    ...(repository === undefined ? [] : [is('git.repository', repository)]),
  ];
}

/** The same servers in the same order: each of them can send requests of its own. */
function wayBounds(via: unknown): readonly string[] {
  if (!Array.isArray(via)) throw refused('it is not known through which servers it came');
  return [
    `ssh.via.count() == ${String(via.length)}`,
    ...via.map((server: unknown, index) => is(`ssh.via[${String(index)}]`, server)),
  ];
}

/** The same call of the same receiver, with no more money, a fee of the same size, and no account handed over. */
function ethereumBounds(facts: Item): readonly string[] | undefined {
  const fact = facts['eth.tx']?.();
  if (fact === undefined || !('to' in fact)) return undefined;
  const { chain_id: chain, to, data, value, max_fee: fee, authorizations } = fact;
  if (to === '') throw refused('it creates a contract');
  if (!Array.isArray(authorizations) || authorizations.length > 0) throw refused('it hands accounts over');
  return [
    `eth.tx.chain_id == ${number(chain)}`,
    is('eth.tx.to', to),
    is('eth.tx.data', data),
    `eth.tx.value <= ${number(value)}`,
    `eth.tx.max_fee <= ${String(2n * BigInt(number(fee)))}`,
    'eth.tx.authorizations.count() == 0',
  ];
}

/** @throws KeyhearthError for a number that is not known. */
function number(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  throw refused('its chain, amount or fee is not known');
}

/** @throws KeyhearthError for a value that is not known, or that the policy language has no text for. */
function is(fact: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[^'\p{Cc}]{1,500}$/u.test(value)) {
    throw refused(`${fact} is not known, or cannot be written in a policy`);
  }
  return `${fact} == '${value}'`;
}

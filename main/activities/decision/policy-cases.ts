/**
 * Activities as policies would see them: those of the log, and hypothetical ones. Voters, tags and
 * credentials are as recorded in the log. Keys and wallets are as they are now.
 */
import { z } from 'zod';
import type { Reader } from '../../storage/connection.ts';
import { getOrganizationRule } from '../../storage/tables/organizations.ts';
import { listRootUserIds, getUserRow, type User } from '../../storage/tables/users.ts';
import { findUserSnapshot } from '../../storage/tables/user-snapshots.ts';
import { voterOf, votersOf } from '../../storage/tables/voters.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { once } from '../../lib/once.ts';
import { countValues, parsePlainJson } from '../../lib/plain-json.ts';
import { requestLimits } from '../../lib/published-limits.ts';
import type { Voter } from '../../policy/decide/facts.ts';
import type { Case } from '../../policy/analysis/replay.ts';
import type { CredentialFact } from '../../policy/language/schema.ts';
import {
  isReadable,
  type ActivityOperation,
  type Cases,
  type Operations,
  type PastRequest,
} from '../define.ts';
import { countersOf } from './counters.ts';
import { remainingFacts, type Activity } from './facts.ts';
import { parse } from '../../lib/parse.ts';
import { isForRootQuorum } from './root-users.ts';
import { versionNamed } from '../request/parse-request.ts';
import { operationOf } from '../request/stored.ts';

const request = z.object({ type: z.string(), parameters: z.looseObject({}) });

/** The cases of one organization, in one transaction. */
export function casesOf(tx: Reader, operations: Operations, organizationId: string, now: number): Cases {
  const rootQuorumThreshold = getOrganizationRule(tx, organizationId)?.rootQuorumThreshold ?? 1;
  const roots = new Set(listRootUserIds(tx, organizationId));
  const voters = once(() => votersOf(tx, organizationId, now));

  const caseOf = (
    operation: ActivityOperation,
    activity: Activity,
    approvers: readonly Voter[],
    at: number,
  ): Case => {
    const [submitter] = approvers;
    const caller = {
      organizationId,
      userId: submitter?.userId ?? '',
      root: submitter?.root ?? false,
      stamp: { publicKey: '', scheme: '', signature: '' },
    };
    const { authority } = operation;
    return {
      approvers,
      rootQuorumThreshold,
      now: at,
      voters,
      rootQuorumOnly: isForRootQuorum(tx, operation, activity, caller),
      ownCredentials: authority.ownCredentials?.(activity.params, caller) ?? false,
      items: remainingFacts(tx, operation, activity),
    };
  };

  return {
    counters: countersOf(tx, organizationId),
    ofActivity(row) {
      const logged = { ...row, organizationId };
      const voters = votersThen(row);
      if (voters === undefined || !isReadable(operations, logged)) return undefined;
      const { operation, activity } = operationOf(operations, logged);
      return caseOf(operation, activity, voters, row.createdAt);
    },
    ofRequest({ body, userId }) {
      const { type, parameters } = parse(request, parsed(body), 'requestBody');
      const operation = operations.byType.get(type)?.operation;
      if (operation === undefined) {
        throw new KeyhearthError(
          'INVALID_ARGUMENT',
          `invalid requestBody.type: Keyhearth has no activity of type ${type}`,
        );
      }
      const version = versionNamed(operation, type);
      const params = version.upgrade(parse(version.params, parameters, 'requestBody.parameters'));
      const user = getUserRow(tx, organizationId, userId);
      if (user === undefined) throw new KeyhearthError('NOT_FOUND', `unable to find user ${userId}`);
      const voter = voters().find((each) => each.userId === userId) ?? voterOf(tx, user, []);
      return {
        ...caseOf(operation, { type, organizationId, params }, [voter], now),
        counters: countersOf(tx, organizationId),
      };
    },
  };

  /**
   * The users who approved, as recorded with their votes. Membership of the root quorum is as of now.
   * @returns undefined where not all of them are known.
   */
  function votersThen({ votes }: PastRequest): readonly Voter[] | undefined {
    const approvals = votes?.filter(({ selection }) => selection === 'VOTE_SELECTION_APPROVED');
    const voters = approvals?.flatMap(({ snapshot, publicKey }): Voter[] => {
      const user = findUserSnapshot(tx, snapshot);
      if (user === undefined) return [];
      const { userId } = user;
      return [
        {
          userId,
          root: roots.has(userId),
          tags: user.userTags,
          email: user.userEmail,
          alias: user.userName,
          credentials: credentialThen(user, publicKey),
        },
      ];
    });
    return voters?.length === approvals?.length ? voters : undefined;
  }
}

function credentialThen(
  { userId, apiKeys, authenticators }: User,
  publicKey: string,
): readonly CredentialFact[] {
  const key = apiKeys.find(({ credential }) => credential.publicKey === publicKey);
  if (key) return [{ id: key.apiKeyId, user_id: userId, type: key.credential.type, public_key: publicKey }];
  const passkey = authenticators.find(({ credential }) => credential.publicKey === publicKey);
  if (passkey === undefined) return [];
  const { authenticatorId, credentialId, credential } = passkey;
  return [
    {
      id: authenticatorId,
      user_id: userId,
      type: credential.type,
      credential_id: credentialId,
      public_key: publicKey,
    },
  ];
}

/** @returns undefined for a text that is not JSON, and so not a request. */
function parsed(text: string): unknown {
  if (countValues(Buffer.from(text, 'utf8')) > requestLimits.values) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `invalid requestBody: expected at most ${requestLimits.values.toLocaleString('en')} values, as a request may have`,
    );
  }
  try {
    return parsePlainJson(text);
  } catch {
    return undefined;
  }
}

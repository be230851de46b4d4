/** Sentences about an activity of the log. */
import { isReadable, readRequest, type Operations } from '../../activities/define.ts';
import { findActivityByFingerprint, type ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
import { readVotes } from '../../storage/tables/votes.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { activityTitle } from '../../lib/text/activity-titles.ts';
import { toBeSigned } from '../../lib/text/to-be-signed.ts';
import { shortened } from '../../lib/text/up-to.ts';
import { describeRequest, type SigningRequest } from '../signing/describe-request.ts';
import { speak, type Asked, type Signed, type Spoken } from './effects.ts';
import { fieldsOf, type Fields } from './fields.ts';
import { namesOf } from './spoken.ts';

/** Characters of a title: what it leaves out, the description of the payload has. */
const longestTitle = 300;

type Logged = Pick<ActivityRow, 'type' | 'organizationId' | 'intent'>;

/** Says what an activity of the log is about: its parameters are read again by its operation. */
export const spokenOf = (tx: Reader, operations: Operations, row: Logged): Spoken =>
  readRequest(operations, row, ({ version, params }) =>
    spoken(tx, operations, row, version.upgrade(params)),
  ) ?? unreadable;

/** The same, with the fields of the request. */
export function describe(
  tx: Reader,
  operations: Operations,
  row: Logged & Pick<ActivityRow, 'status' | 'votes'>,
): Spoken & Fields {
  const said = requestOf(tx, operations, row) ?? {
    ...unreadable,
    ...fieldsOf({ request: row.intent }, undefined, namesOf(tx, row.organizationId)),
  };
  return readVotes(tx, row) === undefined
    ? { ...said, effect: [...said.effect, { text: ' Its votes cannot be read.' }] }
    : said;
}

/** @returns undefined where it cannot be read. */
const requestOf = (
  tx: Reader,
  operations: Operations,
  row: Logged & Pick<ActivityRow, 'status'>,
): (Spoken & Fields) | undefined =>
  row.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' && !isReadable(operations, row)
    ? undefined
    : readRequest(operations, row, ({ operation, version, params: stored }) => {
        const params = version.upgrade(stored);
        const signs = toBeSigned({ type: row.type, intent: { intent: params } }).length > 0;
        // Of the newest version, whose parameters every version becomes.
        const schema = operation.versions[0]?.params;
        return {
          ...spoken(tx, operations, row, params),
          ...(signs
            ? { fields: [], shortened: false }
            : fieldsOf(params, schema, namesOf(tx, row.organizationId))),
        };
      });

/** Nothing is left out in silence: a row that cannot be read says so in the place of its objects. */
const unreadable: Spoken = {
  about: [{ text: 'a request that cannot be read' }],
  effect: [{ text: 'This request cannot be read.' }],
};

function spoken(
  tx: Reader,
  operations: Operations,
  { type, organizationId }: Logged,
  params: unknown,
): Spoken {
  const known = operations.byType.get(type);
  const signed = (): Signed => signedOf(tx, organizationId, { type, intent: { intent: params } });
  const names = namesOf(tx, organizationId);
  const asked = (fingerprint: string): Asked | undefined => {
    const row = findActivityByFingerprint(tx, organizationId, fingerprint);
    // A grant is of a signature, so a grant of a grant goes no deeper.
    if (row === undefined || operations.byType.get(row.type)?.operation.authority.action !== 'SIGN')
      return undefined;
    const userId = readVotes(tx, row)?.[0]?.userId;
    if (userId === undefined) return undefined;
    return { user: names.user(userId), about: spokenOf(tx, operations, row).about };
  };
  const said = (known && speak(known.operation, params, names, { signed, asked })) ?? {
    about: [],
    effect: [{ text: `${activityTitle(type)}.` }],
  };
  // A request that its type does not take may have anything in the place of a name.
  if ([...said.about, ...said.effect].some(({ text }) => typeof (text as unknown) !== 'string')) {
    throw new Error(`a sentence about ${type} has a part that is not a text`);
  }
  return said;
}

function signedOf(tx: Reader, organizationId: string, activity: Parameters<typeof toBeSigned>[0]): Signed {
  const [first, ...rest] = toBeSigned(activity);
  return { title: first === undefined ? '' : titleOf(tx, organizationId, first), more: rest.length };
}

function titleOf(tx: Reader, organizationId: string, request: SigningRequest): string {
  try {
    const { title } = describeRequest(tx, organizationId, request);
    return shortened(title, longestTitle);
  } catch (error) {
    if (error instanceof KeyhearthError) return 'Sign a payload that cannot be read';
    throw error;
  }
}

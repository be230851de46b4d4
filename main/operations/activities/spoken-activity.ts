/** Sentences about an activity of the log. */
import type { z } from 'zod';
import type { Operations } from '../../activities/define.ts';
import { findActivityByFingerprint, type ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader } from '../../storage/connection.ts';
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
  spoken(tx, operations, row, paramsOf(operations, row));

/** The same, with the fields of the request. */
export function describe(tx: Reader, operations: Operations, row: Logged): Spoken & Fields {
  const params = paramsOf(operations, row);
  const signs = toBeSigned({ type: row.type, intent: { intent: params } }).length > 0;
  return {
    ...spoken(tx, operations, row, params),
    ...(signs
      ? { fields: [], shortened: false }
      : fieldsOf(params, schemaOf(operations, row), namesOf(tx, row.organizationId))),
  };
}

const paramsOf = ({ byType }: Operations, { type, intent }: Logged): unknown => {
  const stored: unknown = JSON.parse(intent);
  return byType.get(type)?.version.upgrade(stored) ?? stored;
};

/** Of the newest version, whose parameters every version becomes. */
const schemaOf = ({ byType }: Operations, { type }: Logged): z.ZodType | undefined =>
  byType.get(type)?.operation.versions[0]?.params;

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
    const [{ userId }] = JSON.parse(row.votes) as readonly [{ readonly userId: string }];
    return { user: names.user(userId), about: spokenOf(tx, operations, row).about };
  };
  return (
    (known && speak(known.operation, params, names, { signed, asked })) ?? {
      about: [],
      effect: [{ text: `${activityTitle(type)}.` }],
    }
  );
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

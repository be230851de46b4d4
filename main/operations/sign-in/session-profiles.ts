/** Session profiles: what a session may do, and for how long at most. A login names one, and no session leaves its own. */
import { z } from 'zod';
import { activity, query } from '../../activities/define.ts';
import { uuidV4 } from '../../crypto/uuid.ts';
import {
  insertSessionProfile,
  listSessionProfileRows,
  type SessionProfileRow,
} from '../../storage/tables/session-profiles.ts';
import { timestamp } from '../../lib/clock.ts';
import { defined } from '../../lib/defined.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { compile } from '../../policy/language/compile.ts';
import { ExpressionError, maxLength } from '../../policy/language/syntax.ts';
import { limits } from '../shared/limits.ts';
import { checkLimit, checkUnmistakable, id, name, nameTaken } from '../shared/parameters.ts';
import { timestamp as shownTimestamp, uuid } from '../shared/resources.ts';
import { requireSessionProfile, sessionSeconds } from './session-keys.ts';

/** A session's token has the profile's name in place of these. */
const ownTypes = /^SESSION_TYPE_/i;

const shownProfile = z
  .object({
    sessionProfileId: uuid,
    sessionProfileName: z.string(),
    scope: z.string(),
    expirationSeconds: z.string().optional(),
    notes: z.string().optional(),
    createdAt: shownTimestamp,
    updatedAt: shownTimestamp,
  })
  .meta({ id: 'SessionProfile' });

export const createSessionProfile = activity({
  path: 'create_session_profile',
  summary:
    'Creates a profile that limits the sessions made with it: the scope is asked of each of their activities. It stays as it is.',
  title: 'Create a session profile',
  type: 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE',
  intent: 'createSessionProfileIntent',
  result: 'createSessionProfileResult',
  authority: { resource: 'SESSION_PROFILE', action: 'CREATE' },
  params: z.object({
    sessionProfileName: name.refine(
      (text) => !ownTypes.test(text),
      'Expected a name that does not begin with SESSION_TYPE_, as the types of sessions do',
    ),
    scope: z
      .string()
      .max(maxLength)
      .refine((text) => text.trim() !== '', 'Expected an expression; "true" allows everything'),
    expirationSeconds: sessionSeconds.optional(),
    notes: z.string().max(limits.policyNotesCharacters).optional(),
  }),
  returns: z.object({ sessionProfileId: uuid }),
  run({ tx, organizationId, random, now, params }) {
    const { sessionProfileName, scope, expirationSeconds, notes = '' } = params;
    const present = listSessionProfileRows(tx, organizationId).filter(
      (profile) => profile.organizationId === organizationId,
    );
    checkLimit(tx, 'session profiles', present.length, 1, limits.sessionProfilesPerOrganization);
    const at = 'parameters.sessionProfileName';
    if (present.some((profile) => profile.name === sessionProfileName)) {
      throw nameTaken(at, 'session profile name', sessionProfileName);
    }
    checkUnmistakable(at, 'session profile name', sessionProfileName, () => present);
    checkScopeText(scope);
    const sessionProfileId = uuidV4(random('session profile', 16));
    insertSessionProfile(tx, {
      id: sessionProfileId,
      organizationId,
      name: sessionProfileName,
      scope,
      expirationSeconds: expirationSeconds === undefined ? null : Number(expirationSeconds),
      notes,
      createdAt: now,
      updatedAt: now,
    });
    return { sessionProfileId };
  },
});

/** @throws KeyhearthError INVALID_ARGUMENT for a text that does not compile, or that counts: a scope keeps no counters. */
function checkScopeText(scope: string): void {
  const problem = problemOf(scope);
  if (problem === undefined) return;
  throw new KeyhearthError('INVALID_ARGUMENT', `invalid parameters.scope: ${problem}`);
}

function problemOf(scope: string): string | undefined {
  try {
    const { reservations } = compile(scope, 'condition');
    return reservations.length === 0 ? undefined : 'expected no rolling function: policies count';
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

const show = (row: SessionProfileRow) => ({
  sessionProfileId: row.id,
  sessionProfileName: row.name,
  scope: row.scope,
  ...defined({
    expirationSeconds: row.expirationSeconds === null ? undefined : String(row.expirationSeconds),
    notes: row.notes === '' ? undefined : row.notes,
  }),
  createdAt: timestamp(row.createdAt),
  updatedAt: timestamp(row.updatedAt),
});

export const getSessionProfile = query({
  path: 'get_session_profile',
  summary: 'Answers a session profile of the organization or its parent.',
  params: z.object({ sessionProfileId: id }),
  returns: z.object({ sessionProfile: shownProfile }),
  run: ({ tx, organizationId, params: { sessionProfileId } }) => ({
    sessionProfile: show(requireSessionProfile(tx, organizationId, sessionProfileId)),
  }),
});

export const getSessionProfiles = query({
  path: 'get_session_profiles',
  summary: 'Lists the session profiles of the organization’s parent and its own.',
  params: z.object({}),
  returns: z.object({ sessionProfiles: z.array(shownProfile) }),
  run: ({ tx, organizationId }) => ({
    sessionProfiles: listSessionProfileRows(tx, organizationId).map(show),
  }),
});

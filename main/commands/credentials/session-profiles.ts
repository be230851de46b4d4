/** `keyhearth sessions profiles` and `create-profile`: what limits the sessions whose login names a profile. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import type { ApiOptions } from '../shared/options.ts';
import { activityKind, VaultApi } from '../shared/api.ts';
import { print } from '../shared/output.ts';
import { table } from '../shared/table.ts';

export interface NewProfile {
  readonly scope: string;
  readonly expires?: string;
  readonly notes?: string;
}

const profileList = z.object({
  sessionProfiles: z.array(
    z.object({
      sessionProfileId: z.string(),
      sessionProfileName: z.string(),
      scope: z.string(),
      expirationSeconds: z.string().optional(),
      notes: z.string().optional(),
    }),
  ),
});

const createSessionProfile = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE',
  result: z.object({ sessionProfileId: z.string() }),
  options: {
    'parameters.sessionProfileName': '<name>',
    'parameters.scope': '--scope',
    'parameters.expirationSeconds': '--expires',
    'parameters.notes': '--notes',
  },
  isOfUseLater: true,
});

export async function listProfiles(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const { sessionProfiles } = await api.query('get_session_profiles', profileList, {});
  print(
    json,
    { sessionProfiles },
    sessionProfiles.length === 0
      ? 'No session profiles. Create one with: keyhearth sessions create-profile NAME --scope CONDITION'
      : table(
          ['ID', 'Name', 'Seconds', 'Scope'],
          sessionProfiles.map(({ sessionProfileId, sessionProfileName, expirationSeconds = '', scope }) => [
            sessionProfileId,
            visibleName(sessionProfileName),
            expirationSeconds,
            visibleName(scope),
          ]),
        ),
  );
}

export async function createProfile(
  config: Config,
  sessionProfileName: string,
  { scope, expires: expirationSeconds, notes, apiKey, json }: NewProfile & ApiOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const profile = { sessionProfileName, scope, ...defined({ expirationSeconds, notes }) };
  const { sessionProfileId } = await api.submit(createSessionProfile, profile);
  print(
    json,
    { sessionProfileId, ...profile },
    `Created the session profile ${visibleName(sessionProfileName)}: ${sessionProfileId}`,
  );
}

/** When credentials were last used, read: what is never used can go. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { timestamp } from '../../lib/clock.ts';
import { shownCredentialUse } from '../shared/resources.ts';

export const listCredentialUses = query({
  path: 'list_credential_uses',
  summary:
    'Tells when API keys, passkeys and sessions last proved a request, by their ids; what was never used is left out.',
  own: true,
  params: z.object({}),
  returns: z.object({ credentialUses: z.array(shownCredentialUse) }),
  run: ({ lastUses }) => ({
    credentialUses: Array.from(lastUses(), ([credentialId, usedAt]) => ({
      credentialId,
      lastUsedAt: timestamp(usedAt),
    })),
  }),
});

/** The sender of a request, signed, for a client that does not trust the way to the vault. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { callerStatement } from '../shared/bundles.ts';

export const getSignedWhoami = query({
  path: 'get_signed_whoami',
  own: true,
  summary:
    'Tells whose key stamped the request, signed by the vault: for a client that reaches the vault through others.',
  inCallersOrganization: true,
  params: z.object({}),
  returns: z.object({
    statement: z
      .string()
      .describe('An envelope as bundles have it. Its data has `organizationId`, `userId` and `publicKey`.'),
  }),
  run: (context) => ({ statement: callerStatement(context) }),
});

/** Finding anything in an organization by what one has of it. The real API has nothing of the kind. */
import { z } from 'zod';
import { query } from '../../activities/define.ts';
import { search as searchRows } from '../../storage/search.ts';

const mostOfEach = 20;
const fewOfEach = 5;

const result = z
  .object({
    kind: z.enum([
      'WALLET',
      'WALLET_ACCOUNT',
      'PRIVATE_KEY',
      'SECRET',
      'USER',
      'API_KEY',
      'POLICY',
      'USER_TAG',
      'PRIVATE_KEY_TAG',
      'KNOWN_ADDRESS',
      'SUB_ORGANIZATION',
      'ACTIVITY',
    ]),
    id: z.uuid(),
    /** The name; the address of an account without a name, the type of an activity. */
    name: z.string(),
    /** Distinguishes it from others of its name. */
    detail: z.string().nullable(),
    /** The wallet of an account, the user of an API key. */
    within: z.uuid().nullable(),
  })
  .meta({ id: 'Found' });

export const search = query({
  path: 'search',
  summary: 'Finds what has a text in its name, or an id, an address or a key that begins with it.',
  own: true,
  params: z.object({
    /** A part of a name; the beginning of an id, an address, a public key or a fingerprint. */
    text: z.string().trim().min(1).max(200),
    /** Of each kind. */
    limit: z.int().min(1).max(mostOfEach).optional(),
  }),
  returns: z.object({ results: z.array(result) }),
  run: ({ tx, organizationId, params: { text, limit = fewOfEach } }) => ({
    results: searchRows(tx, organizationId, text, limit),
  }),
});

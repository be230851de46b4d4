import { expect, test } from 'vitest';
import { activityTitles } from '../../../../main/lib/text/activity-titles.ts';
import { areaOf, areas } from './permission-areas.ts';

test('each kind of activity is in one area, also one that is not known yet', () => {
  const known = new Set<string>(areas.map(({ id }) => id));
  for (const kind of [...Object.keys(activityTitles), 'SOMETHING_NEW'])
    expect(known.has(areaOf(`ACTIVITY_TYPE_${kind}`)), kind).toBe(true);
});

test.each([
  ['SIGN_RAW_PAYLOADS', 'sign'],
  ['EXPORT_WALLET_ACCOUNT', 'export'],
  ['CREATE_KNOWN_ADDRESS', 'policies'],
  ['CREATE_GRANT', 'policies'],
  ['CREATE_PRIVATE_KEY_TAG', 'keys'],
  ['DELETE_USERS', 'people'],
  ['UPDATE_ROOT_QUORUM', 'vault'],
] as const)('%s is in the area %s', (kind, area) => {
  expect(areaOf(`ACTIVITY_TYPE_${kind}_V2`)).toBe(area);
});

import { expect, test } from 'vitest';
import { kindOf, pathOfType, withoutVersion } from './activity-types.ts';

test.each([
  ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOAD', 'sign_raw_payload'],
  ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', 'SIGN_RAW_PAYLOAD', 'sign_raw_payload'],
  ['ACTIVITY_TYPE_CREATE_USERS_V10', 'CREATE_USERS', 'create_users'],
  // A version is the end of a name alone, and has a number.
  ['ACTIVITY_TYPE_V2_THING', 'V2_THING', 'v2_thing'],
  ['ACTIVITY_TYPE_THING_V', 'THING_V', 'thing_v'],
  ['MY_ACTIVITY_TYPE_THING', 'MY_ACTIVITY_TYPE_THING', 'my_activity_type_thing'],
])('%s is of the kind %s and has the path %s', (type, kind, path) => {
  expect(kindOf(type)).toBe(kind);
  expect(pathOfType(type)).toBe(path);
});

test('policies compare types without their version, in any case', () => {
  expect(withoutVersion('activity_type_create_users_v3')).toBe('activity_type_create_users');
});

import { expect, test } from 'vitest';
import { describeStatus, describeType, typeFilters } from './activity-words.ts';

test('types are said in words, whatever their version; unknown ones by their name', () => {
  expect(describeType('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD')).toBe('Sign a payload');
  expect(describeType('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')).toBe('Sign a payload');
  expect(describeType('ACTIVITY_TYPE_APPROVE_ACTIVITY')).toBe('Approve activity');
});

test('each filter takes all versions of one thing', () => {
  expect(new Set(typeFilters.map(({ label }) => label)).size).toBe(typeFilters.length);
  for (const { label, types } of typeFilters)
    expect(new Set(types.map(describeType))).toEqual(new Set([label]));
});

test('an unknown status is shown as it is', () => {
  expect(describeStatus('ACTIVITY_STATUS_COMPLETED').label).toBe('Completed');
  expect(describeStatus('ACTIVITY_STATUS_NEW')).toEqual({ label: 'NEW', tone: 'waiting' });
});

import { expect, test } from 'vitest';
import { problemsOf, warningsOf } from '../../../main/policy/language/check.ts';
import { policyTemplates } from './policy-templates.ts';

test.each(policyTemplates)('$id is a policy that is accepted, and means what it might', ({ draft }) => {
  expect(problemsOf(draft)).toEqual([]);
  expect(warningsOf(draft)).toEqual([]);
});

test('each has an id of its own', () => {
  expect(new Set(policyTemplates.map(({ id }) => id)).size).toBe(policyTemplates.length);
});

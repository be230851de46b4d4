import { expect, test } from 'vitest';
import { problemsOf, warningsOf } from '../../../main/policy/language/check.ts';
import { blank } from './draft.ts';
import { policyTemplates } from './policy-templates.ts';

test.each(policyTemplates)('$id is a policy that is accepted, and means what it might', ({ draft }) => {
  expect(problemsOf(draft)).toEqual([]);
  const condition = draft.condition.replaceAll(blank, '0x71c7656ec7ab88b098defb751b7401b5f6d8976f');
  expect(warningsOf({ ...draft, condition })).toEqual([]);
});

test('each has an id of its own', () => {
  expect(new Set(policyTemplates.map(({ id }) => id)).size).toBe(policyTemplates.length);
});

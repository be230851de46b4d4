import { expect, test } from 'vitest';
import { describeQuorum } from './quorum.ts';

test.each<[number, string[], string]>([
  [1, ['Ada'], 'Ada alone has full access.'],
  [1, ['Ada', 'Grace'], 'Any one of Ada or Grace has full access.'],
  [2, ['Ada', 'Grace'], 'Ada and Grace have full access when both agree.'],
  [2, ['Ada', 'Grace', 'Mary'], 'Any 2 of Ada, Grace, and Mary have full access when they agree.'],
  [3, ['Ada', 'Grace', 'Mary'], 'Ada, Grace, and Mary have full access when all agree.'],
])('%i of %j', (threshold, names, said) => {
  expect(describeQuorum(threshold, names)).toBe(said);
});

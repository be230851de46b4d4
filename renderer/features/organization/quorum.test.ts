import { expect, test } from 'vitest';
import { describeQuorum } from './quorum.ts';

test.each<[number, string[], string]>([
  [1, ['Ada'], 'Ada alone may do everything here.'],
  [1, ['Ada', 'Grace'], 'Any one of Ada or Grace may do everything here.'],
  [2, ['Ada', 'Grace'], 'Ada and Grace may do everything here, when both agree.'],
  [2, ['Ada', 'Grace', 'Mary'], 'Any 2 of Ada, Grace, and Mary may do everything here, when they agree.'],
  [3, ['Ada', 'Grace', 'Mary'], 'Ada, Grace, and Mary may do everything here, when all agree.'],
])('%i of %j', (threshold, names, said) => {
  expect(describeQuorum(threshold, names)).toBe(said);
});

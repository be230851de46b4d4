import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';

const root = (userId: string) => ({ userId, root: true });
const plain = (userId: string) => ({ userId, root: false });

describe('the root quorum', () => {
  test.each([
    [1, [root('a')]],
    [1, [plain('b'), root('a')]],
    [2, [root('a'), root('b')]],
    [2, [root('a'), root('b'), root('c')]],
  ])('of %i may do anything with %j', (rootQuorumThreshold, approvers) => {
    expect(decide({ approvers, rootQuorumThreshold })).toEqual({
      outcome: 'allow',
      evaluations: [],
      reservations: [],
    });
  });
});

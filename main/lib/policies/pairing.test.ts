/** The class: a program that has a key while something is missing that bounds it, or that leaves something when it fails. */
import { expect, test } from 'vitest';
import { pairInOrder, type PairingSteps } from './pairing.ts';
import { pauseOf } from './spenders.ts';

const order = ['makeKey', 'createUser', 'createPolicies', 'check', 'giveKey'] as const;

/** @param failing The step that is refused. */
function steps(failing?: (typeof order)[number]) {
  const done: string[] = [];
  const step = <T>(name: (typeof order)[number], answer: T): Promise<T> => {
    if (name === failing) return Promise.reject(new Error(`${name} refused`));
    done.push(name);
    return Promise.resolve(answer);
  };
  const all: PairingSteps<string> = {
    makeKey: () => step('makeKey', 'key'),
    createUser: () => step('createUser', 'user'),
    policiesOf: (userId) => [pauseOf('Agent claude', userId)],
    createPolicies: (policies) => step('createPolicies', [policies[0]?.condition ?? '']),
    check: () => step('check', undefined),
    giveKey: (userId, key) => step('giveKey', [userId, key]),
    undo: (made) => {
      done.push(`undo ${JSON.stringify(made)}`);
      return Promise.resolve();
    },
  };
  return { all, done };
}

test('the key comes last, once the policies are in force and were compared with the others', async () => {
  const { all, done } = steps();
  const policyIds = ["submitter.id == 'user'"];
  expect(await pairInOrder(all)).toEqual({ key: 'key', userId: 'user', policyIds });
  expect(done).toEqual(order);
});

test.each(order.slice(1).map((failing, index) => [failing, index + 1] as const))(
  'where %s is refused, what was created is deleted',
  async (failing, index) => {
    const { all, done } = steps(failing);
    await expect(pairInOrder(all)).rejects.toThrow(`${failing} refused`);
    const made = {
      ...(index > 1 && { userId: 'user' }),
      policyIds: index > 2 ? ["submitter.id == 'user'"] : [],
    };
    expect(done).toEqual([...order.slice(0, index), `undo ${JSON.stringify(made)}`]);
  },
);

test('without a key nothing is created', async () => {
  const { all, done } = steps('makeKey');
  await expect(pairInOrder(all)).rejects.toThrow('makeKey refused');
  expect(done).toEqual([]);
});

/** The class: a program that has a key while something is missing that bounds it, or that leaves something when it fails. */
import { expect, test } from 'vitest';
import { messageOf } from '../errors.ts';
import { pairInOrder, type PairingSteps } from './pairing.ts';
import { pauseOf } from './spenders.ts';

const order = ['makeKey', 'createUser', 'createPolicies', 'check', 'giveKey', 'check again'] as const;

const undoings = ['forgetKey', 'deleteUser', 'deletePolicies'] as const;
type Step = (typeof order)[number] | (typeof undoings)[number] | 'find';

/** @param failing The steps that are refused. */
const steps = (...failing: readonly Step[]) => stepsOf(failing, false);

/** @param failing The steps that fail. @param isLost True where the vault does them, and its answer is lost. */
function stepsOf(failing: readonly Step[], isLost: boolean) {
  const done: string[] = [];
  const deleted: string[] = [];
  const step = <T>(name: Step, answer: T): Promise<T> => {
    if (failing.includes(name)) return Promise.reject(new Error(`${name} refused`));
    done.push(name);
    return Promise.resolve(answer);
  };
  const all: PairingSteps<string> = {
    makeKey: () => step('makeKey', 'key'),
    createUser: () => step('createUser', 'user'),
    policiesOf: (userId) => [pauseOf('Agent claude', userId)],
    createPolicies: (policies) => step('createPolicies', [policies[0]?.condition ?? '']),
    check: () => step(done.includes('giveKey') ? 'check again' : 'check', undefined),
    giveKey: (userId, key) => step('giveKey', [userId, key]),
    isUnanswered: (error) => isLost && error instanceof Error,
    find: (userId) =>
      failing.includes('find')
        ? Promise.reject(new Error('find refused'))
        : Promise.resolve({
            userId: ['found user', 'user'].find(
              (id) => id === (userId ?? 'found user') && !deleted.includes(id),
            ),
            policyIds: deleted.includes('found policy') ? [] : ['found policy'],
          }),
    undo: {
      forgetKey: () => step('forgetKey', undefined),
      deleteUser: (userId) => {
        deleted.push(userId);
        return step('deleteUser', userId);
      },
      deletePolicies: (policyIds) => {
        deleted.push(...policyIds);
        return step('deletePolicies', policyIds);
      },
    },
    onLeft: (left, reasons) => {
      done.push(`left ${JSON.stringify(left)}: ${reasons.map(messageOf).join(', ')}`);
    },
  };
  return { all, done, deleted };
}

test('the key comes once the policies are in force and were compared with the others, which is done again', async () => {
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
    const undone = undoings.filter((_, each) => index > each);
    expect(done).toEqual([...order.slice(0, index), ...undone]);
  },
);

test.each([
  [['forgetKey'], ['deleteUser', 'deletePolicies'], { key: true, policyIds: [], isUnsure: false }],
  [
    ['deleteUser'],
    ['forgetKey'],
    { key: false, userId: 'user', policyIds: ["submitter.id == 'user'"], isUnsure: false },
  ],
  [
    ['deletePolicies'],
    ['forgetKey', 'deleteUser'],
    { key: false, policyIds: ["submitter.id == 'user'"], isUnsure: false },
  ],
  [
    ['forgetKey', 'deleteUser'],
    [],
    { key: true, userId: 'user', policyIds: ["submitter.id == 'user'"], isUnsure: false },
  ],
] as const)(
  'where %s is refused too, the others are deleted, and what stays is reported',
  async (refused, undone, left) => {
    const { all, done } = steps('giveKey', ...refused);
    await expect(pairInOrder(all)).rejects.toThrow('giveKey refused');
    const reasons = refused.map((name) => `${name} refused`).join(', ');
    expect(done).toEqual([...order.slice(0, 4), ...undone, `left ${JSON.stringify(left)}: ${reasons}`]);
  },
);

test('without a key nothing is created', async () => {
  const { all, done } = steps('makeKey');
  await expect(pairInOrder(all)).rejects.toThrow('makeKey refused');
  expect(done).toEqual([]);
});

test.each([
  ['createUser', 'found user'],
  ['createPolicies', 'user'],
  ['giveKey', 'user'],
] as const)('where the answer of %s is lost, what is found is deleted', async (lost, userId) => {
  const { all, deleted } = stepsOf([lost], true);
  await expect(pairInOrder(all)).rejects.toThrow(`${lost} refused`);
  expect(deleted).toEqual([userId, 'found policy']);
});

test('where nothing can be looked up either, what is known is deleted, and the doubt is reported', async () => {
  const { all, done, deleted } = stepsOf(['createPolicies', 'find'], true);
  await expect(pairInOrder(all)).rejects.toThrow('createPolicies refused');
  expect(deleted).toEqual(['user']);
  const left = JSON.stringify({ key: false, policyIds: [], isUnsure: true });
  expect(done.at(-1)).toBe(`left ${left}: find refused`);
});

test.each(['deleteUser', 'deletePolicies'] as const)(
  'where the answer of %s is lost, it is looked for, and the others are deleted',
  async (lost) => {
    const { all, done, deleted } = stepsOf(['giveKey', lost], true);
    await expect(pairInOrder(all)).rejects.toThrow('giveKey refused');
    expect(deleted).toEqual(['user', 'found policy']);
    expect(done.join(' ')).not.toContain('left');
  },
);

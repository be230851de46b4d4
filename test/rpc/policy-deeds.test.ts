/** The class: a policy that allows or denies another deed than the window's form, and its sentence, name. */
import { expect, test } from 'vitest';
import { operations } from '../../main/operations/index.ts';
import { kindsOf } from '../../main/operations/policies/activity-kinds.ts';
import { openForm, writePolicy } from '../../main/lib/policies/policy-form.ts';
import { decide } from '../../main/policy/decide/decide.ts';
import { storedPolicy } from '../../main/policy/decide/policies.ts';
import { deedChoices } from '../../renderer/features/policies/builder/policy-building.ts';

const kinds = kindsOf(operations).filter(({ rootQuorumOnly }) => !rootQuorumOnly);

/** The kinds of activities of this vault that a policy with the deed is about. */
const covered = (id: string): readonly (string | undefined)[] => {
  const deeds = deedChoices.find((each) => each.id === id)?.deeds ?? openForm.deeds;
  const policy = storedPolicy({ policyId: 'p', ...writePolicy({ ...openForm, deeds }) });
  return kinds
    .filter(({ type, kind, resource, action }) => {
      const activity = () => ({
        ...{ type, resource, action, params: { user_tags: [] } },
        ...(kind !== undefined && { kind }),
      });
      const { outcome } = decide({
        approvers: [{ userId: 'anna', root: false }],
        rootQuorumThreshold: 1,
        policies: [policy],
        items: [{ activity }],
      });
      return outcome === 'allow';
    })
    .map(({ kind }) => kind)
    .toSorted();
};

const named: Readonly<Record<string, readonly string[]>> = {
  sign: ['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS', 'SIGN_TRANSACTION'],
  export: ['EXPORT_PRIVATE_KEY', 'EXPORT_WALLET', 'EXPORT_WALLET_ACCOUNT'],
  'create-keys': ['CREATE_PRIVATE_KEYS', 'CREATE_WALLET', 'CREATE_WALLET_ACCOUNTS'],
  delete: ['DELETE_PRIVATE_KEYS', 'DELETE_SUB_ORGANIZATION', 'DELETE_WALLETS', 'DELETE_WALLET_ACCOUNTS'],
  'create-users': ['CREATE_USERS'],
};

test.each(Object.entries(named))('the deed %s is of these kinds alone', (id, expected) => {
  expect(covered(id)).toEqual(expected);
});

test('every deed is looked at, and one is of every kind', () => {
  expect(deedChoices.map(({ id }) => id)).toEqual([...Object.keys(named), 'everything']);
  expect(covered('everything')).toHaveLength(kinds.length);
});

/** The class: words that say of a budget what the policy engine does not count. */
import { expect, test } from 'vitest';
import {
  openForm,
  writePolicy,
  type Agreement,
  type Payment,
  type PolicyForm,
} from '../../../../main/lib/policies/policy-form.ts';
import { decide } from '../../../../main/policy/decide/decide.ts';
import { storedPolicy } from '../../../../main/policy/decide/policies.ts';
import { holderChoice, holderLabel, mayBeSeveral } from './policy-building.ts';

const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const [one, other] = [`0x${'1a'.repeat(20)}`, `0x${'2b'.repeat(20)}`];

/** Counts the counters that payments to two receivers are counted in, where each receiver is to have a budget. */
function countersOf(payment: Payment): number {
  const policy = storedPolicy({ policyId: 'p', ...writePolicy({ ...openForm, payment }) });
  const counters = new Set<string>();
  for (const receiver of [one, other]) {
    const verdict = decide({
      approvers: [{ userId: 'anna', root: false }],
      rootQuorumThreshold: 1,
      policies: [policy],
      counters: { total: () => 0n },
      items: [
        {
          'eth.tx': () => ({
            ...{ chain_id: 1, type: 'TYPE_2', outflow: 1, value: payment.token === null ? 1 : 0 },
            ...(payment.token === null
              ? { to: receiver, data: '0x' }
              : {
                  to: payment.token,
                  data: '0xa9059cbb',
                  function_signature: '0xa9059cbb',
                  contract_call_args: { to: receiver, amount: 1 },
                }),
          }),
        },
      ],
    });
    if (verdict.outcome !== 'allow') throw new Error(verdict.reason);
    for (const { by } of verdict.reservations) counters.add(by);
  }
  return counters.size;
}

test.each([
  [null, 2, 'to each receiver', 'each receiver'],
  [usdc, 1, 'for each token', 'each token'],
])('a budget by eth.tx.to, of the token %s', (token, counters, label, choice) => {
  const payment: Payment = {
    ...{ chainId: '1', token, receivers: null, fees: [] },
    limits: [{ amount: '5', window: '24h', by: ['receiver'] }],
  };
  expect(countersOf(payment)).toBe(counters);
  expect(holderLabel('receiver', payment)).toBe(label);
  expect(holderChoice('receiver', payment)).toBe(choice);
});

const users = (...ids: readonly string[]): Agreement => ({ count: 1, of: { kind: 'users', ids } });
const tagged: Agreement = { count: 1, of: { kind: 'tag', id: 'managers' } };
const anna = { kind: 'users', ids: ['anna'] } as const;

/** True if one person is all that the policy needs, whatever tags that person has. */
const isForOne = (form: PolicyForm): boolean =>
  ['anna', 'bob'].some(
    (userId) =>
      decide({
        approvers: [{ userId, root: false, tags: ['managers', 'ops'] }],
        rootQuorumThreshold: 1,
        policies: [storedPolicy({ policyId: 'p', ...writePolicy(form) })],
      }).outcome === 'allow',
  );

test.each<[string, Partial<PolicyForm>, boolean]>([
  ['two users', { agreements: [users('anna'), users('bob')] }, false],
  ['a user and one of several with the user', { agreements: [users('anna'), users('anna', 'bob')] }, true],
  ['a user and a tag', { agreements: [users('anna'), tagged] }, true],
  ['one who asks and another', { requesters: anna, agreements: [users('bob')] }, false],
  ['one who asks and a tag', { requesters: anna, agreements: [tagged] }, true],
])('several who agree may be one person: %s', (_, more, isOne) => {
  const form = { ...openForm, ...more };
  expect(isForOne(form)).toBe(isOne);
  expect(mayBeSeveral(form)).toBe(isOne);
});

test.each<[string, Partial<PolicyForm>]>([
  ['anyone', {}],
  ['one user', { agreements: [users('anna')] }],
  ['a tag', { agreements: [tagged] }],
  ['one who asks and agrees', { requesters: anna, agreements: [users('anna')] }],
])('where one person is asked for, none counts for several: %s', (_, more) => {
  expect(mayBeSeveral({ ...openForm, ...more })).toBe(false);
});

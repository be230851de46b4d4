import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../decide/decide.ts';
import type { Voter } from '../decide/facts.ts';
import { compilePolicy, type PolicyText } from '../decide/policies.ts';
import type { ConditionFacts } from '../language/schema.ts';
import { Unknown } from '../language/types.ts';
import { reachOf, type ActivityKind, type Organization } from './reach.ts';
import { withoutBreak } from '../../lib/concurrency/paced.ts';

const ann: Voter = { userId: 'ann', root: false, tags: ['ops'] };
const bob: Voter = { userId: 'bob', root: false };
const root: Voter = { userId: 'root', root: true };

const kind = (
  name: string,
  resource: string,
  action: string,
  more: Partial<ActivityKind> = {},
): ActivityKind => ({
  type: `ACTIVITY_TYPE_${name}`,
  kind: name,
  resource,
  action,
  rootQuorumOnly: false,
  credentials: false,
  ...more,
});
const kinds = {
  sign: kind('SIGN_TRANSACTION', 'PRIVATE_KEY', 'SIGN'),
  raw: kind('SIGN_RAW_PAYLOADS', 'PRIVATE_KEY', 'SIGN'),
  create: kind('CREATE_WALLET', 'WALLET', 'CREATE'),
  users: kind('CREATE_USERS', 'USER', 'CREATE'),
  keys: kind('CREATE_API_KEYS', 'CREDENTIAL', 'CREATE', { credentials: true }),
  feature: kind('SET_ORGANIZATION_FEATURE', 'ORGANIZATION', 'UPDATE', { rootQuorumOnly: true }),
} as const;
type Kind = keyof typeof kinds;

const rule = (effect: 'ALLOW' | 'DENY', condition: string, consensus = '', policyId = 'p'): PolicyText => ({
  policyId,
  effect: `EFFECT_${effect}`,
  condition,
  consensus,
});

function reach(policies: readonly PolicyText[], user: Voter = ann, more: Partial<Organization> = {}) {
  const organization = { rootQuorumThreshold: 1, policies, voters: [ann, bob, root], now: 0, ...more };
  const reached = withoutBreak(reachOf(organization, user, Object.values(kinds)));
  return Object.fromEntries(
    Object.keys(kinds).map((name, index) => [name, reached[index]?.reach.slice('REACH_'.length)]),
  ) as Record<Kind, string>;
}

describe('without policies', () => {
  test('a user changes its own credentials alone', () => {
    expect(reach([])).toEqual({
      sign: 'DENIED',
      raw: 'DENIED',
      create: 'DENIED',
      users: 'DENIED',
      keys: 'OWN_CREDENTIALS',
      feature: 'DENIED',
    });
  });

  test('one of the root quorum does everything, or waits for the rest of it', () => {
    expect(new Set(Object.values(reach([], root)))).toEqual(new Set(['ROOT_QUORUM']));
    expect(reach([], root, { rootQuorumThreshold: 2 })).toMatchObject({
      sign: 'CONSENSUS',
      feature: 'CONSENSUS',
    });
  });
});

describe('a condition', () => {
  test.each<[string, Partial<Record<Kind, string>>]>([
    ["activity.action == 'SIGN'", { sign: 'ALLOWED', create: 'DENIED' }],
    ["activity.resource == 'WALLET' && activity.action == 'CREATE'", { sign: 'DENIED', create: 'ALLOWED' }],
    ["activity.action == 'SIGN' && eth.tx.value < 5", { sign: 'DEPENDS', create: 'DENIED' }],
    ['eth.tx.value < 5', { sign: 'DEPENDS', create: 'DENIED', users: 'DENIED' }],
    ["wallet.id == 'w'", { sign: 'DEPENDS', create: 'DEPENDS', users: 'DENIED' }],
    [
      "activity.action == 'CREATE' || wallet.id == 'w'",
      { sign: 'DEPENDS', create: 'DEPENDS', users: 'DENIED' },
    ],
    ["submitter.tags.contains('ops')", { sign: 'ALLOWED', users: 'ALLOWED', feature: 'DENIED' }],
    ["submitter.tags.contains('other')", { sign: 'DENIED', users: 'DENIED' }],
    ["!(activity.action == 'SIGN')", { sign: 'DENIED', create: 'ALLOWED' }],
    ["solana.tx.transfers.all(wallet, wallet.to == 'x')", { sign: 'DEPENDS', create: 'DENIED' }],
    ["RollingCount('1h') <= 3", { sign: 'DEPENDS' }],
    // The class: a fact that no such activity has, asked of each element of a list that may be empty.
    ['activity.params.user_tags.all(tag, eth.tx.to == tag)', { sign: 'DEPENDS', users: 'DEPENDS' }],
    ['!activity.params.user_tags.any(tag, wallet.id == tag)', { users: 'DEPENDS' }],
    ['eth.tx.blob_hashes.all(hash, hash == eth.tx.to)', { sign: 'DEPENDS', users: 'DENIED' }],
    // A raw payload may be a transaction; typed data is none. Money leaves by both.
    ['eth.outflow.coin < 5', { sign: 'DEPENDS', raw: 'DEPENDS', create: 'DENIED' }],
    ['eth.tx.nonce < 5', { sign: 'DEPENDS', raw: 'DEPENDS', create: 'DENIED' }],
    ["eth.eip_712.primary_type == 'Mail'", { sign: 'DENIED', raw: 'DEPENDS' }],
    ["signing_key.public_key == '02ab'", { sign: 'DEPENDS', raw: 'DEPENDS', create: 'DENIED' }],
    ["activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION'", { sign: 'ALLOWED', raw: 'DENIED' }],
  ])('to allow %s', (condition, expected) => {
    expect(reach([rule('ALLOW', condition)])).toMatchObject(expected);
  });

  test('to deny wins where it is certain, and makes the rest depend', () => {
    const everything = rule('ALLOW', '', '', 'all');
    expect(reach([everything, rule('DENY', "activity.action == 'SIGN'")])).toMatchObject({
      sign: 'DENIED',
      create: 'ALLOWED',
    });
    for (const amount of ['eth.tx.value', 'eth.outflow.coin']) {
      expect(reach([everything, rule('DENY', `${amount} > 5`)])).toMatchObject({
        sign: 'DEPENDS',
        create: 'ALLOWED',
      });
    }
    expect(reach([rule('DENY', "activity.resource == 'CREDENTIAL'")])).toMatchObject({ keys: 'DENIED' });
  });

  test('is not looked at outside its time', () => {
    const late = { ...rule('ALLOW', ''), time: "time.now > Timestamp('2026-01-01T00:00:00Z')" };
    expect(reach([late])).toMatchObject({ sign: 'DENIED' });
    expect(reach([late], ann, { now: Date.parse('2026-06-01T00:00:00Z') })).toMatchObject({
      sign: 'ALLOWED',
    });
  });
});

describe('a consensus', () => {
  test.each([
    ["approvers.any(u, u.id == 'ann')", 'ALLOWED', 'DENIED'],
    ['approvers.count() >= 2', 'CONSENSUS', 'CONSENSUS'],
    ["approvers.any(u, u.id == 'ann') && approvers.any(u, u.id == 'bob')", 'CONSENSUS', 'CONSENSUS'],
    ["approvers.any(u, u.tags.contains('ops'))", 'ALLOWED', 'DENIED'],
  ])('%s', (consensus, forAnn, forBob) => {
    const policies = [rule('ALLOW', "activity.action == 'SIGN'", consensus)];
    expect(reach(policies, ann).sign).toBe(forAnn);
    expect(reach(policies, bob).sign).toBe(forBob);
  });
});

// The class: what is asked of one vote's credential, of a user who has several.
describe('a consensus about credentials', () => {
  const owns = (...types: readonly string[]): Voter => ({
    ...ann,
    credentials: types.map((type) => ({ id: type, user_id: 'ann', type })),
  });
  test.each([
    ["credentials.any(c, c.type == 'KEY')", 'ALLOWED', 'DENIED', 'DEPENDS'],
    ['credentials.count() == 1', 'ALLOWED', 'DENIED', 'DENIED'],
    ["credentials.any(c, c.type == 'OTHER')", 'DENIED', 'ALLOWED', 'ALLOWED'],
    // A user may vote again with another credential.
    ['credentials.count() >= 2', 'ALLOWED', 'ALLOWED', 'DEPENDS'],
    ['credentials.count() >= 3', 'DENIED', 'ALLOWED', 'ALLOWED'],
  ])('%s', (consensus, allows, denies, deniesSome) => {
    const allow = [rule('ALLOW', '', consensus)];
    const deny = [rule('ALLOW', '', '', 'all'), rule('DENY', '', consensus)];
    expect(reach(allow, owns('KEY', 'PASSKEY')).sign).toBe(allows);
    expect(reach(deny, owns('KEY')).sign).toBe(denies);
    expect(reach(deny, owns('KEY', 'PASSKEY')).sign).toBe(deniesSome);
  });
});

// The class: a consensus that goes wrong, or that holds of one credential of several.
test.each([
  ["approvers.count() >= 2 && credentials.all(c, c.type == 'KEY')", 'CONSENSUS', 'ALLOWED'],
  // A request does not wait where the consensus has a fault, and a denial with a fault denies.
  ["approvers[1].id == 'bob'", 'DENIED', 'DEPENDS'],
])('a consensus of %s', (consensus, allows, denies) => {
  const credentials = ['KEY', 'PASSKEY'].map((type) => ({ id: type, user_id: 'ann', type }));
  const user = { ...ann, credentials };
  expect(reach([rule('ALLOW', '', consensus)], user).sign).toBe(allows);
  expect(reach([rule('ALLOW', '', '', 'all'), rule('DENY', '', consensus)], user).sign).toBe(denies);
});

/** A part of a condition that may lack its fact or not know it, and parts that the user or the kind settles. */
const part = fc.constantFrom(
  "submitter.id == 'ann'",
  "submitter.tags.contains('other')",
  "submitter.tags[1] == 'ops'",
  'submitter.tags.any(tag, wallet.id == tag)',
  "activity.action == 'SIGN'",
  'activity.params.user_tags.count() == 0',
  "wallet.id == 'w'",
  "private_key.id == 'k'",
  'eth.tx.value < 5',
  "eth.tx.to == 'x'",
);
const condition = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'medium' },
    part,
    fc.tuple(tie('any'), fc.constantFrom('&&', '||'), tie('any')).map((each) => `(${each.join(' ')})`),
    tie('any').map((each) => `!(${each})`),
  ),
})).any;
const unknown = new Unknown('it cannot be read');
const factsOfKey = fc.record({
  of: fc.constantFrom({ wallet: () => ({ id: 'w' }) }, { private_key: () => ({ id: 'other', tags: [] }) }),
  transaction: fc.option(
    fc.constantFrom<ReturnType<NonNullable<ConditionFacts['eth.tx']>>>(
      { value: 9, to: 'y' },
      { value: 1, to: 'x' },
      unknown,
    ),
    { nil: undefined },
  ),
});

test('no decision differs from what is said to be certain of its kind', () => {
  const said = new Set<string>();
  fc.assert(
    fc.property(
      condition,
      condition,
      fc.array(factsOfKey, { minLength: 6, maxLength: 6 }),
      (allow, deny, all) => {
        const policies = [rule('ALLOW', allow, '', 'a'), rule('DENY', deny, '', 'd')];
        const reached = reach(policies);
        for (const name of ['sign', 'create', 'users'] as const) {
          const { type, kind: kindName, resource, action } = kinds[name];
          const certain = { ALLOWED: 'allow', DENIED: 'deny' }[reached[name]];
          said.add(reached[name]);
          if (certain === undefined) continue;
          for (const { of, transaction } of all) {
            const { outcome } = decide({
              approvers: [ann],
              rootQuorumThreshold: 1,
              policies: policies.map((text) => compilePolicy(text)),
              items: [
                {
                  activity: () => ({ type, kind: kindName, resource, action, params: { user_tags: [] } }),
                  ...(name !== 'users' && of),
                  ...(name === 'sign' && { 'eth.tx': () => transaction }),
                },
              ],
            });
            expect({ allow, deny, name, outcome }).toEqual({ allow, deny, name, outcome: certain });
          }
        }
      },
    ),
    { seed: 22, numRuns: 2_000 },
  );
  expect(said).toEqual(new Set(['ALLOWED', 'DENIED', 'DEPENDS']));
});

test('what is said to be certain is what a decision comes to', () => {
  const policies = [
    rule('ALLOW', "activity.action == 'CREATE' && submitter.tags.contains('ops')", '', 'a'),
    rule('ALLOW', "activity.action == 'SIGN'", 'approvers.count() >= 2', 'b'),
    rule('DENY', "activity.resource == 'USER' || activity.kind == 'CREATE_API_KEYS'", '', 'c'),
  ];
  for (const user of [ann, bob, root]) {
    const said = reach(policies, user, { rootQuorumThreshold: 2 });
    for (const name of Object.keys(kinds) as Kind[]) {
      const { type, kind: kindName, resource, action, rootQuorumOnly } = kinds[name];
      const { outcome } = decide({
        approvers: [user],
        voters: () => [ann, bob, root],
        rootQuorumThreshold: 2,
        rootQuorumOnly,
        policies: policies.map((text) => compilePolicy(text)),
        items: [{ activity: () => ({ type, kind: kindName, resource, action }) }],
      });
      expect({ name, user: user.userId, said: said[name] }).toEqual({
        name,
        user: user.userId,
        said: { allow: 'ALLOWED', consensus: 'CONSENSUS', deny: 'DENIED' }[outcome],
      });
    }
  }
});

import { describe, expect, test } from 'vitest';
import { describeLanguage } from '../../../main/policy/language/language.ts';
import { completions, type CompletionIds, type PolicyField } from './policy-completion.ts';

const language = {
  ...describeLanguage(),
  texts: [{ of: 'activity.kind', values: ['CREATE_WALLET', 'SIGN_RAW_PAYLOAD', 'SIGN_TRANSACTION'] }],
};
const ids: CompletionIds = {
  'User.id': [
    { id: 'user-1', name: 'Ada' },
    { id: 'user-2', name: 'Ben' },
  ],
  'User.tags': [{ id: 'tag-1', name: 'Treasury' }],
  'Wallet.id': [{ id: 'wallet-1', name: 'Savings' }],
};

/** @param source Ends where the cursor is. */
function labels(source: string, field: PolicyField = 'condition'): readonly string[] {
  return completions(source, field, language, ids).items.map(({ label }) => label);
}

describe('a beginning', () => {
  test('is a keyword, a function or a variable of the field', () => {
    expect(labels('', 'consensus')).toEqual(['approvers', 'credentials', 'CaseInsensitiveString']);
    expect(labels('', 'time')).toEqual(['time.now', 'Timestamp', 'CronSpan']);
    expect(labels('true && act')).toEqual(['activity']);
    expect(labels('approvers.any(user, us', 'consensus')).toEqual(['user']);
  });

  test('says what it replaces, and where the cursor goes', () => {
    expect(completions('1 < Roll', 'condition', language)).toEqual({
      from: 4,
      items: [
        expect.objectContaining({ insert: 'RollingSum()', back: 1 }),
        expect.objectContaining({ insert: 'RollingCount()', back: 1 }),
      ],
    });
  });

  test('prefers what begins as written to what has it within', () => {
    expect(labels('wallet')).toEqual(['wallets', 'wallet_account']);
    expect(labels('tx').slice(0, 2)).toEqual(['eth.tx', 'solana.tx']);
  });
});

test.each(['wallet.id == 1', 'true ', 'approvers.count()', "wallet.id == 'x'"])(
  'nothing follows %j',
  (source) => {
    expect(labels(source)).toEqual([]);
  },
);

describe('a member', () => {
  test.each<[string, PolicyField, readonly string[]]>([
    ['activity.', 'condition', ['type', 'kind', 'resource', 'action', 'params', 'signatures']],
    ['eth.', 'condition', ['tx', 'eip_712', 'eip_7702_authorization', 'outflow']],
    ['eth.tx.chain', 'condition', ['chain_id']],
    ["wallet.id == 'x' && wallet.l", 'condition', ['label']],
    ['approvers.an', 'consensus', ['any']],
    ['approvers.any(user, user.', 'consensus', ['id', 'tags', 'email', 'alias']],
    ['approvers.any(user, user.tags.', 'consensus', ['all', 'any', 'contains', 'count', 'filter', 'sum']],
    ["approvers.filter(u, u.tags.contains('(')).co", 'consensus', ['contains', 'count']],
    ['approvers[0].al', 'consensus', ['alias']],
    ['approvers[0..2].an', 'consensus', ['any']],
    [
      'solana.tx.instructions.all(i, i.accounts.any(a, a.',
      'condition',
      ['account_key', 'signer', 'writable'],
    ],
    ['solana.tx.instructions.all(i, i.accounts.any(a, i.prog', 'condition', ['program_key']],
    ['eth.eip_712.domain.', 'condition', ['name', 'version', 'chain_id', 'verifying_contract', 'salt']],
    ['tron.tx.contract[0].own', 'condition', ['owner_address', 'owner']],
    ['nothing.', 'condition', []],
    ['eth.tx.value.', 'condition', []],
  ])('of %s', (source, field, expected) => {
    expect(labels(source, field)).toEqual(expected);
  });
});

describe('a text', () => {
  test.each<[string, PolicyField, readonly string[]]>([
    ["activity.kind == '", 'condition', ['CREATE_WALLET', 'SIGN_RAW_PAYLOAD', 'SIGN_TRANSACTION']],
    ["activity.kind in ['CREATE_WALLET', 'SIGN_T", 'condition', ['SIGN_TRANSACTION']],
    ["activity.kind != 'raw", 'condition', ['SIGN_RAW_PAYLOAD']],
    ["wallet.id == '", 'condition', ['Savings']],
    ["approvers.any(user, user.id == '", 'consensus', ['Ada', 'Ben']],
    ["approvers.any(user, user.id == 'be", 'consensus', ['Ben']],
    ["approvers.any(user, user.tags.contains('", 'consensus', ['Treasury']],
    ["eth.tx.to == '", 'condition', []],
    ["'", 'condition', []],
  ])('after %s', (source, field, expected) => {
    expect(labels(source, field)).toEqual(expected);
  });

  test('puts the id in for the name', () => {
    expect(completions("wallet.id == 'sav", 'condition', language, ids)).toEqual({
      from: 14,
      items: [{ insert: 'wallet-1', back: 0, label: 'Savings', detail: 'wallet-1' }],
    });
  });
});

test('any text may stand before the cursor', () => {
  for (const source of [
    ')',
    ']]',
    '.',
    '..',
    'a.b.c.',
    'x.any(',
    'x.any(y,',
    '((((',
    "'''",
    "approvers.any(user, user.id == 'x').",
    '[',
    'é.',
  ]) {
    expect(completions(source, 'condition', language).items).toBeInstanceOf(Array);
  }
});

import { expect, test } from 'vitest';
import { isForAnyUser } from './for-any-user.ts';

const allow = (condition = '', consensus = '') => ({ effect: 'EFFECT_ALLOW' as const, condition, consensus });

test.each([
  ['nothing restricts it', allow()],
  ['spaces are nothing', allow(' \n', '  ')],
  ['what always holds restricts nothing', allow('1 == 1', 'true')],
  ['only some deeds are', allow("activity.action == 'EXPORT'")],
  ['a deed is left out that nobody does', allow("activity.kind != 'NOTHING'")],
  ['one user is left out', allow("submitter.id != 'anna'", "approvers.any(user, user.id != 'anna')")],
  ['one approval of anybody’s is enough', allow('', 'approvers.count() >= 1')],
  [
    'a passkey is enough',
    allow('', "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')"),
  ],
  ['an alternative names nobody', allow("submitter.id == 'anna' || wallet.id == 'daily'")],
  ['only a transaction to one address is', allow("eth.tx.to == '0xab'")],
  // The class: an expression that every user meets, and that one imagined user does not.
  ['one credential at most is', allow('', 'credentials.count() == 1')],
  ['two credentials are, which one user may have', allow('', 'credentials.count() >= 2')],
  ['a number of credentials is', allow('', 'credentials.count() == 3')],
  ['any credential is', allow('', "credentials.any(c, c.id != '' && c.public_key != '')")],
  ['a key of any kind is', allow('', "credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_ED25519')")],
  [
    'a user is left out that is none',
    allow('', "approvers.any(u, u.id != '00000000-0000-4000-8000-000000000000')"),
  ],
  ['such a requester is', allow("submitter.id != '00000000-0000-4000-8000-000000000000'")],
])('a policy is for any user where %s', (_, policy) => {
  expect(isForAnyUser(policy)).toBe(true);
});

test.each([
  ['it names the requester', allow("submitter.id == 'anna'")],
  ['it names an approver', allow('', "approvers.any(user, user.id == 'anna')")],
  ['it names a credential', allow('', "credentials.any(c, c.public_key == '02ab')")],
  ['it names an alias', allow('', "approvers.any(user, user.alias == 'anna')")],
  ['it asks for a tag', allow("submitter.tags.contains('ops')")],
  ['two must agree', allow('', 'approvers.count() >= 2')],
  ['two must agree with two credentials', allow('', 'approvers.count() >= 2 && credentials.count() >= 2')],
  ['it counts more credentials than one user has', allow('', 'credentials.count() > 30')],
  ['nothing is ever allowed', allow('false')],
  ['it denies', { ...allow(), effect: 'EFFECT_DENY' as const }],
  ['it does not compile', allow('eth.tx.valu < 5')],
])('a policy is not for any user where %s', (_, policy) => {
  expect(isForAnyUser(policy)).toBe(false);
});

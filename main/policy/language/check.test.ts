import { describe, expect, test } from 'vitest';
import { problemsOf, warningsOf, type Known, type PolicyDraft } from './check.ts';
import { maxLength } from './syntax.ts';

const wallet = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70';
const known: Known = {
  texts: new Map([
    ['activity.kind', ['SIGN_TRANSACTION', 'CREATE_WALLET']],
    ['activity.action', ['SIGN', 'CREATE']],
  ]),
  newestType: (type) =>
    type.startsWith('ACTIVITY_TYPE_SIGN_TRANSACTION') ? 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' : undefined,
  hasId: (id) => id === wallet,
  hasAccount: (address) => address === 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH',
};

const warnings = (draft: Partial<PolicyDraft>) =>
  warningsOf({ effect: 'EFFECT_ALLOW', ...draft }, known).map(({ message }) => message);

describe('problems', () => {
  test('are found in every field at once, each with its position', () => {
    expect(
      problemsOf({
        effect: 'EFFECT_ALLOW',
        condition: "activity.acton == 'SIGN'",
        consensus: 'approvers.count() >=',
        time: "CronSpan('0 9 * * 1-5', '8h', 'Mars')",
      }),
    ).toMatchObject([
      {
        field: 'condition',
        from: 9,
        to: 14,
        line: 1,
        column: 10,
        message: expect.stringContaining('action?') as string,
      },
      { field: 'consensus', from: 20, expected: 'a value' },
      { field: 'time', expected: "an IANA time zone, as 'America/New_York'" },
    ]);
  });

  test('are none where an expression is empty or right', () => {
    expect(
      problemsOf({
        effect: 'EFFECT_DENY',
        condition: ' ',
        time: "time.now < Timestamp('2030-01-01T00:00:00Z')",
      }),
    ).toEqual([]);
  });
});

describe('warnings', () => {
  test('say that a rule is about everything', () => {
    expect(warnings({})).toEqual([expect.stringContaining('allows every user everything')]);
    expect(warnings({ effect: 'EFFECT_DENY', condition: '' })).toEqual([
      expect.stringContaining('denies everything'),
    ]);
    expect(warnings({ consensus: 'approvers.count() >= 2' })).toEqual([]);
  });

  test.each([
    [
      "activity.kind == 'SIGN_TRANSACTON'",
      ["activity.kind is never 'SIGN_TRANSACTON' here; did you mean 'SIGN_TRANSACTION'?"],
    ],
    ["'SIGNS' != activity.action", ["activity.action is never 'SIGNS' here; did you mean 'SIGN'?"]],
    ["activity.action in ['SIGN', 'PAINT']", ["activity.action is never 'PAINT' here"]],
    ["['PAINT'].contains(activity.action)", ["activity.action is never 'PAINT' here"]],
    ["activity.action in ['SIGN', 'CREATE']", []],
    ["activity.type == 'ANYTHING'", []],
  ])('find texts that are never there: %s', (condition, expected) => {
    expect(warnings({ condition })).toEqual(expected);
  });

  test.each([
    ["activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION'", true],
    ["['ACTIVITY_TYPE_SIGN_TRANSACTION_V1'].contains(activity.type)", true],
    ["activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'", false],
    ["activity.kind == 'SIGN_TRANSACTION'", false],
  ])('tell that versions of an activity are one: %s', (condition, told) => {
    const found = warnings({ condition }).filter((each) =>
      each.includes("is compared as 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'"),
    );
    expect(found).toHaveLength(told ? 1 : 0);
  });

  test('find ids of nothing', () => {
    const other = wallet.replace('8f', '00');
    expect(warnings({ condition: `wallet.id in ['${wallet}', '${other}']` })).toEqual([
      `Nothing in this organization has the id '${other}'.`,
    ]);
  });

  test.each([
    ["eth.tx.to in ['71c7656ec7ab88b098defb751b7401b5f6d8976f']", 'expected 0x and 40 hex digits'],
    ["['0x71c7'].contains(eth.eip_712.domain.verifying_contract)", 'expected 0x and 40 hex digits'],
    ["bitcoin.tx.outputs.any(o, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq ' == o.address)", 'in Bech32'],
    ["solana.tx.signers.any(s, s == ' 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU')", '32 bytes in Base58'],
    [
      "solana.tx.account_keys.contains('0x71c7656ec7ab88b098defb751b7401b5f6d8976f')",
      "An address is never '0x71c7656ec7ab88b098defb751b7401b5f6d8976f' here",
    ],
    ["tron.tx.contract.any(c, c.to_address == '0x71c7656ec7ab88b098defb751b7401b5f6d8976f')", 'with 41'],
    [
      "tron.tx.contract.any(c, c.fields['to_address'] == '415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb')",
      "is compared letter by letter here. An address is written 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'.",
    ],
    [
      "wallet_account.address == 'X7gJ5YK8abHf2eTPWPFHAAot8Knck11QGqmQ7a6a3Z8PJvk' && eth.tx.nonce < 5",
      "No account of this organization has the address 'X7gJ5YK8abHf2eTPWPFHAAot8Knck11QGqmQ7a6a3Z8PJvk'.",
    ],
  ])('find what no address equals: %s', (condition, message) => {
    expect(warnings({ condition })).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    "eth.tx.to in ['0x71C7656EC7AB88B098DEFB751B7401B5F6D8976F', '']",
    "bitcoin.tx.outputs.any(o, o.address == 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ')",
    "bitcoin.tx.outputs.any(o, o.address in ['1BoatSLRHtKNngkdXEeobR76b53LETtpyT', '2N2PJEucf6QY2kNFuJ4chQEBoyZWszRQE16'])",
    "tron.tx.contract.any(c, c.to_address == '415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb')",
    "wallet_account.address == 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH'",
    "wallet_account.address[0..2] == '0x'",
    "eth.tx.contract_call_args['to'] == '0x71C7656ec7ab88b098defB751B7401B5f6d8976F'",
  ])('say nothing of an address in any of its spellings: %s', (condition) => {
    expect(warnings({ condition })).toEqual([]);
  });

  test.each([
    ["wallet.id == 'a' || private_key.id == 'b'", 1],
    ['eth.tx.nonce < 5 && solana.tx.transfers.count() == 0', 1],
    ["eth.tx.nonce < 5 && wallet.id == 'a'", 0],
    ["wallets.any(wallet, wallet.label == 'a') && private_key.id == 'b'", 0],
    ["ssh.namespace == 'git' && git.kind == 'commit'", 0],
    ["git.kind == 'commit' && eth.tx.nonce < 5", 1],
  ])('find facts that exclude each other: %s', (condition, count) => {
    expect(warnings({ condition })).toHaveLength(count);
  });

  test.each(
    Object.entries({
      texts: "activity.kind == 'A'",
      ids: "wallet.id == '00000000-ceea-467f-9c4b-3d1b2a5e6f70'",
      'older types': "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION'",
      places: "solana.tx.account_keys[0] == ''",
      addresses: "bitcoin.tx.outputs.any(o, o.address == 'a')",
      lists: `activity.action in [${Array(6000).fill("'PAINT'").join(', ')}]`,
    }),
  )('are no more than a person reads, however long a draft is: %s', (_, each) => {
    const times = Math.floor((maxLength + 4) / (each.length + 4));
    const found = warnings({ effect: 'EFFECT_DENY', condition: Array(times).fill(each).join(' || ') });
    // Beside one kind that has as many as there may be, others have a few.
    expect(found.length).toBeGreaterThanOrEqual(20);
    expect(found.length).toBeLessThanOrEqual(25);
  });
});

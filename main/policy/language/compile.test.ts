import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from './compile.ts';
import { Evaluation, maxSteps, type Fault } from './evaluation.ts';
import { allFacts } from '../decide/facts.ts';
import { keywords, type ConditionFacts, type PolicyField } from './schema.ts';
import { ExpressionError, maxInt } from './syntax.ts';
import { Unknown } from './types.ts';

const big = 10n ** 20n;

const activity: ConditionFacts = {
  activity: () => ({
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    kind: 'SIGN_TRANSACTION',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: { type: 'TRANSACTION_TYPE_ETHEREUM' },
  }),
  wallet: () => ({ id: 'w', imported: false, exported: true }),
  wallet_account: () => ({ address: '0xAbC', path_indexes: [44, 60], path_hardened: [true, true] }),
  'eth.tx': () => ({
    from: '0xAbC',
    to: '0xDeF1',
    data: '0xa9059cbb0000',
    value: big,
    chain_id: 1,
    nonce: 3n,
    type: 'TYPE_2',
    contract_call_args: {
      wad: '1000',
      dst: '0xAA',
      calls: [
        ['0xBB', 0],
        ['0xbb', 0n],
      ],
      deep: { inner: [1, 2] },
      flag: true,
      none: null,
    },
  }),
};

interface Outcome {
  readonly value: unknown;
  readonly fault: Fault | undefined;
  readonly steps: number;
}

function evaluate(
  source: string,
  given: ConditionFacts = activity,
  field: PolicyField = 'condition',
): Outcome {
  const approvers = [
    {
      userId: 'ada',
      root: false,
      tags: ['ops', 'dev'],
      credentials: [{ id: 'k', user_id: 'ada', type: 'KEY' }],
    },
    { userId: 'bob', root: false, email: 'bob@example.com' },
  ];
  const now = Date.UTC(2026, 2, 2, 15);
  const evaluation = new Evaluation(allFacts({ approvers, rootQuorumThreshold: 1, now }, given), now);
  const value = evaluation.start(compile(source, field).run);
  return { value, fault: evaluation.fault, steps: evaluation.steps };
}

function refusal(source: string, field: PolicyField = 'condition'): ExpressionError {
  try {
    compile(source, field);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`${source} compiles`);
}

describe('a condition', () => {
  test.each([
    // As the vendor's grammar shows each form.
    ['true && false', false],
    ['true || false', true],
    ['1 < 2', true],
    ["'a' != 'b'", true],
    ['1 in [1, 2, 3]', true],
    ['[1, 2, 3][0] == 1', true],
    ["'abc'[0] == 'a'", true],
    ['[1, 2, 3][0..2].count() == 2', true],
    ["'abc'[0..2] == 'ab'", true],
    ['[1, 1, 1].all(x, x == 1)', true],
    ['[1, 2, 3].any(x, x == 1)', true],
    ['[1, 2, 3].contains(1)', true],
    ['[1, 2, 3].count() == 3', true],
    ['[1, 2, 3].count == 3', true],
    ['[1, 2, 3].filter(x, x == 1).count() == 1', true],
    // Each operator both ways.
    ['2 <= 2 && 2 >= 2 && !(2 < 2) && !(2 > 2)', true],
    ['1 == 2 || 2 != 2', false],
    ['true == true && true != false', true],
    ["4 in [1, 2] || 'x' in ['y']", false],
    ['[1, 2].all(x, x == 1) || [1, 2].any(x, x == 3)', false],
    ['[].count() == 0 && !(1 in [])', true],
    ['[[1], [2, 3]].any(x, x.any(y, y == 3 && x.count() == 2))', true],
    ['[1, 2].any(x, [2, 3].any(x, x == 3)) && [2].all(x, x == 2)', true],
    ["'abc'[1..1] == '' && 'abc'[0..3] == 'abc'", true],
    ['[1, 2, 3].sum(x, x) == 6', true],
    ["'abc'[0..eth.tx.nonce] == 'abc' && [1, 2, 3][eth.tx.nonce..eth.tx.nonce].count() == 0", true],
    // Numbers beyond 2^53 are exact, whatever they come as.
    ['eth.tx.value == 100000000000000000000', true],
    ['eth.tx.value == 100000000000000000001', false],
    ['eth.tx.value < 100000000000000000001 && eth.tx.value > 99999999999999999999', true],
    ['9007199254740993 == 9007199254740992', false],
    ['eth.tx.value in [100000000000000000000]', true],
    ['eth.tx.nonce in [3, 4] && eth.tx.chain_id in [1]', true],
    [`${maxInt} > ${maxInt - 1n}`, true],
    ['-1 < 0 && -170141183460469231731687303715884105728 < -1', true],
    // Hexadecimal of transactions is compared in either case; addresses of accounts are not.
    ["eth.tx.to == '0xdef1' && eth.tx.to == '0xDEF1'", true],
    ["eth.tx.to in ['0xdEf1', '0x2'] && ['0xDEF1'].contains(eth.tx.to)", true],
    ["eth.tx.to in [eth.tx.from, '0xDEF1'] && '0xABC' in [eth.tx.from]", true],
    ["eth.tx.data[0..10] == '0xA9059CBB' && 'A' == eth.tx.data[2]", true],
    ["wallet_account.address == '0xabc'", false],
    ["CaseInsensitiveString(wallet_account.address) == '0xaBC'", true],
    ["'0xaBC' in [CaseInsensitiveString(wallet_account.address)]", true],
    ['wallet_account.address == eth.tx.from', true],
    ["wallet_account.address in ['0xabc']", false],
    // Values of the request show their types when they are used.
    ["eth.tx.contract_call_args['wad'] == 1000 && eth.tx.contract_call_args['wad'] < 1001", true],
    ["eth.tx.contract_call_args['wad'] == '1000' && eth.tx.contract_call_args['wad'] in [1, 1000]", true],
    ["eth.tx.contract_call_args['dst'] == '0xaa' && eth.tx.contract_call_args['dst'] in ['0xaA']", true],
    ["eth.tx.contract_call_args['calls'].all(c, c[0] == '0xBB' && c[1] == 0)", true],
    [
      "eth.tx.contract_call_args['calls'].count() == 2 && eth.tx.contract_call_args['calls'].count == 2",
      true,
    ],
    ["eth.tx.contract_call_args['deep']['inner'][1] == 2", true],
    ["eth.tx.contract_call_args['deep']['inner'][0..1].contains(1)", true],
    ["eth.tx.contract_call_args['deep']['inner'].sum(x, x) == 3", true],
    ["eth.tx.contract_call_args['flag'] && !eth.tx.contract_call_args['flag'] == false", true],
    // Facts that are empty if they are absent.
    ["wallet.label == '' && submitter.email == ''", true],
    ["submitter.id == 'ada' && submitter.tags.contains('ops')", true],
    ['wallet_account.path_indexes[1] == 60 && wallet_account.path_hardened.all(h, h)', true],
    // A variable wins over a keyword.
    ["['w', 'w'].all(wallet, wallet == 'w') && ['a'].any(eth, eth == 'a')", true],
  ])('%s is %j', (source, value) => {
    expect(evaluate(source)).toEqual({ value, fault: undefined, steps: expect.any(Number) as number });
  });

  test.each([
    ['approvers.count() == 2', true],
    ['approvers.count == 2', true],
    ["approvers.any(user, user.id == 'bob')", true],
    ["approvers.all(user, user.tags.contains('ops'))", false],
    ["approvers.filter(user, user.tags.contains('ops')).count() >= 2", false],
    ["approvers.any(user, user.email == 'bob@example.com' && user.alias == '')", true],
    ["credentials.any(c, c.type == 'KEY' && c.user_id == 'ada' && c.public_key == '')", true],
    ["'ops' in approvers[0].tags && approvers[1].tags.count() == 0", true],
  ])('a consensus: %s is %j', (source, value) => {
    expect(evaluate(source, activity, 'consensus').value).toBe(value);
  });

  test.each([
    ["time.now >= Timestamp('2026-03-02T15:00:00Z')", true],
    ["time.now < Timestamp('2026-03-02T15:00:00Z')", false],
    ["time.now == Timestamp('2026-03-02T15:00:00.000Z')", true],
    ["CronSpan('0 9 * * 1-5', '8h', 'America/New_York') && !CronSpan('0 9 * * 6', '8h', 'UTC')", true],
  ])('a time: %s is %j', (source, value) => {
    expect(evaluate(source, activity, 'time').value).toBe(value);
  });

  test.each([
    // The documented example: an activity has a wallet or a private key, and nothing is cut short.
    [
      "wallet.id == 'w' || private_key.id == 'k'",
      'missing',
      'this activity has no private_key',
      'private_key',
    ],
    ['false && solana.tx.transfers.count() == 0', 'missing', 'this activity has no solana.tx', 'solana.tx'],
    ["activity.params.user_id == 'u'", 'missing', 'MissingField: user_id', 'activity.params.user_id'],
    ["eth.tx.function_name == 'f'", 'missing', 'MissingField: function_name', 'eth.tx.function_name'],
    ["eth.tx.contract_call_args['x'] == 1", 'missing', 'MissingField: x', "eth.tx.contract_call_args['x']"],
    [
      "eth.tx.contract_call_args['none'] == 1",
      'missing',
      'MissingField: none',
      "eth.tx.contract_call_args['none']",
    ],
    [
      "eth.tx.contract_call_args['toString'] == 1",
      'missing',
      'MissingField: toString',
      "eth.tx.contract_call_args['toString']",
    ],
    ["eth.tx.data[0..99] == 'x'", 'invalid', 'there is no 0..99 within 14', 'eth.tx.data[0..99]'],
    ['[1, 2][eth.tx.nonce] == 1', 'invalid', 'there is no element 3 among 2', '[1, 2][eth.tx.nonce]'],
    ["'ab'[0..eth.tx.nonce] == 'ab'", 'invalid', 'there is no 0..3 within 2', "'ab'[0..eth.tx.nonce]"],
    ['[1, 2, 3][eth.tx.nonce] == 1', 'invalid', 'there is no element 3 among 3', '[1, 2, 3][eth.tx.nonce]'],
    [
      "[1, 2][eth.tx.contract_call_args['flag']] == 1",
      'invalid',
      'not a position',
      "[1, 2][eth.tx.contract_call_args['flag']]",
    ],
    ["'ab'[eth.tx.nonce..4] == 'x'", 'invalid', 'there is no 3..4 within 2', "'ab'[eth.tx.nonce..4]"],
    [
      "eth.tx.contract_call_args['dst'] == 1",
      'invalid',
      'values of two types',
      "eth.tx.contract_call_args['dst'] == 1",
    ],
    [
      "eth.tx.contract_call_args['flag'] < 1",
      'invalid',
      'what is compared by size is not a number',
      "eth.tx.contract_call_args['flag'] < 1",
    ],
    [
      "eth.tx.contract_call_args['dst'].any(x, x == 1)",
      'invalid',
      'not a list',
      "eth.tx.contract_call_args['dst'].any(x, x == 1)",
    ],
    ["eth.tx.contract_call_args['wad']", 'invalid', 'not a bool', "eth.tx.contract_call_args['wad']"],
    [
      "eth.tx.contract_call_args['calls'].any(c, c['target'] == '0xbb')",
      'invalid',
      'not a position',
      "c['target']",
    ],
    ["RollingCount('1h') < 5", 'invalid', 'nothing is counted here', "RollingCount('1h')"],
  ])('%s has a fault: %s, %s', (source, kind, message, text) => {
    const { value, fault } = evaluate(source);
    expect(value).toBeUndefined();
    expect(fault && { ...fault, at: source.slice(fault.at.from, fault.at.to) }).toEqual({
      kind,
      message,
      at: text,
    });
  });

  test.each([
    "bitcoin.tx.outputs.any(o, o.address == 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ')",
    "bitcoin.tx.outputs.any(o, o.address in ['', 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ'])",
    "['BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ'].any(a, bitcoin.tx.outputs.any(o, a == o.address))",
    "!bitcoin.tx.outputs.all(o, o.address != 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ')",
    "bitcoin.tx.outputs[0].address == CaseInsensitiveString('Bc1qAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ')",
    "CaseInsensitiveString(bitcoin.tx.outputs[0].address) == 'BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ'",
    "tron.tx.contract[0].to_address == '415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb'",
    "'0x415CBDD86A2FA8DC4BDDD8A8F69DBA48572EEC07FB' == tron.tx.contract[0].to_address",
    "tron.tx.contract[0].to_address == CaseInsensitiveString('415CBDD86A2FA8DC4BDDD8A8F69DBA48572EEC07FB')",
    "CaseInsensitiveString(tron.tx.contract[0].to_address) == '415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb'",
    "wallet_account.address == '0x71c7656ec7ab88b098defb751b7401b5f6d8976f'",
    "wallet_account.address == '0X71C7656EC7AB88B098DEFB751B7401B5F6D8976F'",
    "eth.tx.to == wallet_account.address && eth.tx.to == '0X71C7656EC7AB88B098DEFB751B7401B5F6D8976F'",
    "solana.tx.signers.contains('7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU')",
    // Case carries meaning in Base58, and neither blanks nor parts make an address.
    "!solana.tx.signers.contains('7XKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU')",
    "!(tron.tx.contract[0].to_address in ['tJRabPrwbZy45sbavfcjinPJC18kjpRTv8', ' TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'])",
    "bitcoin.tx.outputs[0].address[0..3] == 'bc1' && bitcoin.tx.outputs[0].address[0..3] != 'BC1'",
  ])('means an address, however it is spelled: %s', (source) => {
    const account = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';
    const given: ConditionFacts = {
      'bitcoin.tx': () => ({ outputs: [{ address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }] }),
      'tron.tx': () => ({ contract: [{ to_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' }] }),
      'solana.tx': () => ({ signers: ['7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'] }),
      'eth.tx': () => ({ to: account }),
      wallet_account: () => ({ address: account }),
    };
    expect(evaluate(source, given)).toMatchObject({ value: true, fault: undefined });
  });

  test('facts that are not of their types are a fault, and nothing worse', () => {
    const wrong = {
      wallet: () => ({ id: 7 }),
      wallets: () => 'x',
      'eth.tx': () => ({ value: 1.5 }),
      activity: () => 3,
    };
    const given = wrong as unknown as ConditionFacts;
    for (const source of [
      "wallet.id == 'w'",
      'wallets.count() == 0',
      'eth.tx.value < 2',
      "activity.type == ''",
    ]) {
      expect(evaluate(source, given).fault?.kind).toBe('invalid');
    }
  });

  test('takes a bounded number of steps', () => {
    const keys = Array.from({ length: 400 }, (_, index) => `k${index}`);
    const solana = (): ConditionFacts => ({ 'solana.tx': () => ({ account_keys: keys }) });
    const once = 'solana.tx.account_keys.all(a, a in solana.tx.account_keys)';
    const squared = `solana.tx.account_keys.all(b, ${once})`;
    expect(
      evaluate('solana.tx.account_keys.all(a, a != solana.tx.recent_blockhash)', solana()).fault?.kind,
    ).toBe('missing');
    expect(evaluate(once, solana())).toMatchObject({ fault: { kind: 'limit' } });
    const small = { 'solana.tx': () => ({ account_keys: keys.slice(0, 100) }) };
    expect(evaluate(once, small).value).toBe(true);
    const { value, fault, steps } = evaluate(squared, solana());
    expect([value, fault?.kind]).toEqual([undefined, 'limit']);
    expect(steps).toBeLessThan(maxSteps + 1000);
  });

  test('loads each fact once, and none that it does not ask for', () => {
    const asked: string[] = [];
    const given: ConditionFacts = {
      'eth.tx': () => {
        asked.push('eth.tx');
        return { to: '0x1', value: 1 };
      },
      'solana.tx': () => {
        asked.push('solana.tx');
        return undefined;
      },
    };
    expect(evaluate("eth.tx.to == '0x1' && eth.tx.value == 1", given).value).toBe(true);
    expect(asked).toEqual(['eth.tx']);
    asked.length = 0;
    expect(
      evaluate('solana.tx.transfers.count() == 1 || solana.tx.instructions.count() == 1', given).value,
    ).toBe(undefined);
    expect(asked).toEqual(['solana.tx']);
  });
});

describe('what does not type-check', () => {
  test.each([
    ['1', 'condition', '1', 'a bool', 'it is an int'],
    ["'true'", 'condition', "'true'", 'a bool', 'it is a string'],
    ['wallet', 'condition', 'wallet', 'a bool', 'it is a Wallet'],
    ['approvers', 'consensus', 'approvers', 'a bool', 'it is a list<User>'],
    ['!1', 'condition', '1', 'a bool', 'it is an int'],
    ['true && 1', 'condition', '1', 'a bool', 'it is an int'],
    ["1 == 'a'", 'condition', "'a'", 'an int to compare with', 'it is a string'],
    ["eth.tx.chain_id == '1'", 'condition', "'1'", 'an int to compare with', 'it is a string'],
    [
      'wallet == private_key',
      'condition',
      'wallet',
      'a bool, an int, a string or a timestamp',
      'it is a Wallet',
    ],
    ['[1] == [1]', 'condition', '[1]', 'a bool, an int, a string or a timestamp', 'it is a list<int>'],
    ["'a' < 'b'", 'condition', "'a'", 'an int before "<"', 'it is a string'],
    ["1 < 'b'", 'condition', "'b'", 'an int after "<"', 'it is a string'],
    ["1 in ['a']", 'condition', "['a']", 'an int to compare with', 'it is a string'],
    ["1 in 'a'", 'condition', "'a'", 'a list', 'it is a string'],
    ["[1, 'a'].count() == 2", 'condition', "'a'", 'an int like the elements before it', 'it is a string'],
    ['[1][true] == 1', 'condition', 'true', 'an int', 'it is a bool'],
    ['[1][-1] == 1', 'condition', '-1', 'a position from 0', undefined],
    ["'abc'[2..1] == ''", 'condition', '1', 'an end of at least 2', undefined],
    ['wallet[0] == 1', 'condition', 'wallet', 'a list, a string or a map', 'it is a Wallet'],
    ['1[0] == 1', 'condition', '1', 'a list, a string or a map', 'it is an int'],
    ['wallet[0..1] == 1', 'condition', 'wallet', 'a list or a string', 'it is a Wallet'],
    ['eth.tx.contract_call_args[0] == 1', 'condition', '0', "a string, as in ['name']", 'it is an int'],
    ["'a'.count() == 1", 'condition', "'a'", 'a list before .count(…)', 'it is a string'],
    ['wallet.any(w, true)', 'condition', 'wallet', 'a list before .any(…)', 'it is a Wallet'],
    ['[1].any(x, x)', 'condition', 'x', 'a bool', 'it is an int'],
    ['[true].sum(x, x) == 1', 'condition', 'x', 'an int', 'it is a bool'],
    ['[1].count(2) == 1', 'condition', 'count', '.count()', 'it takes no arguments'],
    ['[1].contains()', 'condition', 'contains', '.contains(value)', 'it takes one argument'],
    ['[1].size() == 1', 'condition', 'size', 'a method: all, any, filter, sum, contains, count', undefined],
    ['[1].length == 1', 'condition', 'length', 'a method: all, any, filter, sum, contains, count', undefined],
    [
      '[1].contain(1)',
      'condition',
      'contain',
      'a method: all, any, filter, sum, contains, count',
      'did you mean contains?',
    ],
    ['eth.tx.contract_call_args.wad == 1', 'condition', 'wad', 'an index', "write ['wad']"],
    ["eth.tx.contract_call_args['a'].b == 1", 'condition', 'b', 'an index', "write ['b']"],
    ["'a'.b == 1", 'condition', "'a'", 'something with fields', 'it is a string'],
    [
      'any([1], true)',
      'condition',
      'any',
      'a function: CaseInsensitiveString, RollingSum, RollingCount',
      'write list.any(x, …)',
    ],
    [
      "Timestamp('2026-01-01T00:00:00Z') == 1",
      'condition',
      'Timestamp',
      'a function of condition: CaseInsensitiveString, RollingSum, RollingCount',
      'Timestamp is known in time',
    ],
    ["timestamp('x')", 'time', 'timestamp', 'a function: Timestamp, CronSpan', 'did you mean Timestamp?'],
    [
      "time.now > Timestamp('2026-01-01T00:00:00+02:00')",
      'time',
      "'2026-01-01T00:00:00+02:00'",
      "an RFC 3339 time at offset zero, as '2026-03-01T00:00:00Z'",
      undefined,
    ],
    ['time.now > 5', 'time', '5', 'a timestamp after ">"', 'it is an int'],
    ['time.now > Timestamp(time.now)', 'time', 'time.now', "a string written out in '…'", undefined],
    [
      "CronSpan('0 9 * * 1-5', '8h')",
      'time',
      'CronSpan',
      "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')",
      'it takes 3 arguments',
    ],
    [
      "CronSpan('0 9 * * 1-5', '8d', 'UTC')",
      'time',
      "'8d'",
      "a duration of at most 7 days in whole d, h and m, as '1d12h'",
      undefined,
    ],
    [
      "CronSpan('0 25 * * *', '8h', 'UTC')",
      'time',
      "'0 25 * * *'",
      'for hour "*", or numbers from 0 to 23 such as 1, 1-5 or 1,3,5',
      undefined,
    ],
    [
      "CronSpan('0 9 * * *', '8h', 'Nowhere/Land')",
      'time',
      "'Nowhere/Land'",
      "an IANA time zone, as 'America/New_York'",
      undefined,
    ],
    ["CaseInsensitiveString(1) == 'a'", 'condition', '1', 'a string', 'it is an int'],
    [
      "RollingSum(eth.tx.value, 'day') < 5",
      'condition',
      "'day'",
      "a duration of at most 366 days in whole d, h and m, as '24h'",
      "write RollingSum(eth.tx.outflow, '24h', signing_key.public_key)",
    ],
    ["RollingSum(eth.tx.to, '1d') < 5", 'condition', 'eth.tx.to', 'an int', 'it is a string'],
    ["RollingCount('1d', eth.tx.value) < 5", 'condition', 'eth.tx.value', 'a string', 'it is an int'],
    [
      "[1].any(x, RollingSum(x, '1d') < 5)",
      'condition',
      "RollingSum(x, '1d')",
      'RollingCount or so',
      undefined,
    ],
    [
      'RollingCount() < 5',
      'condition',
      'RollingCount',
      "a duration of at most 366 days in whole d, h and m, as '24h'",
      "write RollingCount('1h', submitter.id)",
    ],
    ['constructor', 'condition', 'constructor', 'a keyword of condition', undefined],
    [
      'wallet.constructor',
      'condition',
      'constructor',
      'a field of Wallet: id, imported, exported, label',
      undefined,
    ],
    [
      'toString()',
      'condition',
      'toString',
      'a function: CaseInsensitiveString, RollingSum, RollingCount',
      undefined,
    ],
  ] as const)('%s', (source, field, found, expected, hint) => {
    const error = refusal(source, field);
    expect(error.found).toBe(found);
    if (expected === 'RollingCount or so')
      expect(error.expected).toContain('outside of .all, .any, .filter and .sum');
    else if (expected === 'a keyword of condition')
      expect(error.expected).toMatch(/^a keyword of condition: /);
    else expect(error.expected).toBe(expected);
    if (hint !== undefined) expect(error.message).toContain(`(${hint})`);
  });

  test.each([
    ["approvers.any(u, u.id == 'x')", 'condition', 'approvers is known in consensus'],
    ["activity.type == 'x'", 'consensus', 'activity is known in condition'],
    ["eth.tx.to == 'x'", 'consensus', 'eth is known in condition'],
    ['time.now == time.now', 'condition', 'time is known in time'],
    ["wallet.id == 'x'", 'time', 'wallet is known in condition'],
    ["eth == 'x'", 'condition', 'write eth.tx or eth.eip_712 or eth.eip_7702_authorization or eth.outflow'],
    ["eth.txn.to == 'x'", 'condition', 'did you mean eth.tx?'],
    ["wallt.id == 'x'", 'condition', 'did you mean wallet?'],
    ["privateKey.id == 'x'", 'condition', 'did you mean private_key?'],
    ["activity.params.hashFunction == 'x'", 'condition', 'did you mean hash_function?'],
    ['eth.tx.chainId == 1', 'condition', 'did you mean chain_id?'],
    ["approvers.any(user, usr.id == 'x')", 'consensus', 'did you mean user?'],
    ["approvers.any(user, user.tag == 'x')", 'consensus', 'did you mean tags?'],
  ] as const)('%s in a %s: %s', (source, field, hint) => {
    expect(refusal(source, field).message).toContain(`(${hint})`);
  });

  test('the message names the position, what is there and what is allowed', () => {
    expect(refusal("activity.type == 'x' &&\n  walet.id == 'y'").message).toMatch(
      /^line 2, column 3: expected a keyword of condition: activity, wallet, .*, found "walet" \(did you mean wallet\?\)$/,
    );
  });
});

describe('for any program', () => {
  /** Programs that mostly have types that fit: what does not compile is refused as such. */
  const programs = fc.letrec<{ bool: string; int: string; text: string; list: string }>((tie) => {
    const [bool, int, text, list] = [tie('bool'), tie('int'), tie('text'), tie('list')];
    const form = (template: string, ...parts: fc.Arbitrary<string>[]) =>
      fc
        .tuple(...parts)
        .map((values) => values.reduce((made, value) => made.replace('_', () => value), template));
    const leaf = { depthSize: 'small' as const, maxDepth: 6 };
    return {
      bool: fc.oneof(
        leaf,
        fc.constantFrom('true', 'false', 'wallet.exported', 'x == y'),
        form('(_ && _ || _)', bool, bool, bool),
        form('!_', bool),
        form('_ < _', int, int),
        form('_ == _', text, text),
        form('_ in _', int, list),
        form('_.all(x, _)', list, bool),
        form('_.any(y, _)', list, bool),
        form('_.contains(_)', list, int),
        form("eth.tx.contract_call_args['calls'].any(x, x[_] == _)", int, text),
      ),
      int: fc.oneof(
        leaf,
        fc.nat().map(String),
        fc.bigInt(-(2n ** 127n), maxInt).map(String),
        fc.constantFrom('eth.tx.value', 'eth.tx.nonce', 'x', 'y', 'eth.tx.gas'),
        form('_.count()', list),
        form('_[_]', list, int),
        form('_.sum(x, _)', list, int),
      ),
      text: fc.oneof(
        leaf,
        fc.constantFrom("'a'", "''", 'eth.tx.to', 'wallet.id', 'private_key.id', 'eth.tx.data'),
        form('_[_.._]', text, int, int),
        form('_[_]', text, int),
      ),
      list: fc.oneof(
        leaf,
        form('[_, _]', int, int),
        fc.constantFrom('[]', 'wallet_account.path_indexes', 'activity.params.user_ids'),
        form('_[_.._]', list, int, int),
        form('_.filter(x, _)', list, bool),
      ),
    };
  });

  test('evaluation ends within its bound with a boolean or a fault, the same each time', () => {
    let compiled = 0;
    fc.assert(
      fc.property(programs.bool, (source) => {
        let program;
        try {
          program = compile(source, 'condition');
        } catch (error) {
          if (error instanceof ExpressionError) return;
          throw error;
        }
        compiled += 1;
        const evaluation = new Evaluation(allFacts({ approvers: [], rootQuorumThreshold: 1 }, activity), 0);
        const value = evaluation.start(program.run);
        const { fault } = evaluation;
        expect(typeof value === 'boolean').toBe(fault === undefined);
        expect(value === undefined || typeof value === 'boolean').toBe(true);
        expect(evaluation.steps).toBeLessThan(maxSteps + source.length);
        expect(evaluation.start(program.run)).toBe(value);
        expect(evaluation.fault).toEqual(fault);
        const certain = evaluation.start(program.run, true);
        if (value !== undefined) expect(certain).toBe(value);
      }),
      { numRuns: 2_000 },
    );
    expect(compiled).toBeGreaterThan(200);
  });

  test('whatever its facts are', () => {
    const names = Object.keys(keywords.condition);
    const sources = [
      "eth.tx.to == '0x1' || eth.tx.value > 5",
      "eth.tx.contract_call_args['a']['b'].any(x, x[0] == 1)",
      'solana.tx.transfers.all(t, t.amount < 5 && t.signers == 1)',
      "solana.tx.transfers.all(t, t.amount < 5 && t.to in ['a'])",
      "wallets.any(w, w.label[0..1] == 'a') && activity.params.user_ids.contains('b')",
      "eth.eip_712.message['x'][0..1].count() == 1 && secret.static_properties['a'] == 'b'",
      'bitcoin.tx.outputs.filter(o, o.value > 1).sum(o, o.value) < 10',
    ].flatMap((source) => {
      try {
        return [compile(source, 'condition')];
      } catch {
        return [];
      }
    });
    expect(sources.length).toBe(6);
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withNullPrototype: true,
          values: [fc.string(), fc.integer(), fc.constant(new Unknown('it cannot be read'))],
        }),
        fc.constantFrom(...sources),
        (fact, { run }) => {
          const given = Object.fromEntries(names.map((name) => [name, () => fact]));
          const evaluation = new Evaluation(allFacts({ approvers: [], rootQuorumThreshold: 1 }, given), 0);
          const value = evaluation.start(run);
          expect(typeof value === 'boolean').toBe(evaluation.fault === undefined);
          const certain = evaluation.start(run, true);
          if (value !== undefined) expect(certain).toBe(value);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

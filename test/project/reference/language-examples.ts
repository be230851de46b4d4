/** An example of everything in the policy language. Each is true of the facts below, and the tests evaluate it. */
import type { ConditionFacts, PolicyField } from '../../../main/policy/language/schema.ts';
import type { Voter } from '../../../main/policy/decide/facts.ts';

const receiver = '0x71c7656ec7ab88b098defb751b7401b5f6d8976f';
const program = '11111111111111111111111111111111';
const tronAddress = 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC';
const bitcoinAddress = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

/** The time of the activity: a Monday, 15:00 UTC. */
export const exampleTime = Date.UTC(2026, 2, 2, 15);

export const exampleApprovers: readonly Voter[] = [
  {
    userId: 'ann',
    root: false,
    tags: ['treasury'],
    email: 'ann@example.com',
    credentials: [{ id: 'k', user_id: 'ann', type: 'CREDENTIAL_TYPE_API_KEY_P256' }],
  },
  { userId: 'ben', root: false, tags: [] },
];

export const exampleFacts: ConditionFacts = {
  activity: () => ({
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    kind: 'SIGN_TRANSACTION',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: { type: 'TRANSACTION_TYPE_ETHEREUM' },
    signatures: 1,
  }),
  wallet: () => ({ id: 'daily', imported: false, exported: false, label: 'Daily' }),
  wallets: () => [{ id: 'daily', imported: false, exported: true }],
  private_key: () => ({ id: 'validator', tags: ['staking'], imported: true, exported: false }),
  wallet_account: () => ({
    address: '0xAb',
    path_indexes: [44, 60, 0, 0, 0],
    path_hardened: [true, true, true, false, false],
  }),
  signing_key: () => ({ public_key: '02ab', curve: 'CURVE_SECP256K1' }),
  'eth.tx': () => ({
    chain_id: 1,
    to: receiver,
    data: '0xa9059cbb',
    value: 5n,
    outflow: 100n,
    type: 'TYPE_2',
    function_name: 'transfer',
    contract_call_args: { amount: '1000' },
  }),
  'eth.eip_712': () => ({ primary_type: 'Order', domain: { name: 'Shop' }, message: { amount: '3' } }),
  'eth.eip_7702_authorization': () => ({ address: receiver, chain_id: 1, nonce: 0 }),
  'eth.outflow': () => ({
    chain_id: 1,
    coin: 100n,
    tokens: [{ token: receiver, amount: 1000n, receiver }],
    receivers: [receiver],
  }),
  'solana.tx': () => ({
    program_keys: [program],
    transfers: [
      { from: 'a', to: 'b', amount: 40n },
      { from: 'a', to: 'c', amount: 2n },
    ],
  }),
  'tron.tx': () => ({ contract: [{ type: 'TransferContract', to_address: tronAddress }] }),
  'bitcoin.tx': () => ({ outputs: [{ address: bitcoinAddress, value: 1000n, ours: false }], fee: 200n }),
  'tempo.tx': () => ({ chain_id: 4217 }),
  ssh: () => ({ purpose: 'SIGNATURE', namespace: 'git', forwarded: false }),
  git: () => ({ kind: 'commit', subject: 'Fix the pump', repository: 'pump' }),
  'secret.id': () => 'database',
  'secret.name': () => 'database password',
  'secret.static_properties': () => ({ team: 'payments' }),
};

export interface Example {
  readonly field: PolicyField;
  /** The keyword, function, method or operator that the example shows. */
  readonly of: string;
  readonly source: string;
  /** Of what is true, in a word or two. */
  readonly text: string;
}

const condition = (of: string, source: string, text: string): Example => ({
  field: 'condition',
  of,
  source,
  text,
});
const consensus = (of: string, source: string, text: string): Example => ({
  field: 'consensus',
  of,
  source,
  text,
});
const time = (of: string, source: string, text: string): Example => ({ field: 'time', of, source, text });

export const examples: readonly Example[] = [
  condition('activity', "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION'", 'any version of the type'),
  condition('wallet', "wallet.id == 'daily'", 'a wallet, by its ID'),
  condition('wallets', 'wallets.all(wallet, wallet.exported)', 'every wallet of a deletion was exported'),
  condition('private_key', "private_key.tags.contains('staking')", 'a private key, by a tag ID'),
  condition('wallet_account', 'wallet_account.path_indexes[1] == 60', 'an account on an Ethereum path'),
  condition(
    'signing_key',
    "signing_key.curve == 'CURVE_SECP256K1'",
    'the key that signs, whichever of its names is used',
  ),
  condition('submitter', "submitter.id == 'ann'", 'the user who asks'),
  condition('eth.tx', `eth.tx.chain_id == 1 && eth.tx.to == '${receiver}'`, 'one receiver on one chain'),
  condition('eth.eip_712', "eth.eip_712.domain.name == 'Shop'", 'typed data, by its domain'),
  condition(
    'eth.eip_7702_authorization',
    `eth.eip_7702_authorization.address == '${receiver}'`,
    'code for an account',
  ),
  condition(
    'eth.outflow',
    `eth.outflow.tokens.all(each, each.token == '${receiver}' && each.amount <= 1000)`,
    'one token, by transactions and permits',
  ),
  condition('solana.tx', `solana.tx.program_keys.all(key, key == '${program}')`, 'only the system program'),
  condition('tron.tx', "tron.tx.contract[0].type == 'TransferContract'", 'a payment in TRX'),
  condition('bitcoin.tx', 'bitcoin.tx.fee <= 1000', 'a bound on the fee'),
  condition('tempo.tx', 'tempo.tx.chain_id == 4217', 'a chain of Tempo'),
  condition(
    'ssh',
    "ssh.namespace == 'git' && ssh.forwarded == false",
    'an SSH signature for git, made on this machine',
  ),
  condition(
    'git',
    "git.kind == 'commit' && git.repository == 'pump'",
    'a commit, in the repository that the door names',
  ),
  condition('secret.id', "secret.id == 'database'", 'a secret, by its ID'),
  condition('secret.name', "secret.name == 'database password'", 'a secret, by its name'),
  condition(
    'secret.static_properties',
    "secret.static_properties['team'] == 'payments'",
    'a property of a secret',
  ),
  consensus('approvers', 'approvers.count() >= 2', 'two people'),
  consensus(
    'credentials',
    "credentials.any(credential, credential.user_id == 'ann')",
    'by what a vote was stamped with',
  ),
  time('time.now', "time.now < Timestamp('2027-01-01T00:00:00Z')", 'until the end of 2026'),
  time('Timestamp', "time.now >= Timestamp('2026-03-01T00:00:00Z')", 'from a date on'),
  time('CronSpan', "CronSpan('0 9 * * 1-5', '8h', 'UTC')", 'weekdays from 9:00 to 17:00'),
  condition(
    'CaseInsensitiveString',
    "CaseInsensitiveString(wallet_account.address) == '0xab'",
    'compares without regard to case',
  ),
  condition(
    'RollingSum',
    "RollingSum(eth.tx.outflow, '24h', signing_key.public_key) <= 1000",
    'a daily budget of each key',
  ),
  condition('RollingCount', "RollingCount('1h', submitter.id) <= 100", 'an hourly limit of each user'),
  condition('.all', 'bitcoin.tx.outputs.all(output, output.value <= 1000)', 'every item'),
  consensus('.any', "approvers.any(user, user.tags.contains('treasury'))", 'one item at least'),
  condition('.contains', `solana.tx.program_keys.contains('${program}')`, 'one of the items'),
  condition('.count', 'solana.tx.transfers.count() == 2', 'the number of items'),
  consensus(
    '.filter',
    "approvers.filter(user, user.tags.contains('treasury')).count() >= 1",
    'the items for which it holds',
  ),
  condition('.sum', 'solana.tx.transfers.sum(transfer, transfer.amount) <= 50', 'the sum over the items'),
  condition('&&', "activity.action == 'SIGN' && wallet.imported == false", 'both'),
  condition('||', 'eth.tx.chain_id == 1 || eth.tx.chain_id == 10', 'one of the two'),
  condition('!', '!wallet.exported', 'not'),
  condition('in', "eth.tx.type in ['LEGACY', 'TYPE_2']", 'one of a list'),
  condition('==, !=', "eth.tx.function_name == 'transfer' && eth.tx.value != 0", 'equal, or not'),
  condition('<, <=, >, >=', 'eth.tx.value > 0 && eth.tx.value <= 5', 'numbers'),
  condition(
    '[ ]',
    "eth.tx.contract_call_args['amount'] == '1000'",
    'an item of a list, or a value by its name',
  ),
  condition('[a..b]', "eth.tx.data[0..10] == '0xa9059cbb'", 'a part of a text'),
];

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPart, nothingSearched } from './consensus.ts';
import { decide, mayApprove } from './decide.ts';
import type { Counter, Counters, Reservation } from '../language/evaluation.ts';
import type { Facts, Voter } from './facts.ts';
import { compilePolicy, storedPolicy, type Policy, type PolicyText } from './policies.ts';
import type { ConditionFacts } from '../language/schema.ts';

const root = (userId: string): Voter => ({ userId, root: true });
const plain = (userId: string, ...tags: string[]): Voter => ({ userId, root: false, tags });
const withPasskey = (userId: string): Voter => ({
  ...plain(userId),
  credentials: [
    { id: 'c', user_id: userId, type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR', public_key: '02aa' },
  ],
});

const named = (userId: string): string => `approvers.any(user, user.id == '${userId}')`;
const tagged = (tag: string): string => `approvers.any(user, user.tags.contains('${tag}'))`;

let policies = 0;
const policy = (effect: 'ALLOW' | 'DENY', text: Omit<PolicyText, 'policyId' | 'effect'> = {}): Policy => {
  policies += 1;
  return compilePolicy({ policyId: `p${policies}`, effect: `EFFECT_${effect}`, ...text });
};
const allow = (condition?: string, consensus?: string): Policy => policy('ALLOW', { condition, consensus });
const deny = (condition?: string, consensus?: string): Policy => policy('DENY', { condition, consensus });

const decided = (facts: Partial<Facts> & Pick<Facts, 'approvers'>) =>
  decide({ rootQuorumThreshold: 1, ...facts });

function activity(
  kind: string,
  resource: string,
  action: string,
  params: Record<string, unknown> = {},
): ConditionFacts {
  return {
    activity: () => ({
      type: `ACTIVITY_TYPE_${kind}`,
      kind: kind.replace(/_V\d+$/, ''),
      resource,
      action,
      params,
    }),
  };
}
const signing = (type: string, facts: ConditionFacts): ConditionFacts => ({
  ...activity('SIGN_TRANSACTION_V2', 'PRIVATE_KEY', 'SIGN', { type: `TRANSACTION_TYPE_${type}` }),
  ...facts,
});
const ethereum = (tx: ReturnType<NonNullable<ConditionFacts['eth.tx']>>): ConditionFacts =>
  signing('ETHEREUM', { 'eth.tx': () => tx });
const solana = (tx: ReturnType<NonNullable<ConditionFacts['solana.tx']>>): ConditionFacts =>
  signing('SOLANA', { 'solana.tx': () => tx });
const tron = (contract: {
  type: string;
  amount?: number;
  contract_address?: string;
  data?: string;
}): ConditionFacts => signing('TRON', { 'tron.tx': () => ({ contract: [contract] }) });
const bitcoin = (tx: ReturnType<NonNullable<ConditionFacts['bitcoin.tx']>>): ConditionFacts =>
  signing('BITCOIN', { 'bitcoin.tx': () => tx });
const tempo = (tx: ReturnType<NonNullable<ConditionFacts['tempo.tx']>>): ConditionFacts =>
  signing('TEMPO', { 'tempo.tx': () => tx });
const typed = (
  message: Readonly<Record<string, unknown>>,
  primary = 'PermitBatchTransferFrom',
  name = 'Permit2',
) => ({
  ...activity('SIGN_RAW_PAYLOAD_V2', 'PRIVATE_KEY', 'SIGN', { encoding: 'PAYLOAD_ENCODING_EIP712' }),
  'eth.eip_712': () => ({ primary_type: primary, domain: { name, chain_id: 1 }, message }),
});
const raw = (hash: string, encoding: string): ConditionFacts =>
  activity('SIGN_RAW_PAYLOAD_V2', 'PRIVATE_KEY', 'SIGN', { hash_function: hash, encoding });

const createWallet = activity('CREATE_WALLET', 'WALLET', 'CREATE');
const createPolicy = activity('CREATE_POLICY_V3', 'POLICY', 'CREATE');
const otpLogin = activity('OTP_LOGIN_V2', 'AUTH', 'CREATE');
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

describe('the root quorum', () => {
  const everything = [deny('true')];
  test.each([
    [1, [root('a')], 'allow'],
    [1, [plain('b'), root('a')], 'allow'],
    [2, [root('a'), root('b')], 'allow'],
    [2, [root('a'), root('b'), root('c')], 'allow'],
    // A root user's request waits for the rest of the quorum, whatever policies say.
    [2, [root('a')], 'consensus'],
    [2, [root('a'), root('a')], 'consensus'],
    [2, [root('a'), plain('b'), plain('c')], 'consensus'],
    [1, [], 'deny'],
    [1, [plain('a')], 'deny'],
    [1, [plain('a'), plain('b')], 'deny'],
    [2, [plain('b'), root('a')], 'deny'],
    // Without a vote there is no quorum, whatever number is stored.
    [0, [], 'deny'],
    [0, [plain('a')], 'deny'],
  ] as const)('of %i, with %j: %s', (rootQuorumThreshold, approvers, outcome) => {
    for (const given of [[], everything]) {
      expect(decide({ approvers, rootQuorumThreshold, policies: given }).outcome).toBe(outcome);
    }
    expect(
      decide({ approvers, rootQuorumThreshold, policies: [allow()], rootQuorumOnly: true }).outcome,
    ).toBe(outcome);
  });

  test('is not asked what a policy allows', () => {
    const facts = { approvers: [root('a')], rootQuorumThreshold: 2, items: [createWallet] };
    expect(decide({ ...facts, policies: [allow("activity.resource == 'WALLET'")] }).outcome).toBe('allow');
  });

  test('bypasses policies, which then say nothing', () => {
    expect(decided({ approvers: [root('a')], policies: everything })).toEqual({
      outcome: 'allow',
      evaluations: [],
      policyIds: [],
      item: 0,
      reservations: [],
    });
  });
});

describe('the examples of the public documentation, restated', () => {
  const ada = [plain('ada')];
  test.each<[string, Policy, Facts['approvers'], ConditionFacts, string]>([
    [
      'a user may make wallets',
      allow("activity.resource == 'WALLET' && activity.action == 'CREATE'", named('ada')),
      ada,
      createWallet,
      'ALLOW',
    ],
    [
      'another may not',
      allow("activity.resource == 'WALLET' && activity.action == 'CREATE'", named('ada')),
      [plain('bob')],
      createWallet,
      'DENY_IMPLICIT',
    ],
    [
      'that user may make nothing else',
      allow("activity.resource == 'WALLET' && activity.action == 'CREATE'", named('ada')),
      ada,
      createPolicy,
      'DENY_IMPLICIT',
    ],
    [
      'users of a tag may make users',
      allow("activity.resource == 'USER' && activity.action == 'CREATE'", tagged('hr')),
      [plain('ada', 'x', 'hr')],
      activity('CREATE_USERS_V4', 'USER', 'CREATE'),
      'ALLOW',
    ],
    [
      'users of another tag may not',
      allow("activity.resource == 'USER' && activity.action == 'CREATE'", tagged('hr')),
      [plain('ada', 'x')],
      activity('CREATE_USERS_V4', 'USER', 'CREATE'),
      'DENY_IMPLICIT',
    ],
    [
      'two of a tag may make policies',
      allow(
        "activity.resource == 'POLICY' && activity.action == 'CREATE'",
        "approvers.filter(user, user.tags.contains('t')).count() >= 2",
      ),
      [plain('ada', 't'), plain('bob', 't')],
      createPolicy,
      'ALLOW',
    ],
    [
      'nobody of a tag may delete',
      deny("activity.action == 'DELETE'", tagged('t')),
      [plain('ada', 't')],
      activity('DELETE_WALLETS', 'WALLET', 'DELETE'),
      'DENY_EXPLICIT',
    ],
    [
      'which says nothing of others',
      deny("activity.action == 'DELETE'", tagged('t')),
      ada,
      activity('DELETE_WALLETS', 'WALLET', 'DELETE'),
      'DENY_IMPLICIT',
    ],
    [
      'an API-only user may make sub-organizations',
      allow("activity.resource == 'ORGANIZATION' && activity.action == 'CREATE'", named('ada')),
      ada,
      activity('CREATE_SUB_ORGANIZATION_V8', 'ORGANIZATION', 'CREATE'),
      'ALLOW',
    ],
    [
      'a user may sign others in',
      allow("activity.resource == 'AUTH' && activity.action == 'CREATE'", named('ada')),
      ada,
      otpLogin,
      'ALLOW',
    ],
    [
      'a user may send and verify one-time codes',
      allow("activity.resource in ['AUTH', 'OTP'] && activity.action in ['CREATE','VERIFY']", named('ada')),
      ada,
      activity('VERIFY_OTP_V2', 'OTP', 'VERIFY'),
      'ALLOW',
    ],
    [
      'one version of an activity',
      allow("activity.type == 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2'", named('ada')),
      ada,
      activity('CREATE_READ_WRITE_SESSION_V2', 'AUTH', 'CREATE'),
      'ALLOW',
    ],
    [
      'and its other versions, which are one name to policies',
      allow("activity.type == 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2'", named('ada')),
      ada,
      activity('CREATE_READ_WRITE_SESSION_V3', 'AUTH', 'CREATE'),
      'ALLOW',
    ],
    [
      'every version of an activity',
      allow("activity.kind == 'CREATE_READ_WRITE_SESSION'", named('ada')),
      ada,
      activity('CREATE_READ_WRITE_SESSION_V3', 'AUTH', 'CREATE'),
      'ALLOW',
    ],
    [
      'signing by passkey alone',
      allow(
        "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'",
        "credentials.any(credential, credential.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')",
      ),
      [withPasskey('ada')],
      ethereum({}),
      'ALLOW',
    ],
    [
      'not by another credential',
      allow(
        "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'",
        "credentials.any(credential, credential.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')",
      ),
      ada,
      ethereum({}),
      'DENY_IMPLICIT',
    ],
    [
      'one public key',
      allow(undefined, "credentials.any(credential, credential.public_key == '02aa')"),
      [withPasskey('ada')],
      ethereum({}),
      'ALLOW',
    ],
    [
      'a wallet',
      allow("activity.action == 'SIGN' && wallet.id == 'w'", named('ada')),
      ada,
      { ...ethereum({}), wallet: () => ({ id: 'w' }) },
      'ALLOW',
    ],
    [
      'an account',
      allow("activity.action == 'SIGN' && wallet_account.address == '0xAb'", named('ada')),
      ada,
      { ...ethereum({}), wallet_account: () => ({ address: '0xAb' }) },
      'ALLOW',
    ],
    [
      'an account in another case',
      allow("activity.action == 'SIGN' && wallet_account.address == '0xab'", named('ada')),
      ada,
      { ...ethereum({}), wallet_account: () => ({ address: '0xAb' }) },
      'DENY_IMPLICIT',
    ],
    [
      'a private key',
      allow("activity.action == 'SIGN' && private_key.id == 'k'", named('ada')),
      ada,
      { ...ethereum({}), private_key: () => ({ id: 'k' }) },
      'ALLOW',
    ],
    [
      'a wallet or a private key in one condition',
      allow("wallet.id == 'w' || private_key.id == 'k'"),
      ada,
      { ...ethereum({}), wallet: () => ({ id: 'w' }) },
      'ERROR',
    ],
    ['one receiver', allow("eth.tx.to == '0xDEAD'", named('ada')), ada, ethereum({ to: '0xdead' }), 'ALLOW'],
    ['some receivers', allow("eth.tx.to in ['0xA', '0xB']"), ada, ethereum({ to: '0xb' }), 'ALLOW'],
    [
      'no more than some value',
      deny('eth.tx.value > 100000000000000000'),
      ada,
      ethereum({ value: 10n ** 18n }),
      'DENY_EXPLICIT',
    ],
    [
      'an argument of a call',
      allow(
        `eth.tx.contract_call_args['wad'] < 1000000000000000000 && eth.tx.contract_call_args['dst'] == '${usdc}'`,
      ),
      ada,
      ethereum({ contract_call_args: { wad: 5n, dst: usdc.toLowerCase() } }),
      'ALLOW',
    ],
    [
      'an argument without an interface',
      allow("eth.tx.contract_call_args['wad'] < 1000000000000000000"),
      ada,
      ethereum({ to: '0x1' }),
      'ERROR',
    ],
    [
      'a function of a contract',
      allow(
        "eth.tx.to == '0xc' && eth.tx.function_name == 'transfer' && eth.tx.function_signature == '0xa9059cbb'",
      ),
      ada,
      ethereum({ to: '0xC', function_name: 'transfer', function_signature: '0xa9059cbb' }),
      'ALLOW',
    ],
    [
      'a batch of two calls',
      allow("eth.tx.function_name == 'executeBatch' && eth.tx.contract_call_args['calls'].count() == 2"),
      ada,
      ethereum({ function_name: 'executeBatch', contract_call_args: { calls: [1, 2] } }),
      'ALLOW',
    ],
    [
      'a batch of calls to one contract',
      allow(
        "eth.tx.function_name == 'executeBatch' && eth.tx.contract_call_args['calls'].count() <= 2 && eth.tx.contract_call_args['calls'].all(call, call[0] == '0xC' && call[1] == 0)",
      ),
      ada,
      ethereum({ function_name: 'executeBatch', contract_call_args: { calls: [['0xc', 0n, '0x']] } }),
      'ALLOW',
    ],
    [
      'a batch with one call elsewhere',
      allow("eth.tx.contract_call_args['calls'].all(call, call[0] == '0xC' && call[1] == 0)"),
      ada,
      ethereum({
        contract_call_args: {
          calls: [
            ['0xc', 0n],
            ['0xd', 0n],
          ],
        },
      }),
      'DENY_IMPLICIT',
    ],
    [
      'fields of a tuple by name',
      allow("eth.tx.contract_call_args['calls'].all(call, call['target'] == '0xC')"),
      ada,
      ethereum({ contract_call_args: { calls: [['0xc', 0n]] } }),
      'ERROR',
    ],
    [
      'receivers of a multi-send',
      allow("eth.tx.contract_call_args['recipients'].all(addr, addr in ['0xA', '0xB'])"),
      ada,
      ethereum({ contract_call_args: { recipients: ['0xa', '0xB'] } }),
      'ALLOW',
    ],
    [
      'a selector in raw data',
      allow("eth.tx.to == '0xC' && eth.tx.data[0..10] == '0xa9059cbb'"),
      ada,
      ethereum({ to: '0xc', data: '0xa9059cbb00' }),
      'ALLOW',
    ],
    ['a test network', allow('eth.tx.chain_id == 11155111'), ada, ethereum({ chain_id: 11155111 }), 'ALLOW'],
    ['early nonces', allow('eth.tx.nonce <= 3'), ada, ethereum({ nonce: 4 }), 'DENY_IMPLICIT'],
    [
      'a typed message of one kind',
      allow(
        "eth.eip_712.domain.name == 'USD Coin' && eth.eip_712.primary_type == 'Permit' && activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
      ),
      ada,
      typed({}, 'Permit', 'USD Coin'),
      'ALLOW',
    ],
    [
      'a field within a typed message',
      allow(`eth.eip_712.message['permitted'][0]['token'] == '${usdc}'`),
      ada,
      typed({ permitted: [{ token: usdc.toLowerCase() }] }),
      'ALLOW',
    ],
    [
      'all elements of a typed message',
      allow(
        `eth.eip_712.message['permitted'].all(p, p['token'] == '${usdc}') && eth.eip_712.message['permitted'].count() <= 2`,
      ),
      ada,
      typed({ permitted: [{ token: usdc }, { token: '0x1' }] }),
      'DENY_IMPLICIT',
    ],
    [
      'amounts of a typed message',
      allow(`eth.eip_712.message['permitted'].any(p, p['token'] == '${usdc}' && p['amount'] < 100000000)`),
      ada,
      typed({ permitted: [{ token: usdc, amount: '99999999' }] }),
      'ALLOW',
    ],
    [
      'a delegation',
      allow(
        "eth.eip_7702_authorization.address == '0xA' && eth.eip_7702_authorization.chain_id == '1' && eth.eip_7702_authorization.nonce == 7",
      ),
      ada,
      {
        ...raw('HASH_FUNCTION_NO_OP', 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION'),
        'eth.eip_7702_authorization': () => ({ address: '0xa', chain_id: 1, nonce: 7n }),
      },
      'ALLOW',
    ],
    [
      'no raw digests',
      deny(
        "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' && activity.params.hash_function == 'HASH_FUNCTION_NO_OP' && activity.params.encoding != 'PAYLOAD_ENCODING_EIP712'",
      ),
      ada,
      raw('HASH_FUNCTION_NO_OP', 'PAYLOAD_ENCODING_HEXADECIMAL'),
      'DENY_EXPLICIT',
    ],
    [
      'no raw digests but typed messages',
      deny(
        "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' && activity.params.hash_function == 'HASH_FUNCTION_NO_OP' && activity.params.encoding != 'PAYLOAD_ENCODING_EIP712'",
      ),
      ada,
      raw('HASH_FUNCTION_NO_OP', 'PAYLOAD_ENCODING_EIP712'),
      'DENY_IMPLICIT',
    ],
    [
      'parameters that the activity does not show',
      deny("activity.params.hash_function == 'HASH_FUNCTION_NO_OP'"),
      ada,
      createWallet,
      'ERROR',
    ],
    [
      'deleting oneself',
      allow(
        "activity.type == 'ACTIVITY_TYPE_DELETE_USERS' && activity.params.user_ids.count() == 1 && 'ada' in activity.params.user_ids",
        named('ada'),
      ),
      ada,
      activity('DELETE_USERS', 'USER', 'DELETE', { user_ids: ['ada'] }),
      'ALLOW',
    ],
    [
      'Solana: one sender',
      allow("solana.tx.transfers.all(transfer, transfer.from == 'A')"),
      ada,
      solana({ transfers: [{ from: 'A' }] }),
      'ALLOW',
    ],
    [
      'Solana: one transfer to one receiver',
      allow("solana.tx.transfers.count == 1 && solana.tx.transfers[0].to == 'B'"),
      ada,
      solana({ transfers: [{ to: 'B' }] }),
      'ALLOW',
    ],
    [
      'Solana: one transfer among two',
      allow("solana.tx.transfers.count == 1 && solana.tx.transfers[0].to == 'B'"),
      ada,
      solana({ transfers: [{ to: 'B' }, { to: 'B' }] }),
      'DENY_IMPLICIT',
    ],
    [
      'Solana: one program',
      allow("solana.tx.program_keys.all(p, p == '11111111111111111111111111111111')"),
      ada,
      solana({ program_keys: ['11111111111111111111111111111111'] }),
      'ALLOW',
    ],
    [
      'Solana: a receiver that is not wanted',
      deny("solana.tx.transfers.any(transfer, transfer.to == 'BAD')"),
      ada,
      solana({ transfers: [{ to: 'B' }, { to: 'BAD' }] }),
      'DENY_EXPLICIT',
    ],
    [
      'Solana: data and accounts of an instruction',
      allow(
        "solana.tx.instructions[0].instruction_data_hex == 'ff' && solana.tx.instructions[0].accounts[0].account_key == 'A'",
      ),
      ada,
      solana({ instructions: [{ instruction_data_hex: 'ff', accounts: [{ account_key: 'A' }] }] }),
      'ALLOW',
    ],
    [
      'Solana: no lookup tables',
      deny('solana.tx.address_table_lookups.count() > 0'),
      ada,
      solana({ address_table_lookups: [{}] }),
      'DENY_EXPLICIT',
    ],
    [
      'Solana: no receiver from a lookup table',
      deny(
        "solana.tx.transfers.any(t, t.to == 'ADDRESS_TABLE_LOOKUP') || solana.tx.spl_transfers.any(t, t.to == 'ADDRESS_TABLE_LOOKUP')",
      ),
      ada,
      solana({ transfers: [], spl_transfers: [{ to: 'ADDRESS_TABLE_LOOKUP' }] }),
      'DENY_EXPLICIT',
    ],
    [
      'Solana: token transfers alone',
      allow(
        "solana.tx.instructions.count() == solana.tx.spl_transfers.count() && solana.tx.spl_transfers.all(transfer, transfer.to == 'T' && transfer.owner == 'O' && transfer.amount < 10)",
      ),
      ada,
      solana({ instructions: [{}], spl_transfers: [{ to: 'T', owner: 'O', amount: 9 }] }),
      'ALLOW',
    ],
    [
      'Solana: the mint, which a plain transfer does not tell',
      allow("solana.tx.spl_transfers.all(transfer, transfer.token_mint == 'M')"),
      ada,
      solana({ spl_transfers: [{ to: 'T' }] }),
      'DENY_IMPLICIT',
    ],
    [
      'Solana: one of several signers',
      allow("solana.tx.spl_transfers.all(transfer, transfer.signers.any(s, s == 'S'))"),
      ada,
      solana({ spl_transfers: [{ signers: ['R', 'S'] }] }),
      'ALLOW',
    ],
    [
      'Solana: an argument of a program',
      allow(
        "solana.tx.instructions.any(i, i.program_key == 'J' && i.parsed_instruction_data.instruction_name == 'route' && i.parsed_instruction_data.program_call_args['in_amount'] == 995500000)",
      ),
      ada,
      solana({
        instructions: [
          {
            program_key: 'J',
            parsed_instruction_data: {
              instruction_name: 'route',
              program_call_args: { in_amount: 995500000n },
            },
          },
        ],
      }),
      'ALLOW',
    ],
    [
      'Tron: transfers of a token',
      allow("tron.tx.contract[0].contract_address == 'T' && tron.tx.contract[0].data[0..8] == 'a9059cbb'"),
      ada,
      tron({ type: 'TriggerSmartContract', contract_address: 'T', data: 'a9059cbb00' }),
      'ALLOW',
    ],
    [
      'Tron: small amounts',
      allow('tron.tx.contract[0].amount < 10000000'),
      ada,
      tron({ type: 'TransferContract', amount: 9_999_999 }),
      'ALLOW',
    ],
    [
      'Tron: a contract that has no amount',
      allow('tron.tx.contract[0].amount < 10000000'),
      ada,
      tron({ type: 'TriggerSmartContract' }),
      'ERROR',
    ],
    [
      'Tron: transfers',
      allow("tron.tx.contract[0].type == 'TransferContract'"),
      ada,
      tron({ type: 'TransferContract' }),
      'ALLOW',
    ],
    [
      'Bitcoin: one receiver',
      allow("bitcoin.tx.outputs.all(o, o.address == 'bc1')"),
      ada,
      bitcoin({ outputs: [{ address: 'bc1' }, { address: 'bc2' }] }),
      'DENY_IMPLICIT',
    ],
    [
      'Bitcoin: small outputs',
      allow('bitcoin.tx.outputs.all(o, o.value < 200000)'),
      ada,
      bitcoin({ outputs: [{ value: 1 }] }),
      'ALLOW',
    ],
    [
      'Bitcoin: one input',
      allow("bitcoin.tx.inputs.all(i, i.tx_id == 'ff' && i.vout == 1)"),
      ada,
      bitcoin({ inputs: [{ tx_id: 'ff', vout: 1 }] }),
      'ALLOW',
    ],
    ['Bitcoin: the fee', deny('bitcoin.tx.fee > 50000'), ada, bitcoin({ fee: 50_001 }), 'DENY_EXPLICIT'],
    [
      'Tempo: by type',
      allow(
        "activity.action == 'SIGN' && activity.params.type == 'TRANSACTION_TYPE_TEMPO' && wallet.label == 'tempo-production'",
      ),
      ada,
      { ...tempo({}), wallet: () => ({ label: 'tempo-production' }) },
      'ALLOW',
    ],
    [
      'Tempo: fees',
      deny('tempo.tx.gas_limit > 100000 || tempo.tx.max_fee_per_gas > 15000000000'),
      ada,
      tempo({ gas_limit: 1, max_fee_per_gas: 15_000_000_001n }),
      'DENY_EXPLICIT',
    ],
    [
      'Tempo: an argument in the input',
      allow(
        "tempo.tx.calls[0].to == '0xTOKEN' && tempo.tx.calls[0].function_signature == '0xa9059cbb' && tempo.tx.calls[0].input[34..38] == 'ABCD'",
      ),
      ada,
      tempo({
        calls: [{ to: '0xtoken', function_signature: '0xa9059cbb', input: `0x${'0'.repeat(32)}abcd` }],
      }),
      'ALLOW',
    ],
    [
      'Tempo: all calls',
      allow("private_key.tags.contains('t') && tempo.tx.calls.all(call, call.to == '0x40F0')"),
      ada,
      { ...tempo({ calls: [{ to: '0x40f0' }, { to: '0x1' }] }), private_key: () => ({ tags: ['t'] }) },
      'DENY_IMPLICIT',
    ],
    [
      'a secret',
      allow(
        "activity.type == 'ACTIVITY_TYPE_EXPORT_SECRETS' && secret.static_properties['consensus'] == 'unilateral'",
      ),
      ada,
      {
        ...activity('EXPORT_SECRETS', 'SECRET', 'EXPORT'),
        'secret.static_properties': () => ({ consensus: 'unilateral' }),
      },
      'ALLOW',
    ],
    ['anything', allow(undefined, named('ada')), ada, createPolicy, 'ALLOW'],
    ['an empty policy', policy('ALLOW', { condition: '', consensus: ' ' }), ada, createPolicy, 'ALLOW'],
    ['nothing', deny('true'), ada, createPolicy, 'DENY_EXPLICIT'],
  ])('%s', (_, given, approvers, facts, outcome) => {
    const verdict = decided({ approvers, policies: [given], items: [facts] });
    expect(verdict.evaluations).toEqual([{ policyId: given.policyId, outcome: `OUTCOME_${outcome}` }]);
    expect(verdict.outcome).toBe(outcome === 'ALLOW' ? 'allow' : 'deny');
  });

  test.each([
    ['2026-02-28T23:59:59Z', 'OUTCOME_TIME_INACTIVE', 'deny'],
    ['2026-03-01T00:00:00Z', 'OUTCOME_ALLOW', 'allow'],
    ['2026-03-31T23:59:59Z', 'OUTCOME_ALLOW', 'allow'],
    ['2026-04-01T00:00:00Z', 'OUTCOME_TIME_INACTIVE', 'deny'],
  ])('a policy of one month, at %s: %s', (now, outcome, whole) => {
    const time =
      "time.now >= Timestamp('2026-03-01T00:00:00Z') && time.now < Timestamp('2026-04-01T00:00:00Z')";
    const given = policy('ALLOW', { condition: "activity.kind == 'SIGN_TRANSACTION'", time });
    const verdict = decided({
      approvers: ada,
      policies: [given],
      items: [ethereum({})],
      now: Date.parse(now),
    });
    expect([verdict.evaluations[0]?.outcome, verdict.outcome]).toEqual([outcome, whole]);
    const denying = decided({
      approvers: ada,
      policies: [allow(), policy('DENY', { time })],
      now: Date.parse(now),
    });
    expect(denying.outcome).toBe(whole === 'allow' ? 'deny' : 'allow');
  });
});

describe('a set of policies', () => {
  const ada = [plain('ada')];

  test('denies where one of them does, and names it', () => {
    const [yes, no, other, error] = [allow(), deny(), deny('false'), allow("wallet.id == 'w'")];
    expect(decided({ approvers: ada, policies: [yes, no, other, error] })).toEqual({
      outcome: 'deny',
      reason: `The following policies denied this action: ${no.policyId}`,
      policyIds: [no.policyId],
      item: 0,
      evaluations: [
        { policyId: yes.policyId, outcome: 'OUTCOME_ALLOW' },
        { policyId: no.policyId, outcome: 'OUTCOME_DENY_EXPLICIT' },
        { policyId: other.policyId, outcome: 'OUTCOME_DENY_IMPLICIT' },
        { policyId: error.policyId, outcome: 'OUTCOME_ERROR' },
      ],
    });
  });

  test('denies where none of them allows', () => {
    expect(decided({ approvers: ada })).toEqual({
      outcome: 'deny',
      reason: 'No policies evaluated to outcome: Allow',
      policyIds: [],
      item: 0,
      evaluations: [],
    });
  });

  test('allows beside one that goes wrong', () => {
    const given = [allow("wallet.id == 'w'"), allow("eth.tx.data[0..10] == 'x'"), allow('eth.tx.value == 1')];
    expect(
      decided({ approvers: ada, policies: given, items: [ethereum({ data: '0x', value: 1 })] }),
    ).toMatchObject({
      outcome: 'allow',
      evaluations: [{ outcome: 'OUTCOME_ERROR' }, { outcome: 'OUTCOME_ERROR' }, { outcome: 'OUTCOME_ALLOW' }],
    });
  });

  test.each([
    // Lacking a fact is the documented error, which does not deny.
    ["wallet.id == 'w'", 'allow'],
    ["eth.tx.to == '0xbad' && eth.tx.function_name == 'f'", 'allow'],
    // Data made too short for the policy does not get past it.
    ["eth.tx.data[0..10] == '0xa9059cbb'", 'deny'],
    ["eth.tx.to == '0xbad' || eth.tx.data[0..10] == '0xa9059cbb'", 'deny'],
    ["eth.tx.to == '0xbad' && eth.tx.data[0..10] == '0xa9059cbb'", 'deny'],
    // A policy does not deny if it certainly would not.
    ["eth.tx.to == '0xgood' && eth.tx.data[0..10] == '0xa9059cbb'", 'allow'],
    ["wallet.id == 'w' && eth.tx.data[0..10] == '0xa9059cbb'", 'allow'],
  ])('to deny by %s, which goes wrong: %s', (condition, outcome) => {
    const facts = { approvers: ada, items: [ethereum({ to: '0xbad', data: '0x' })] };
    const verdict = decided({ ...facts, policies: [allow(), deny(condition)] });
    expect([verdict.outcome, verdict.evaluations[1]?.outcome]).toEqual([outcome, 'OUTCOME_ERROR']);
    // The fault does not affect other users.
    expect(decided({ ...facts, policies: [allow(), deny(condition, named('bob'))] }).outcome).toBe('allow');
  });

  describe('to deny by the elements of a list, of which one lacks the fact', () => {
    const bad = { address: '0xbad', nonce: 6 };
    const good = { address: '0xgood', nonce: 3 };
    const any = "eth.tx.authorizations.any(each, each.address == '0xbad')";
    const all = "eth.tx.authorizations.all(each, each.address == '0xgood')";
    const kept = "eth.tx.authorizations.filter(each, each.address == '0xbad').count() > 0";
    const sum = 'eth.tx.authorizations.sum(each, each.nonce) > 5';
    const guarded = 'eth.tx.authorizations.any(each, each.chain_id == 1 && each.nonce > 5)';

    test.each([
      [any, [bad], [good]],
      [`!(${all})`, [bad, good], []],
      [kept, [bad], [good]],
      [sum, [bad], [good]],
      [guarded, [{ ...bad, chain_id: 1 }], [{ ...bad, chain_id: 2 }]],
    ])('%s denies what it would deny without that element, and nothing more', (condition, denied, passed) => {
      const outcomeOf = (authorizations: readonly object[]) => {
        const items = [ethereum({ authorizations })];
        return decided({ approvers: ada, items, policies: [allow(), deny(condition)] }).outcome;
      };
      const lacking = { chain_id: 2 };
      expect(outcomeOf(denied)).toBe('deny');
      expect(outcomeOf([...denied, lacking])).toBe('deny');
      expect(outcomeOf([lacking, ...denied])).toBe('deny');
      expect(outcomeOf(passed)).toBe('allow');
      if (passed.length > 0) expect(outcomeOf([lacking, ...passed])).toBe('allow');
    });

    test('over a budget counts the others', () => {
      const over = "RollingSum(eth.tx.authorizations.sum(each, each.nonce), '24h') > 10";
      const decidedAfter = (spent: bigint) =>
        decided({
          approvers: ada,
          items: [ethereum({ authorizations: [bad, {}] })],
          policies: [allow(), deny(over)],
          counters: { total: () => spent },
        });
      expect(decidedAfter(4n)).toMatchObject({ outcome: 'allow', reservations: [{ amount: 6n }] });
      expect(decidedAfter(5n).outcome).toBe('deny');
    });
  });

  test('lets a user change its own credentials, unless one of them has a say', () => {
    const facts = {
      approvers: [plain('ada', 'agent')],
      ownCredentials: true,
      items: [activity('CREATE_API_KEYS_V2', 'CREDENTIAL', 'CREATE', { user_id: 'ada' })],
      voters: () => [plain('ada', 'agent'), plain('bob', 'human')],
    };
    const both = `${tagged('agent')} && ${tagged('human')}`;
    expect(decided(facts).outcome).toBe('allow');
    expect(decided({ ...facts, policies: [allow("activity.resource == 'WALLET'")] }).outcome).toBe('allow');
    expect(
      decided({ ...facts, policies: [deny("activity.resource == 'CREDENTIAL'", tagged('agent'))] }).outcome,
    ).toBe('deny');
    expect(
      decided({ ...facts, policies: [allow("activity.type == 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'", both)] })
        .outcome,
    ).toBe('consensus');
  });

  test('lets a user change its own credentials only while its own vote counts', () => {
    const outcomeWith = (...approvers: readonly Voter[]): string =>
      decided({
        approvers,
        submitter: plain('ada'),
        ownCredentials: true,
        items: [activity('CREATE_API_KEYS_V2', 'CREDENTIAL', 'CREATE', { user_id: 'ada' })],
      }).outcome;
    expect(outcomeWith()).toBe('deny');
    expect(outcomeWith(plain('bob'))).toBe('deny');
    expect(outcomeWith(plain('bob'), plain('ada'))).toBe('allow');
  });

  test('asks for no transaction that no policy speaks of', () => {
    const policies = [allow("activity.kind == 'SIGN_TRANSACTION'")];
    const facts = { ...ethereum({}), 'eth.tx': () => expect.unreachable() };
    expect(decided({ approvers: ada, policies, items: [facts] }).outcome).toBe('allow');
  });

  test('has a bounded number of steps in all, and denies when they do not suffice for one to deny', () => {
    const keys = Array.from({ length: 300 }, (_, index) => `k${index}`);
    const slow = (): Policy => allow('solana.tx.account_keys.all(a, a in solana.tx.account_keys)', 'false');
    const facts = { approvers: ada, items: [solana({ account_keys: keys })] };
    const check = deny("solana.tx.account_keys.any(a, a == 'bad')");
    const few = decided({ ...facts, policies: [allow(), slow(), check] });
    expect([few.outcome, few.evaluations[2]?.outcome]).toEqual(['allow', 'OUTCOME_DENY_IMPLICIT']);
    const many = decided({ ...facts, policies: [allow(), ...Array.from({ length: 12 }, slow), check] });
    expect([many.outcome, many.evaluations.at(-1)?.outcome]).toEqual(['deny', 'OUTCOME_ERROR']);
  });

  const expressions = fc.constantFrom(
    undefined,
    'true',
    'false',
    "activity.action == 'CREATE'",
    "activity.resource == 'POLICY'",
    "wallet.id == 'w'",
    '[1][activity.params.otp_length] == 1',
  );
  const consensuses = fc.constantFrom(
    undefined,
    named('ada'),
    named('bob'),
    tagged('t'),
    'approvers.count() >= 2',
  );
  const generated = fc
    .record({
      effect: fc.constantFrom('ALLOW' as const, 'DENY' as const),
      condition: expressions,
      consensus: consensuses,
    })
    .map(({ effect, ...text }) => policy(effect, text));
  const users = [plain('ada', 't'), plain('bob', 't'), plain('eve')];
  const voted = fc.subarray(users, { minLength: 1 });
  const rank = { deny: 0, consensus: 1, allow: 2 };

  test('one more policy to deny never allows more; one more to allow never less', () => {
    fc.assert(
      fc.property(
        fc.array(generated, { maxLength: 6 }),
        generated,
        voted,
        fc.nat(6),
        (given, more, approvers, place) => {
          const facts = {
            approvers,
            items: [activity('X', 'WALLET', 'CREATE', { otp_length: 3 })],
            voters: () => users,
          };
          const before = decided({ ...facts, policies: given });
          const after = decided({ ...facts, policies: given.toSpliced(place, 0, more) });
          const change = rank[after.outcome] - rank[before.outcome];
          if (more.effect === 'EFFECT_DENY') expect(change).toBeLessThanOrEqual(0);
          else expect(change).toBeGreaterThanOrEqual(0);
          const reversed = decided({ ...facts, policies: given.toReversed() });
          expect(reversed.outcome).toBe(before.outcome);
          if (before.evaluations.some(({ outcome }) => outcome === 'OUTCOME_DENY_EXPLICIT')) {
            expect(before.outcome).toBe('deny');
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('consensus', () => {
  const everybody = [
    plain('ada', 'a'),
    plain('bob', 'b'),
    plain('bea', 'b'),
    plain('eve'),
    withPasskey('pat'),
  ];
  const asked = (consensus: string, ...votes: string[]) =>
    decided({
      approvers: votes.map((id) => everybody.find(({ userId }) => userId === id) ?? plain(id)),
      policies: [allow("activity.resource == 'WALLET'", consensus)],
      items: [createWallet],
      voters: () => everybody,
    });

  test.each([
    [`${named('ada')} && ${named('bob')}`, ['ada'], 'REQUIRES_CONSENSUS'],
    [`${named('ada')} && ${named('bob')}`, ['ada', 'bob'], 'ALLOW'],
    [`${named('ada')} && ${named('bob')}`, ['ada', 'eve'], 'REQUIRES_CONSENSUS'],
    [`${named('ada')} && ${named('bob')}`, ['ada', 'ada'], 'REQUIRES_CONSENSUS'],
    // A user who is not named cannot submit it.
    [`${named('ada')} && ${named('bob')}`, ['eve'], 'DENY_IMPLICIT'],
    [named('ada'), ['eve'], 'DENY_IMPLICIT'],
    [`${named('ada')} || ${named('bob')}`, ['eve'], 'DENY_IMPLICIT'],
    // Any two; the submitter's vote is one.
    ['approvers.count() >= 2', ['eve'], 'REQUIRES_CONSENSUS'],
    ['approvers.count() >= 2', ['eve', 'eve'], 'REQUIRES_CONSENSUS'],
    ['approvers.count() >= 2', ['eve', 'ada'], 'ALLOW'],
    ['approvers.count() == 2', ['eve'], 'REQUIRES_CONSENSUS'],
    ['approvers.count() >= 6', ['eve'], 'DENY_IMPLICIT'],
    // Two of a tag.
    ["approvers.filter(u, u.tags.contains('b')).count() >= 2", ['bob'], 'REQUIRES_CONSENSUS'],
    ["approvers.filter(u, u.tags.contains('b')).count() >= 2", ['bob', 'bea'], 'ALLOW'],
    ["approvers.filter(u, u.tags.contains('b')).count() >= 2", ['ada'], 'DENY_IMPLICIT'],
    ["approvers.filter(u, u.tags.contains('b')).count() >= 3", ['bob'], 'DENY_IMPLICIT'],
    [`${tagged('a')} && ${tagged('b')}`, ['bea'], 'REQUIRES_CONSENSUS'],
    [`${named('ada')} || (${named('bob')} && ${named('eve')})`, ['eve'], 'REQUIRES_CONSENSUS'],
    [
      `(${named('eve')} && ${named('bob')} && ${named('bea')}) || ${named('ada')}`,
      ['eve'],
      'REQUIRES_CONSENSUS',
    ],
    // By what others could vote with, and the submitter did.
    [`${named('eve')} && credentials.any(c, c.public_key == '02aa')`, ['eve'], 'REQUIRES_CONSENSUS'],
    ["credentials.any(c, c.user_id == 'eve')", ['eve'], 'DENY_IMPLICIT'],
    ['false', ['ada'], 'DENY_IMPLICIT'],
    ['approvers[1].id == approvers[0].id', ['ada'], 'ERROR'],
  ])('%s, after the votes of %j: %s', (consensus, votes, outcome) => {
    const verdict = asked(consensus, ...votes);
    expect(verdict.evaluations[0]?.outcome).toBe(`OUTCOME_${outcome}`);
    const whole = { ALLOW: 'allow', REQUIRES_CONSENSUS: 'consensus' }[outcome] ?? 'deny';
    expect(verdict.outcome).toBe(whole);
  });

  test('a policy to deny never waits for one', () => {
    const given = [deny(undefined, `${named('ada')} && ${named('bob')}`), allow()];
    expect(decided({ approvers: [plain('ada')], policies: given, voters: () => everybody }).outcome).toBe(
      'allow',
    );
    expect(decided({ approvers: [plain('ada'), plain('bob')], policies: given }).outcome).toBe('deny');
  });

  test('who may approve: the quorum, and who is part of a consensus that applies', () => {
    const facts: Facts = {
      approvers: [plain('ada', 'a')],
      rootQuorumThreshold: 1,
      policies: [
        allow("activity.resource == 'WALLET'", `${named('ada')} && ${named('bob')}`),
        allow("activity.resource == 'POLICY'", `${named('ada')} && ${named('eve')}`),
        deny('false', named('eve')),
      ],
      items: [createWallet],
      voters: () => everybody,
    };
    const may = (user: Voter) => mayApprove(facts, user);
    expect([root('r'), plain('bob', 'b'), plain('eve'), plain('bea', 'b')].map(may)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(mayApprove({ ...facts, rootQuorumOnly: true }, plain('bob'))).toBe(false);
    expect(mayApprove({ ...facts, rootQuorumOnly: true }, root('r'))).toBe(true);
  });

  test('is found among a hundred users, wherever in their list those are who are needed', () => {
    const crowd = Array.from({ length: 100 }, (_, index) => plain(`u${index}`));
    const asked = (consensus: string, by: string) =>
      decided({ approvers: [plain(by)], policies: [allow(undefined, consensus)], voters: () => crowd })
        .outcome;
    const two = `${named('u98')} && approvers.count() >= 2`;
    expect([asked(two, 'u0'), asked(two, 'u97'), asked(two, 'u99'), asked(named('u98'), 'u0')]).toEqual([
      'consensus',
      'consensus',
      'consensus',
      'deny',
    ]);
    expect(asked(`${named('u40')} && ${named('u98')} && approvers.count() >= 50`, 'u0')).toBe('consensus');
  });

  test.each([
    ['of one user', named('bob')],
    ['of so many', 'approvers.count() >= 1000'],
    ['of a tag', "approvers.filter(u, u.tags.contains('b')).count() >= 1000"],
    ['of a credential', "credentials.any(c, c.user_id == 'bob')"],
  ])('a search for a consensus %s grows no faster than the users, and is not repeated', (_, consensus) => {
    const program = allow(undefined, consensus).consensus;
    if (program === undefined) throw new Error('the policy has a consensus');
    const triesAmong = (count: number): number => {
      const voters = [...Array.from({ length: count }, (_user, index) => plain(`u${index}`)), plain('bob')];
      const searched = nothingSearched();
      expect(isPart(program, plain('ada'), voters, 0, searched)).toBe(false);
      const { tries } = searched;
      // Others, who are alike to the consensus.
      const others = voters.map((voter) => ({ ...voter, alias: `Mx ${voter.userId}` }));
      expect(isPart(program, plain('eve'), others, 0, searched)).toBe(false);
      expect(searched.tries).toBe(tries);
      return tries;
    };
    expect(triesAmong(200) / triesAmong(20)).toBeLessThan(11);
  });

  test('users whom a consensus compares with each other stay single ones', () => {
    const program = allow(undefined, 'approvers[1].id == approvers[0].alias').consensus;
    if (program === undefined) throw new Error('the policy has a consensus');
    const searched = nothingSearched();
    const user = { ...plain('ada'), alias: 'eve' };
    expect(isPart(program, user, [plain('bob'), plain('cid')], 0, searched)).toBe(false);
    expect(isPart(program, user, [plain('bob'), plain('eve')], 0, searched)).toBe(true);
  });

  test('is searched for within bounds', () => {
    const crowd = Array.from({ length: 100 }, (_, index) => plain(`u${index}`));
    const impossible = crowd.map(({ userId }) => named(userId)).join(' && ');
    const started = performance.now();
    const verdict = decided({
      approvers: [plain('eve')],
      policies: [allow(undefined, `${impossible} && ${named('eve')} && ${named('nobody')}`)],
      voters: () => crowd,
    });
    expect(verdict.outcome).toBe('deny');
    expect(performance.now() - started).toBeLessThan(20_000);
  }, 60_000);

  test('with hypothetical voters of generated organizations, agrees with trying every group', () => {
    const names = ['ada', 'bob', 'bea', 'eve'];
    // Some of whom no consensus names.
    const users = [...everybody.slice(0, 4), plain('u1'), plain('u2', 'b'), plain('u3')];
    const clause = fc.oneof(
      fc.constantFrom(...names).map(named),
      fc.constantFrom('a', 'b').map(tagged),
      fc.nat(4).map((count) => `approvers.count() >= ${count}`),
      fc.nat(3).map((count) => `approvers.filter(u, u.tags.contains('b')).count() >= ${count}`),
    );
    const consensuses = fc.oneof(
      clause,
      fc.array(clause, { minLength: 1, maxLength: 3 }).map((clauses) => clauses.join(' && ')),
      fc.array(clause, { minLength: 1, maxLength: 3 }).map((clauses) => clauses.join(' || ')),
      fc.tuple(clause, clause, clause).map(([a, b, c]) => `${a} && (${b} || ${c})`),
    );
    fc.assert(
      fc.property(
        consensuses,
        fc.constantFrom(...users.map(({ userId }) => userId)),
        (consensus, submitter) => {
          const holds = (group: readonly Voter[]): boolean =>
            decided({ approvers: group, policies: [allow(undefined, consensus)] }).outcome === 'allow';
          const own = users.filter(({ userId }) => userId === submitter);
          fc.pre(!holds(own));
          const rest = users.filter(({ userId }) => userId !== submitter);
          const groups = Array.from({ length: 2 ** rest.length }, (_, bits) =>
            rest.filter((_user, index) => (bits >> index) & 1),
          );
          const part = groups.some(
            (group) => holds([...own, ...group]) && (group.length === 0 || !holds(group)),
          );
          const verdict = decided({
            approvers: own,
            policies: [allow(undefined, consensus)],
            voters: () => users,
          });
          expect(verdict.outcome).toBe(part ? 'consensus' : 'deny');
        },
      ),
      {
        numRuns: 500,
        // Only some orders of three kinds of voters find whom it needs.
        examples: [
          [`${named('eve')} && approvers.count() >= 3 && ${tagged('b')}`, 'ada'],
          [`${tagged('b')} && ${named('eve')} && approvers.count() >= 4`, 'u1'],
        ],
      },
    );
  });
});

describe('budgets', () => {
  /** Counters as the engine keeps them: rows with a time. */
  class Ledger implements Counters {
    readonly rows: (Reservation & { readonly at: number })[] = [];
    total({ measure, by }: Counter, since: number): bigint {
      return this.rows
        .filter((row) => row.measure === measure && row.by === by && row.at > since)
        .reduce((sum, { amount }) => sum + amount, 0n);
    }
  }

  const hour = 3_600_000;
  const spend = (
    ledger: Ledger,
    given: readonly Policy[],
    now: number,
    value: bigint,
    to = '0xA',
    user = plain('ada'),
  ) => {
    const verdict = decided({
      approvers: [user],
      policies: given,
      items: [{ ...ethereum({ value, to }), wallet_account: () => ({ address: '0xKey' }) }],
      now,
      counters: ledger,
    });
    if (verdict.outcome === 'allow')
      ledger.rows.push(...verdict.reservations.map((row) => ({ ...row, at: now })));
    return verdict.outcome;
  };

  test('a sum over a day, by key: what is allowed is counted, what is denied is not', () => {
    const given = [allow("RollingSum(eth.tx.value, '24h', wallet_account.address) <= 1000")];
    const ledger = new Ledger();
    expect(spend(ledger, given, 0, 600n)).toBe('allow');
    expect(spend(ledger, given, 1, 401n)).toBe('deny');
    expect(spend(ledger, given, 2, 400n)).toBe('allow');
    expect(spend(ledger, given, 3, 1n)).toBe('deny');
    expect(spend(ledger, given, 24 * hour - 1, 1n)).toBe('deny');
    expect(spend(ledger, given, 24 * hour, 600n)).toBe('allow');
    expect(ledger.rows[0]).toEqual({
      measure: 'eth.tx.value',
      by: '[["wallet_account.address","0xKey"]]',
      amount: 600n,
      at: 0,
    });
  });

  test('a limit set by a policy to deny counts what others allow', () => {
    const given = [allow(), deny("RollingSum(eth.tx.value, '1h', submitter.id, eth.tx.to) > 10")];
    const ledger = new Ledger();
    expect(spend(ledger, given, 0, 10n, '0xAB')).toBe('allow');
    expect(spend(ledger, given, 1, 1n, '0xab')).toBe('deny');
    expect(spend(ledger, given, 1, 1n, '0xcd')).toBe('allow');
    expect(spend(ledger, given, 1, 1n, '0xab', plain('bob'))).toBe('allow');
    expect(spend(ledger, given, hour, 1n, '0xab')).toBe('allow');
  });

  test('the root quorum is not held back, and counts', () => {
    const given = [deny("RollingCount('1h', activity.kind) > 1")];
    const ledger = new Ledger();
    expect(spend(ledger, given, 0, 1n, '0x1', root('r'))).toBe('allow');
    expect(spend(ledger, given, 0, 1n, '0x1', root('r'))).toBe('allow');
    expect(ledger.total({ measure: '', by: '[["activity.kind","SIGN_TRANSACTION"]]' }, -1)).toBe(2n);
  });

  test('two policies with one measure share a counter, and reserve once', () => {
    const given = [
      allow("RollingSum(eth.tx.value, '1h', submitter.id) <= 10"),
      deny("RollingSum(eth.tx.value, '7d', submitter.id) > 15"),
    ];
    const ledger = new Ledger();
    expect(spend(ledger, given, 0, 10n)).toBe('allow');
    expect(ledger.rows.length).toBe(1);
    expect(spend(ledger, given, 2 * hour, 6n)).toBe('deny');
    expect(spend(ledger, given, 2 * hour, 5n)).toBe('allow');
  });

  test('an activity that lacks the amount is neither limited nor counted', () => {
    const given = [allow("activity.resource == 'WALLET'"), deny("RollingSum(eth.tx.value, '1h') > 1")];
    const verdict = decided({
      approvers: [plain('ada')],
      policies: given,
      items: [createWallet],
      counters: new Ledger(),
    });
    expect(verdict).toMatchObject({ outcome: 'allow', reservations: [] });
  });

  test('a negative amount, and a limit without counters, do not get past a policy to deny', () => {
    const given = [allow(), deny("RollingSum(eth.tx.value, '1h') > 1")];
    expect(spend(new Ledger(), given, 0, -5n)).toBe('deny');
    expect(
      decided({ approvers: [plain('ada')], policies: given, items: [ethereum({ value: 1 })] }).outcome,
    ).toBe('deny');
  });

  test('amounts beyond 2^53 are exact', () => {
    const limit = 10n ** 30n;
    const given = [allow(`RollingSum(eth.tx.value, '1h') <= ${limit}`)];
    const ledger = new Ledger();
    expect(spend(ledger, given, 0, limit - 1n)).toBe('allow');
    expect(spend(ledger, given, 0, 2n)).toBe('deny');
    expect(spend(ledger, given, 0, 1n)).toBe('allow');
  });
});

describe('a policy that does not compile', () => {
  test.each([
    [
      { condition: 'walet.id' },
      /^invalid policy condition: line 1, column 1: expected a keyword of condition: /,
    ],
    [
      { consensus: 'approvers.count() >' },
      /^invalid policy consensus: line 1, column 20: expected a value, found the end$/,
    ],
    [
      { time: "Timestamp('x') < time.now" },
      /^invalid policy time: line 1, column 11: expected an RFC 3339 time/,
    ],
  ])('is refused, %j', (text, message) => {
    expect(() => policy('ALLOW', text)).toThrow(message);
  });

  test('tells machines where', () => {
    expect(() => policy('ALLOW', { condition: "true &&\n wallet.di == 'x'" })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        details: [
          {
            '@type': 'type.googleapis.com/keyhearth.v1.PolicyExpressionError',
            field: 'condition',
            from: 16,
            to: 18,
            line: 2,
            column: 9,
            expected: 'a field of Wallet: id, imported, exported, label',
          },
        ],
      }) as Error,
    );
  });
});

test('a stored policy that does not compile is an error of its own, and one to deny denies', () => {
  const broken = (effect: 'ALLOW' | 'DENY') =>
    storedPolicy({
      policyId: `broken ${effect}`,
      effect: `EFFECT_${effect}`,
      condition: 'of another version ?',
    });
  const facts = { approvers: [plain('ann')], items: [activity('CREATE_WALLET', 'WALLET', 'CREATE')] };
  const wallets = allow("activity.resource == 'WALLET'");
  expect(decided({ ...facts, policies: [broken('ALLOW')] })).toMatchObject({
    outcome: 'deny',
    evaluations: [{ policyId: 'broken ALLOW', outcome: 'OUTCOME_ERROR' }],
  });
  expect(decided({ ...facts, policies: [broken('ALLOW'), wallets] })).toMatchObject({ outcome: 'allow' });
  expect(decided({ ...facts, policies: [broken('DENY'), wallets] })).toMatchObject({
    outcome: 'deny',
    reason: 'The following policies denied this action: broken DENY',
  });
  expect(mayApprove({ ...facts, rootQuorumThreshold: 1, policies: [broken('ALLOW')] }, plain('ben'))).toBe(
    false,
  );
  expect(decided({ approvers: [root('eve')], policies: [broken('DENY')] })).toMatchObject({
    outcome: 'allow',
  });
});

test('whose activity it is does not change with whose votes count', () => {
  const own = allow("submitter.id == 'ann'", 'approvers.count() >= 2');
  const facts = { submitter: plain('ann'), policies: [own], voters: () => [plain('ann'), plain('cat')] };
  expect(decided({ ...facts, approvers: [plain('ben')] })).toMatchObject({ outcome: 'consensus' });
  expect(decided({ ...facts, approvers: [plain('ben'), plain('cat')] })).toMatchObject({ outcome: 'allow' });
  // A member of the quorum has voted; the activity is still not of one.
  const lone = { submitter: plain('ann'), approvers: [root('eve')], rootQuorumThreshold: 2 };
  expect(decided(lone)).toMatchObject({ outcome: 'deny' });
});

test('an expression is compiled once, and for its own field', () => {
  const text = { condition: "wallet.id == 'once'" };
  expect(policy('ALLOW', text).condition).toBe(policy('DENY', text).condition);
  expect(() => policy('ALLOW', { consensus: text.condition })).toThrow('wallet is known in condition');
});

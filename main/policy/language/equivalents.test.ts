import { describe, expect, test } from 'vitest';
import { problemsOf, warningsOf } from './check.ts';
import { spendings } from './chain-keywords.ts';

type Effect = 'ALLOW' | 'DENY';
const warnings = (effect: Effect, condition: string): readonly string[] => {
  const draft = { effect: `EFFECT_${effect}`, condition } as const;
  expect(problemsOf(draft)).toEqual([]);
  return warningsOf(draft).map(({ message }) => message);
};

describe('a denial that an equivalent request gets round', () => {
  test.each([
    ["activity.kind == 'SIGN_RAW_PAYLOAD'", 'SIGN_RAW_PAYLOADS and SIGN_TRANSACTION can do the same'],
    ["activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'", "Write activity.action == 'SIGN'."],
    [
      "activity.type in ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD', 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS']",
      'SIGN_TRANSACTION',
    ],
    ["activity.kind == 'SIGN_TRANSACTION' && eth.tx.chain_id == 1", 'SIGN_RAW_PAYLOAD and SIGN_RAW_PAYLOADS'],
    ["!(activity.kind != 'CREATE_POLICY')", "activity.resource == 'POLICY' && activity.action == 'CREATE'"],
    ["activity.kind == 'EXPORT_WALLET_ACCOUNT'", 'EXPORT_WALLET can do the same'],
    ["activity.params.sign_with == 'a'", 'signing_key.public_key'],
    ["wallet_account.address in ['a']", 'signing_key.public_key'],
    ["activity.action == 'SIGN' && private_key.id == 'a'", 'signing_key.public_key'],
    ['eth.tx.max_fee_per_gas > 100', 'eth.tx.gas_price, or eth.tx.max_fee'],
    ['eth.tx.value > 100', 'eth.tx.outflow'],
    ["activity.params.encoding == 'PAYLOAD_ENCODING_EIP712'", 'as a digest'],
    ["activity.params.hash_function == 'HASH_FUNCTION_KECCAK256'", 'as a digest'],
    ["eth.tx.function_name == 'approve'", 'function_signature'],
    ["tron.tx.contract.any(c, c.function_name == 'approve')", 'function_signature'],
    [
      "solana.tx.instructions.any(i, i.parsed_instruction_data.instruction_name == 'Approve')",
      'instruction_data_hex',
    ],
    [
      "solana.tx.instructions[0].program_key == '11111111111111111111111111111111'",
      'solana.tx.instructions.any(item, …)',
    ],
    ["bitcoin.tx.outputs[1].address == ''", 'bitcoin.tx.outputs.any(item, …)'],
    // Every list of every chain: the order of its elements is the sender's choice.
    ["eth.tx.authorizations[0].address == ''", 'eth.tx.authorizations.any(item, …)'],
  ])('%s', (condition, message) => {
    expect(warnings('DENY', condition)).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    "activity.action == 'SIGN'",
    "activity.kind in ['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS', 'SIGN_TRANSACTION']",
    "activity.kind != 'SIGN_RAW_PAYLOAD'",
    "!(activity.kind == 'SIGN_RAW_PAYLOAD')",
    "activity.resource == 'POLICY' && activity.action == 'CREATE'",
    "signing_key.public_key == '02ab'",
    "activity.action == 'EXPORT' && wallet_account.address == 'a'",
    'eth.tx.gas_price > 100',
    'eth.tx.max_fee > 100 || eth.tx.max_fee_per_gas > 5',
    'eth.tx.outflow > 100',
    "activity.params.hash_function == 'HASH_FUNCTION_NO_OP' && activity.params.encoding != 'PAYLOAD_ENCODING_EIP712'",
    "eth.eip_712.primary_type == 'Permit'",
    "eth.tx.function_signature == '0x095ea7b3'",
    "solana.tx.instructions.any(i, i.program_key == '11111111111111111111111111111111')",
    "RollingCount('1h', submitter.id) > 100",
  ])('is not %s', (condition) => {
    expect(warnings('DENY', condition)).toEqual([]);
  });

  test('has nothing to do with what is allowed', () => {
    expect(warnings('ALLOW', "activity.kind == 'SIGN_RAW_PAYLOAD' && wallet_account.address == 'a'")).toEqual(
      [],
    );
  });
});

describe('a budget that leaves something open', () => {
  test.each([
    [
      "RollingSum(eth.tx.value, '24h', signing_key.public_key) <= 5",
      'does not limit: fees, tokens and approvals, the creation of contracts, authorizations of other code, other chains.',
    ],
    [
      "eth.tx.chain_id == 1 && eth.tx.to in ['0x71c7656ec7ab88b098defb751b7401b5f6d8976f'] && eth.tx.value <= 5",
      'fees, tokens and approvals, authorizations',
    ],
    ["100 >= eth.tx.value && eth.tx.data == '0x'", 'does not limit: fees, the creation of contracts'],
    ['solana.tx.transfers.sum(t, t.amount) < 5', 'does not limit: fees, other programs'],
    ["RollingSum(solana.tx.transfers.sum(t, t.amount), '1h') < 5", 'does not limit: fees, other programs'],
    ["RollingSum(tron.tx.contract[0].amount, '1h') < 5", 'does not limit: fees, calls'],
    ['bitcoin.tx.fee <= 1000', 'does not limit: fees, or what is sent'],
  ])('%s', (condition, message) => {
    expect(warnings('ALLOW', condition)).toEqual([expect.stringContaining(message)]);
  });

  test.each(spendings.map(({ safe }) => safe))('is not %s', (safe) => {
    expect(warnings('ALLOW', safe)).toEqual([]);
  });
});

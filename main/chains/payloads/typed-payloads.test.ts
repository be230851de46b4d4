import { describe, expect, test } from 'vitest';
import eip712 from '../../../test/vectors/eip712.json' with { type: 'json' };
import { compile } from '../../policy/language/compile.ts';
import { Evaluation } from '../../policy/language/evaluation.ts';
import type { PayloadEncoding } from './encodings.ts';
import { openPayload } from './open.ts';

const permit = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    PermitBatchTransferFrom: [
      { name: 'permitted', type: 'TokenPermissions[]' },
      { name: 'nonce', type: 'uint256' },
    ],
    TokenPermissions: [
      { name: 'token', type: 'address' },
      { name: 'amount', type: 'uint256' },
    ],
  },
  primaryType: 'PermitBatchTransferFrom',
  domain: {
    name: 'Permit2',
    chainId: '1',
    verifyingContract: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  },
  message: {
    permitted: [
      { token: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', amount: '1000000000', note: 'unsigned' },
    ],
    nonce: 0,
    unsigned: true,
  },
};

const context = {
  key: undefined,
  interfaces: { abi: () => undefined, idl: () => undefined },
  ours: () => undefined,
};

function holds(condition: string, payload: unknown, encoding: PayloadEncoding): unknown {
  const raw = { payload: JSON.stringify(payload), encoding, hashFunction: 'HASH_FUNCTION_NO_OP' } as const;
  const facts: Readonly<Record<string, (() => unknown) | undefined>> = openPayload(
    raw,
    context,
    'payload',
  ).facts();
  const evaluation = new Evaluation((keyword) => facts[keyword]?.(), 0);
  return compile(condition, 'condition').run(evaluation) ?? evaluation.fault?.message;
}

describe('typed data', () => {
  test.each([
    ["eth.eip_712.domain.name == 'Permit2' && eth.eip_712.primary_type == 'PermitBatchTransferFrom'", true],
    ['eth.eip_712.domain.chain_id == 1', true],
    ["eth.eip_712.domain.verifying_contract == '0x000000000022d473030f116ddee9f6b43ac78ba3'", true],
    [
      "eth.eip_712.message['permitted'].all(p, p['token'] == '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')",
      true,
    ],
    ["eth.eip_712.message['permitted'].any(p, p['amount'] < 1000000000)", false],
    ["eth.eip_712.message['permitted'].any(p, p['amount'] <= 1000000000)", true],
    ["eth.eip_712.message['permitted'].count() <= 2", true],
  ])('%s', (condition, expected) => {
    expect(holds(condition, permit, 'PAYLOAD_ENCODING_EIP712')).toBe(expected);
  });

  test.each([
    "eth.eip_712.message['unsigned'] == true",
    "eth.eip_712.message['permitted'][0]['note'] == 'unsigned'",
  ])('what is not signed is not there: %s', (condition) => {
    expect(holds(condition, permit, 'PAYLOAD_ENCODING_EIP712')).not.toBe(true);
  });

  test('the published mail', () => {
    const [mail] = eip712.vectors;
    expect(
      holds("eth.eip_712.message['from']['name'] == 'Cow'", mail?.typedData, 'PAYLOAD_ENCODING_EIP712'),
    ).toBe(true);
  });
});

test('an authorization', () => {
  const payload = { address: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', chainId: 1, nonce: '7' };
  expect(
    holds(
      "eth.eip_7702_authorization.address == '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' && eth.eip_7702_authorization.chain_id == '1' && eth.eip_7702_authorization.nonce == 7",
      payload,
      'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
    ),
  ).toBe(true);
});

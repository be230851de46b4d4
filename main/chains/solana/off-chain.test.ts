import {
  address,
  compileOffchainMessageV0Envelope,
  compileOffchainMessageV1Envelope,
  offchainMessageApplicationDomain,
  offchainMessageContentRestrictedAsciiOf1232BytesMax,
} from '@solana/kit';
import { describe, expect, test } from 'vitest';
import { context, keyOf, payer } from '../../../test/one-reading/solana-messages.ts';
import type { Description } from '../description.ts';
import { solana } from './chain.ts';

function described(bytes: Uint8Array): Description | undefined {
  const payload = solana.inPayload(bytes, 'HASH_FUNCTION_NOT_APPLICABLE', context());
  expect(payload.facts).toEqual({});
  return payload.describe?.();
}

const domain = Buffer.from('\u00ffsolana offchain', 'latin1');
const commandLine = (text: string, format = 0): Uint8Array =>
  Buffer.concat([domain, Buffer.of(0, format, text.length, 0), Buffer.from(text)]);

describe('a message that is not a transaction', () => {
  test('version 0, as @solana/kit writes it', () => {
    const { content } = compileOffchainMessageV0Envelope({
      version: 0,
      applicationDomain: offchainMessageApplicationDomain(keyOf(5)),
      content: offchainMessageContentRestrictedAsciiOf1232BytesMax('Sign in to Example'),
      requiredSignatories: [{ address: payer }],
    });
    expect(described(Uint8Array.from(content))).toMatchObject({
      title: 'Sign a message of Solana that is no transaction',
      lines: [
        { label: 'Text', value: 'Sign in to Example' },
        { label: 'Form', value: 'Version 0' },
        { label: 'Application', value: keyOf(5) },
        { label: 'Format', value: '0' },
        { label: 'Signer 1', value: payer },
      ],
      warnings: [],
    });
  });

  test('version 1, as @solana/kit writes it', () => {
    const { content } = compileOffchainMessageV1Envelope({
      version: 1,
      content: 'Sign in\u202e',
      requiredSignatories: [{ address: address(payer) }],
    });
    expect(described(Uint8Array.from(content))?.lines).toEqual([
      { label: 'Text', value: 'Sign in⟨U+202E⟩' },
      { label: 'Form', value: 'Version 1' },
      { label: 'Signer 1', value: payer },
    ]);
  });

  test('version 0, as the command line writes it', () => {
    expect(described(commandLine('Test Message'))?.lines).toEqual([
      { label: 'Text', value: 'Test Message' },
      { label: 'Form', value: 'Version 0, of the command line' },
      { label: 'Format', value: '0' },
    ]);
  });

  test.each([
    ['a length that is not the text’s', Buffer.concat([commandLine('Test Message'), Buffer.of(65)])],
    ['a format that there is not', commandLine('Test Message', 3)],
    ['an ASCII text that is none', commandLine('Test\nMessage')],
    ['no text', commandLine('')],
    ['another version', Buffer.concat([domain, Buffer.of(2, 1)])],
    ['nothing after the domain', domain],
  ])('cannot be read: %s', (_, bytes) => {
    const description = described(bytes);
    expect(description?.warnings).toContainEqual(expect.stringContaining('cannot read all of it'));
    expect(description?.lines).toContainEqual({ label: 'Bytes', value: bytes.toString('hex') });
  });
});

/**
 * Unreadable input is refused in this project's words. The class: a reader passes on the words of a library, SQLite, the system or
 * the language. Other tests look for them in each refusal that they meet; here every kind of reader gets broken input.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeConfig } from '../../main/app/config.ts';
import { readHead } from '../../main/backup/format.ts';
import { readKeyFiles, readKeyValue } from '../../main/commands/credentials/key-files.ts';
import { readPolicyFile } from '../../main/commands/policies/policy-file.ts';
import { readRemote } from '../../main/commands/shared/remote.ts';
import { problemOf } from '../../main/commands/shared/output.ts';
import { readAccount } from '../../main/commands/wallets/account-options.ts';
import { openMasterKey } from '../../main/backup/open.ts';
import { phraseFromShares } from '../../main/keys/keyslots/shares.ts';
import { reasonOf } from '../../main/lib/text/reasons.ts';
import { measureMutations } from '../bench/mutations.ts';
import { foreignWords } from '../support/foreign-words.ts';
import { startTestVault, temporaryDirectory, type Json, type TestVault } from '../support/support.ts';

let service: TestVault;
const papers = temporaryDirectory();
beforeAll(async () => {
  service = await startTestVault();
});
afterAll(async () => {
  papers[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const broken = [
  '',
  '{',
  '[1,',
  'null',
  '"text"',
  '{"a":1}',
  '{"types":{"A":[{"name":"x","type":"uint256"}]},"primaryType":"A","domain":{},"message":{"x":"1.5"}}',
  '{"types":{"A":[{"name":"x","type":"uint256"}]},"primaryType":"A","domain":{},"message":{"x":{}}}',
  '[{"type":"function"}]',
  '[{"type":"function","name":"f","inputs":[{"type":"tuple"}]}]',
  '{"instructions":[{"name":"a","args":[{"name":"b","type":{"vec":1}}]}]}',
  '00',
  '0x',
  '0xzz',
  'ff'.repeat(40),
  '70736274ff',
  '70736274ff01000a',
  '04'.repeat(65),
  'é\u0000\ud800',
  '9'.repeat(400),
];

/** @returns what a reader that threw says to a person. */
async function refusalOf(read: () => unknown): Promise<string> {
  try {
    await read();
  } catch (error) {
    return reasonOf(error);
  }
  return '';
}

describe('requests with what is broken', () => {
  const types = ['ETHEREUM', 'SOLANA', 'TRON', 'BITCOIN', 'TEMPO'];
  const encodings = ['HEXADECIMAL', 'TEXT_UTF8', 'EIP712', 'EIP7702_AUTHORIZATION'];
  const queries: Readonly<Record<string, (text: string) => readonly Json[]>> = {
    describe_payload: (text) => [
      ...types.map((type) => ({ unsignedTransaction: text, type: `TRANSACTION_TYPE_${type}` })),
      ...encodings.map((encoding) => ({
        payload: text,
        encoding: `PAYLOAD_ENCODING_${encoding}`,
        hashFunction: 'HASH_FUNCTION_NO_OP',
        preimage: text,
      })),
    ],
    explain_policies: (text) => [{ requestBody: text, policies: [] }],
    list_wallet_accounts: (text) => [{ walletId: text, paginationOptions: { limit: text, after: text } }],
  };
  const activities: Readonly<Record<string, (text: string) => Json>> = {
    CREATE_SMART_CONTRACT_INTERFACE: (text) => ({
      smartContractAddress: `0x${'1'.repeat(40)}`,
      smartContractInterface: text,
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'x',
    }),
    CREATE_POLICY_V3: (text) => ({
      policyName: 'x',
      effect: 'EFFECT_ALLOW',
      condition: text,
      consensus: text,
      notes: '',
    }),
    IMPORT_WALLET: (text) => ({ userId: '', walletName: 'x', encryptedBundle: text, accounts: [] }),
    IMPORT_PRIVATE_KEY: (text) => ({
      userId: '',
      privateKeyName: 'x',
      encryptedBundle: text,
      curve: 'CURVE_SECP256K1',
      addressFormats: [],
    }),
    EXPORT_WALLET: (text) => ({ walletId: text, targetPublicKey: text }),
    CREATE_API_KEYS_V2: (text) => ({
      userId: '',
      apiKeys: [{ apiKeyName: 'x', publicKey: text, curveType: 'API_KEY_CURVE_P256' }],
    }),
    CREATE_WALLET: (text) => ({
      walletName: 'x',
      accounts: [
        {
          curve: 'CURVE_ED25519',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: text,
          addressFormat: 'ADDRESS_FORMAT_SOLANA',
        },
      ],
    }),
  };

  /** A description is shown to a person like a refusal. */
  const shown = (body: Json | undefined): string =>
    JSON.stringify(body?.['description'] ?? body?.['message']);

  test.each(Object.entries(queries))('%s', async (operation, bodies) => {
    for (const body of broken.flatMap(bodies)) {
      const answer = await service.root.query(operation, body);
      expect(answer.status, answer.text).toBeLessThan(500);
      expect(foreignWords(shown(answer.body)), answer.text).toBeUndefined();
    }
  });

  test.each(Object.entries(activities))('%s', async (type, parametersOf) => {
    const operation = type.toLowerCase().replace(/_v\d$/, '');
    const { rootUserId: userId } = service;
    for (const parameters of broken.map(parametersOf)) {
      const given = 'userId' in parameters ? { ...parameters, userId } : parameters;
      const answer = await service.root.submit(operation, type, given);
      expect(answer.status, answer.text).toBeLessThan(500);
      expect(foreignWords(shown(answer.body)), answer.text).toBeUndefined();
    }
  });
});

test('transactions of every chain, changed at random', () => {
  const counts = measureMutations(300);
  expect(counts['bitcoinRefused']).toBeGreaterThan(0);
});

test('files: keys, policies, vault files, backups and shares', async () => {
  const keys = join(papers.path, 'keys');
  mkdirSync(keys, { recursive: true });
  const readers: readonly ((file: string, text: string) => unknown)[] = [
    readPolicyFile,
    (file) => readRemote({ remote: { vaultFile: file, allowHttp: false } }),
    (file) => readKeyValue(file),
    (_, text) => readKeyValue(text),
    (_, text) => {
      writeFileSync(join(keys, 'k.public'), text);
      writeFileSync(join(keys, 'k.private'), text, { mode: 0o600 });
      return readKeyFiles(keys, 'k');
    },
    (_, text) => readHead(Buffer.from(`${text}\n{}\n`)),
    (_, text) => phraseFromShares([text, text]),
    (_, text) => readAccount(text),
    (_, text) => makeConfig({ port: text }, {}),
    (_, text) => makeConfig({}, { HOME: papers.path, KEYHEARTH_DATA_DIR: text, KEYHEARTH_PORT: text }),
    (_, text) =>
      openMasterKey({ keyslots: [], createdAt: 0 } as never, { with: 'recovery', phrase: text } as never),
  ];
  for (const [index, text] of broken.entries()) {
    const file = join(papers.path, `broken-${String(index)}`);
    writeFileSync(file, text);
    for (const name of [file, papers.path, join(papers.path, 'none'), `${file}/below`]) {
      for (const read of readers) {
        const said = await refusalOf(() => read(name, text));
        expect(foreignWords(said), said).toBeUndefined();
      }
    }
  }
});

test('an error from elsewhere is shown by its code, and else by its place in the code', () => {
  const thrownBy = (work: () => unknown): unknown => {
    try {
      work();
    } catch (error) {
      return error;
    }
    throw new Error('nothing was thrown');
  };
  const database = join(papers.path, 'no.db');
  writeFileSync(database, 'no database, and long enough to be looked at as one '.repeat(50));
  const faults = [
    thrownBy(() => readFileSync(join(papers.path, 'none'))),
    thrownBy(() => JSON.parse('{"secret": secret-word}')),
    thrownBy(() => BigInt('secret-word')),
    thrownBy(() => new Sqlite(database).prepare('SELECT * FROM a').all()),
    thrownBy(() => decodeURIComponent('%')),
    new Error('secret-word'),
    'secret-word',
  ];
  for (const fault of faults) {
    const said = `${reasonOf(fault)} ${problemOf(fault, 'the file')}`;
    expect(foreignWords(said), said).toBeUndefined();
    expect(said).not.toContain('secret-word');
  }
  expect(reasonOf(faults[0])).toBe('there is no such file or directory');
  expect(reasonOf(faults[3])).toBe('it is damaged, or not a database');
  expect(reasonOf(faults[5])).toMatch(/^something went wrong inside Keyhearth \(Error( at [^ ]+:\d+)?\)$/);
});

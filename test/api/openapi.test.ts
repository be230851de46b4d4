/** The API's description, as the port serves it: valid by the standard, complete by the operations, true by answers. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeApi } from '../../main/http/openapi/description.ts';
import { referencePolicy } from '../../main/lib/web/content-security-policy.ts';
import { errorCodes } from '../../main/lib/errors.ts';
import { toOperations } from '../../main/activities/define.ts';
import { operations } from '../../main/operations/index.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { checkerOf } from '../support/api-document.ts';
import { ethereumAccount, newTestKey, newWallet, send, startTestVault } from '../support/support.ts';
import type { Answer, Json, TestVault } from '../support/support.ts';

interface Described {
  readonly operationId: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Json[];
  readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: Json } } };
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

interface Document extends Json {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, { readonly post: Described }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly responses: Json };
}

let service: TestVault;
let document: Document;

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(service.url, { method: 'GET', path, headers });

const describedAs = (path: string): Described => {
  const described = document.paths[`/public/v1/${path}`];
  if (described === undefined) throw new Error(`${path} is not described`);
  return described.post;
};

beforeAll(async () => {
  service = await startTestVault();
  document = (await get('/openapi.json')).body as Document;
});
afterAll(() => service[Symbol.asyncDispose]());

describe('/openapi.json', () => {
  test('is an OpenAPI 3.1 document, by a validator of the standard', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(document).toMatchObject({ openapi: '3.1.1', info: { version: packageJson.version } });
    // The validator does find things.
    const { operationId: _, ...rest } = describedAs('query/whoami');
    const broken = { ...document, paths: { '/x': { post: { ...rest, responses: { 200: {} } } } } };
    expect(await new Validator().validate(structuredClone(broken))).toMatchObject({ valid: false });
  });

  test('is served to every client of the port, as JSON, naming the host of the request', async () => {
    const { port } = new URL(service.url);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      const answer = await get('/openapi.json', { host });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json');
      expect((answer.body as Document).servers).toEqual([{ url: `http://${host}` }]);
    }
    expect((await get('/openapi.json', { host: 'evil.example' })).status).toBe(403);
    expect((await get('/openapi.json', { origin: 'https://evil.example' })).status).toBe(403);
  });

  test('has every operation, each with a sentence of its own, under a resource', () => {
    const paths = [...operations.byPath.keys()].map((path) => `/public/v1/${path}`);
    const beside = ['stream/activities', 'discovery/keys', 'discovery/webhooks/jwks'];
    expect(Object.keys(document.paths).sort()).toEqual(
      [...paths, ...beside.map((path) => `/public/v1/${path}`)].sort(),
    );
    const said = [...operations.byPath.keys()].map((path) => describedAs(path));
    for (const { operationId, description, tags } of said) {
      expect(description, operationId).toMatch(/^[A-Z].*\.$/);
      expect(tags, operationId).toHaveLength(1);
    }
    expect(new Set(said.map(({ description }) => description)).size).toBe(said.length);
    expect(new Set(said.map(({ operationId }) => operationId)).size).toBe(said.length);
    // A session that may only read asks queries, and nothing else.
    const withSession = [...operations.byPath.keys()].filter((path) =>
      describedAs(path).security?.some((one) => 'readOnlySession' in one),
    );
    expect(withSession).toEqual([...operations.byPath.keys()].filter((path) => path.startsWith('query/')));
  });

  test('has the stream of activities, whose answer is not JSON, and its refusals', async () => {
    const { requestBody, responses } = describedAs('stream/activities');
    expect(requestBody.content['application/json'].schema).toMatchObject({ required: ['organizationId'] });
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '401', '429']));
    expect(responses['200']).toHaveProperty(['content', 'text/event-stream']);
    const refused = await send(service.url, {
      path: '/public/v1/stream/activities',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ organizationId: service.organizationId }),
    });
    expect(refused.status).toBe(401);
    expect(checkerOf(document).answer('stream/activities', 401, refused.body)).toEqual([]);
  });

  test('has every type of every activity, and of no other', () => {
    for (const [path, operation] of operations.byPath) {
      if (operation.kind !== 'activity') continue;
      const { schema } = describedAs(path).requestBody.content['application/json'];
      const references = (schema['oneOf'] ?? [schema]) as readonly { readonly $ref: string }[];
      const types = references.map(({ $ref }) => {
        const { properties } = document.components.schemas[$ref.split('/').at(-1) ?? ''] as {
          properties: { type: { const: string } };
        };
        return properties.type.const;
      });
      expect(types, path).toEqual(operation.versions.map(({ type }) => type));
    }
  });

  test('leads nowhere by no reference, and describes no value as just anything', () => {
    const references: string[] = [];
    const anything: string[] = [];
    const walk = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const schema = value as Json;
      if (typeof schema['$ref'] === 'string') references.push(schema['$ref']);
      // Lists that are always empty have elements that are not anything, and some parameters have no members.
      if (Object.keys(schema).length === 0 && !/[/](not|properties)$/.test(at)) anything.push(at);
      for (const [name, inner] of Object.entries(schema)) {
        for (const part of Array.isArray(inner) ? (inner as unknown[]) : [inner]) walk(part, `${at}/${name}`);
      }
    };
    walk(document.components, '');
    walk(document.paths, '');
    expect(anything).toEqual([]);
    expect(references.length).toBeGreaterThan(300);
    for (const reference of new Set(references)) {
      const [, , section = '', name = ''] = reference.split('/');
      const found = (document.components as Json)[section];
      expect(Object.hasOwn(Object(found) as Json, name), reference).toBe(true);
    }
  });

  test('has requests as they are sent, before defaults and other forms', () => {
    const { CreateUsersIntentV3, UpdateUserEmailIntent } = document.components.schemas;
    const users = (CreateUsersIntentV3 as { properties: { users: { items: Json } } }).properties.users.items;
    expect(users['required']).toEqual(['userName', 'apiKeys', 'authenticators', 'userTags']);
    expect(UpdateUserEmailIntent).toMatchObject({
      properties: { userEmail: { anyOf: [{ const: '' }, { format: 'email' }] } },
      required: ['userId', 'userEmail'],
    });
  });

  test('has the errors by their HTTP status, with the codes that they may have', async () => {
    const byStatus = Map.groupBy(Object.values(errorCodes), ({ http }) => http as number);
    const check = checkerOf(document);
    for (const [status, codes] of byStatus) {
      const reference = describedAs('submit/create_users').responses[String(status)]?.$ref;
      // Those of a wrong method and of an unknown path.
      if ([405, 501].includes(status)) {
        expect(reference).toBeUndefined();
        continue;
      }
      expect(reference, String(status)).toBe(`#/components/responses/Refusal${String(status)}`);
      const found = codes.map(({ grpc }) => check.answer('submit/create_users', status, errorOf(grpc)));
      expect(found.flat(), String(status)).toEqual([]);
      expect(check.answer('submit/create_users', status, errorOf(2))).not.toEqual([]);
    }
    const wallet = await newWallet(service.root, 'Wallet');
    const { client: stranger } = await service.newUser('Stranger');
    const refused: readonly (readonly [string, number, Promise<Answer>])[] = [
      ['query/get_wallet', 400, service.root.query('get_wallet', {})],
      ['query/get_wallet', 401, service.root.as(newTestKey()).query('get_wallet', wallet)],
      ['query/get_wallet', 404, service.root.query('get_wallet', { walletId: crypto.randomUUID() })],
      [
        'submit/create_wallet',
        403,
        stranger.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Not theirs', accounts: [] }),
      ],
      [
        'submit/create_wallet',
        409,
        service.root.submit('create_wallet', 'CREATE_WALLET', {
          walletName: 'Twice',
          accounts: [ethereumAccount, ethereumAccount],
        }),
      ],
    ];
    for (const [path, status, asked] of refused) {
      const answer = await asked;
      expect(answer.status, answer.text).toBe(status);
      expect(check.answer(path, status, answer.body), answer.text).toEqual([]);
    }
  });

  test('tells the most elements that a list may have', async () => {
    const most = [...JSON.stringify(document).matchAll(/"maxItems":(\d+)/g)].map(([, count]) =>
      Number(count),
    );
    const longest = Math.max(...most);
    const { description } = document['info'] as { readonly description: string };
    expect(description).toContain(`A list has at most ${String(longest)} elements`);
    const wallet = (count: number): Promise<Answer> =>
      service.root.submit('create_wallet', 'CREATE_WALLET', {
        walletName: `With ${String(count)}`,
        accounts: Array.from({ length: count }, (_, index) => ({
          ...ethereumAccount,
          path: `m/${String(index)}`,
        })),
      });
    expect((await wallet(longest)).status).toBe(200);
    expect((await wallet(longest + 1)).status).toBe(400);
  });

  test('is not met by answers that lack something, or hold something else', async () => {
    const check = checkerOf(document);
    const { walletId } = await newWallet(service.root, 'Another');
    const { body = {} } = await service.root.query('get_wallet', { walletId });
    const wallet = body['wallet'] as Json;
    expect(check.answer('query/get_wallet', 200, body)).toEqual([]);
    for (const wrong of [
      { ...wallet, walletName: undefined },
      { ...wallet, exported: 'no' },
      { ...wallet, walletId: 'one' },
      { ...wallet, seed: 'words' },
    ]) {
      expect(check.answer('query/get_wallet', 200, { ...body, wallet: wrong })).not.toEqual([]);
    }
    const signing = { type: 'ACTIVITY_TYPE_CREATE_WALLET', timestampMs: '1', organizationId: walletId };
    const parameters = { walletName: 'x', accounts: [] };
    expect(check.request('submit/create_wallet', { ...signing, parameters })).toEqual([]);
    expect(check.request('submit/create_wallet', { ...signing, parameters: {} })).not.toEqual([]);
    expect(check.request('submit/create_wallet', { ...signing, type: 'x', parameters })).not.toEqual([]);
  });
});

test('two schemas of one name are an error', () => {
  const [user, wallet] = ['query/get_user', 'query/get_wallet'].map((path) => operations.byPath.get(path));
  if (user === undefined || wallet === undefined) throw new Error('there is no get_user, or no get_wallet');
  const again = { ...user, returns: wallet.returns };
  const twice = toOperations([{ name: 'Twice', about: '', operations: [user, again] }]);
  expect(() => describeApi(twice, '0')).toThrow('two schemas are called GetUserResult');
});

describe('/docs/api', () => {
  test('is a page with a fresh nonce and a policy of its own', async () => {
    const loads = await Promise.all([1, 2, 3].map(() => get('/docs/api')));
    const nonces = loads.map(({ status, headers, text }) => {
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
      const [nonce = ''] = new Set([...text.matchAll(/nonce="([^"]+)"/g)].map(([, found]) => found));
      expect(headers['content-security-policy']).toBe(referencePolicy(nonce));
      expect(text).not.toMatch(/(src|href)="(?!\/docs\/api\/|data:,")/);
      return nonce;
    });
    expect(new Set(nonces).size).toBe(3);
  });

  test('has its code from this port', async () => {
    const { status, headers, text } = await get('/docs/api/scalar.js');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/javascript/);
    expect(text.length).toBeGreaterThan(1_000_000);
  });

  test('is only read, and has nothing beside it', async () => {
    expect((await send(service.url, { path: '/docs/api' })).status).toBe(404);
    for (const path of [
      '/docs/api/..%2f..%2fpackage.json',
      '/docs/api/%2e%2e/main/cli.js',
      '/docs/api/other.js',
    ]) {
      expect((await get(path)).status, path).toBe(404);
    }
    expect((await get('/docs/api', { host: 'evil.example' })).status).toBe(403);
  });
});

const errorOf = (code: number): Json => ({
  code,
  message: 'message',
  details: [{ '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail', turnkeyErrorCode: 'X' }],
  turnkeyErrorCode: 'X',
});

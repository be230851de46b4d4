/** Whatever is wrong with a request's body, it is refused by name, and the vault is as it was before. */
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from '../../main/lib/parse.ts';
import { parseJson } from '../../main/http/json-body.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { readByTheLanguage } from '../../main/lib/plain-json.ts';
import { requestLimits } from '../../main/lib/published-limits.ts';
import { operations } from '../../main/operations/index.ts';
import {
  badBody,
  faultKinds,
  fieldNames,
  goodBodies,
  hostileBody,
  posingBodies,
  targets,
} from './bad-bodies.ts';
import { atLength } from '../campaigns/length.ts';
import type { Answer, Json, TestVault } from '../support/support.ts';
import { refuseForeignWords } from '../support/foreign-words.ts';
import { startTestVault } from '../support/support.ts';

/** `KEYHEARTH_BAD_BODIES=1000000` tries more of them, `KEYHEARTH_BAD_BODIES_SEED` others. */
const bodies = Number(process.env['KEYHEARTH_BAD_BODIES'] ?? atLength(4_000, 10_000));

// Every run tries the same bodies; another seed tries others.
const seed = Number(process.env['KEYHEARTH_BAD_BODIES_SEED'] ?? 2026);

let service: TestVault;

beforeAll(async () => {
  service = await startTestVault();
  // It writes by the clock, whatever is asked.
  service.vault.lastUses.stop();
  service.vault.lastKeyUses.stop();
  // The webhook key is written after the vault itself.
  await vi.waitFor(() => {
    const made = "SELECT 1 FROM server_keys WHERE name = 'webhooks'";
    expect(service.vault.connection.get(made)).toBeDefined();
  });
});
afterAll(async () => {
  agent.destroy();
  await service[Symbol.asyncDispose]();
});

// Ten thousand connections would take longer than what is sent over them.
const agent = new Agent({ keepAlive: true });

/** Posts bytes, stamped by the root user. */
async function post({ url, key }: TestVault, path: string, bytes: Uint8Array): Promise<Answer> {
  const request = httpRequest(`${url}/public/v1/${path}`, {
    agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': String(bytes.length),
      'x-stamp': key.stamp(bytes),
    },
  });
  request.end(bytes);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const text = await readText(response);
  if (response.statusCode !== 200) refuseForeignWords(path, String((JSON.parse(text) as Json)['message']));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    body: JSON.parse(text) as Json,
  };
}

/** Counts every row that was ever inserted, changed or deleted, also where it was undone. */
const changes = ({ vault: { connection } }: TestVault): number =>
  connection.get<{ count: number }>('SELECT total_changes() AS count')?.count ?? NaN;

/** The contents of every table. */
function contents({ vault: { connection } }: TestVault): Json {
  const tables = connection.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  return Object.fromEntries(tables.map(({ name }) => [name, connection.all(`SELECT * FROM ${name}`)]));
}

const someError = {
  code: expect.any(Number) as number,
  message: expect.any(String) as string,
  details: expect.any(Array) as unknown[],
  turnkeyErrorCode: expect.any(String) as string,
};

/** An error as clients read one, whose message fits a line of a log. */
function expectError(vault: TestVault, { status, headers, body }: Answer): string {
  // A fault is the vault's own, and what it was is not in the answer.
  expect(vault.faults.splice(0)).toEqual([]);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(headers['content-type']).toBe('application/json');
  expect(body).toEqual(someError);
  const { message, details, turnkeyErrorCode } = body as typeof someError;
  expect(turnkeyErrorCode).toMatch(/^[A-Z_]+$/);
  expect(details.at(-1)).toEqual({
    '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail',
    turnkeyErrorCode,
  });
  expect(message).toMatch(/^.{1,2000}$/);
  expect(message).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
  return message;
}

describe('a bad body is refused by name, and nothing is written', () => {
  const each = Math.ceil(bodies / targets.length);
  const tried = new Map<string, number>();
  let before: Json;

  beforeAll(() => {
    before = contents(service);
  });

  test('a valid body can be built for every operation', () => {
    for (const target of targets) expect(goodBodies(target, service.organizationId)).not.toHaveLength(0);
    expect(new Set(targets.map(({ path }) => path))).toEqual(new Set(operations.byPath.keys()));
  });

  test.each(targets)('$name', async (target) => {
    await fc.assert(
      fc.asyncProperty(badBody(target, service.organizationId), async (bad) => {
        const unchanged = changes(service);
        const answer = await post(service, target.path, bad.bytes);
        const message = expectError(service, answer);
        expect(
          bad.names.some((name) => message.includes(name)),
          `${message}: names one of ${bad.names.join(', ')}`,
        ).toBe(true);
        expect(changes(service), 'a row was written').toBe(unchanged);
        tried.set('bodies', (tried.get('bodies') ?? 0) + 1);
        for (const kind of bad.kinds) tried.set(kind, (tried.get(kind) ?? 0) + 1);
      }),
      { seed, numRuns: each },
    );
  });

  test('all of them, of every kind', () => {
    const { bodies: count = 0, ...kinds } = Object.fromEntries(tried);
    console.log(
      `${count.toLocaleString('en')} bad bodies over ${String(targets.length)} activity types and queries: ${JSON.stringify(kinds)}`,
    );
    expect(count).toBeGreaterThanOrEqual(bodies);
    expect(Object.keys(kinds).sort()).toEqual([...faultKinds].sort());
    expect(contents(service)).toEqual(before);
  });
});

test.each([...operations.byPath.keys()])('no bytes at all are too much for %s', async (path) => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(anything, async (bytes) => {
      const unchanged = changes(service);
      expectError(service, await post(service, path, bytes));
      expect(changes(service), 'a row was written').toBe(unchanged);
    }),
    { seed, numRuns: 25 },
  );
});

describe('no member of an object poses as what the language or a library reads', () => {
  test.each(targets)('$name', (target) => {
    for (const bytes of posingBodies(target, service.organizationId)) {
      const body = parseJson(bytes) as Json;
      const params = target.type === undefined ? body : body['parameters'];
      try {
        parse(target.params, params);
      } catch (error) {
        expect(error, bytes.toString()).toBeInstanceOf(KeyhearthError);
      }
    }
  });

  test('they are left out of a body as what no schema knows, and no field of the API is called so', () => {
    const members = readByTheLanguage.map((name) => `"${name}":{"toString":[]}`).join();
    const posing = `{${members},"more":[{${members},"kept":1}]}`;
    expect(parseJson(Buffer.from(posing))).toEqual({ more: [{ kept: 1 }] });
    const names = new Set(targets.flatMap((target) => fieldNames(target)));
    expect(names).toContain('organizationId');
    expect(readByTheLanguage.filter((name) => names.has(name))).toEqual([]);
  });
});

test('a request that is explained is read as one that is sent', async () => {
  const explained = (requestBody: string) => service.root.query('explain_policies', { requestBody });
  const wallet = (name: string): string =>
    `{"type":"ACTIVITY_TYPE_CREATE_WALLET","parameters":{"walletName":${name},"accounts":[]}}`;
  const posing = await explained(wallet('{"length":{"toString":1}}'));
  expect(expectError(service, posing)).toBe(
    'invalid requestBody.parameters.walletName: expected a string, got {}',
  );
  const many = await explained(wallet(`[${'0,'.repeat(requestLimits.values)}0]`));
  expect(expectError(service, many)).toMatch(/^invalid requestBody: expected at most 15,000 values/);
});

describe('a body with more values than one may have is refused before it is parsed', () => {
  const { values } = requestLimits;
  const tooMany = /^request body has too many values: at most 15,000/;
  const around = (more: string): Buffer =>
    Buffer.from(`{"organizationId":"${service.organizationId}","more":${more}}`);
  // The body itself, its organization and the list are three.
  const lists = {
    'nested lists': (count: number) => `${'['.repeat(count - 3)}${']'.repeat(count - 3)}`,
    numbers: (count: number) =>
      `[${Array<string>(count - 3)
        .fill('1')
        .join()}]`,
    'empty texts': (count: number) =>
      `[${Array<string>(count - 3)
        .fill('""')
        .join()}]`,
    members: (count: number) =>
      `{${Array.from({ length: count - 3 }, (_, index) => `"${String(index)}":0`).join()}}`,
  };

  test.each(Object.entries(lists))('%s', async (_, list) => {
    const unchanged = changes(service);
    const taken = await post(service, 'query/whoami', around(list(values)));
    expect(taken.status).toBe(200);
    expect(taken.body?.['username']).toBe('Root');
    const refused = await post(service, 'query/whoami', around(list(values + 1)));
    expect(refused.status).toBe(413);
    expect(expectError(service, refused)).toMatch(tooMany);
    expect(changes(service), 'a row was written').toBe(unchanged);
  });

  test('as deep as bytes go', async () => {
    const levels = 2_097_000;
    const deep = around(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(expectError(service, await post(service, 'query/whoami', deep))).toMatch(tooMany);
  });

  test('commas and brackets of a text do not count as values', async () => {
    const text = JSON.stringify('[{,"\\'.repeat(values));
    expect((await post(service, 'query/whoami', around(text))).status).toBe(200);
    expect((await post(service, 'query/whoami', around(`[${text},"${',\\"'.repeat(values)}"]`))).status).toBe(
      200,
    );
  });

  test('nesting below the bound is refused where it does not belong', async () => {
    const levels = values - 10;
    const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const body = service.root.submitBody('UPDATE_ORGANIZATION_NAME', { organizationName: 'Deep' });
    const answer = await post(
      service,
      'submit/update_organization_name',
      Buffer.from(body.replace('"Deep"', deep)),
    );
    expect(expectError(service, answer)).toBe(
      `invalid parameters.organizationName: expected a string, got ${'['.repeat(77)}...`,
    );
  });
});

describe('strange texts in a body of the right form are taken or refused, and never a fault', () => {
  let playground: TestVault;

  beforeAll(async () => {
    playground = await startTestVault();
  });
  afterAll(() => playground[Symbol.asyncDispose]());

  test.each(targets)('$name', async (target) => {
    await fc.assert(
      fc.asyncProperty(hostileBody(target, playground.organizationId), async (text) => {
        const answer = await post(playground, target.path, Buffer.from(text));
        if (answer.status !== 200) expectError(playground, answer);
      }),
      { seed, numRuns: 25 },
    );
  });
});

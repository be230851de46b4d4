/**
 * The vendor's SDKs call every operation. What they send and what they are answered is what the API's description says: the
 * description is held against other people's requests, and against real answers.
 */
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient } from '@turnkey/http';
import { Turnkey } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkerOf } from '../support/api-document.ts';
import type { Checker } from '../support/api-document.ts';
import { lacked, sdkCalls, setScene } from './sdk-calls.ts';
import type { Scene, SdkCall } from './sdk-calls.ts';
import { send } from '../support/support.ts';
import type { Json } from '../support/support.ts';
import { keptVendorOperations, taken } from './vendor-operations.ts';

/** A client's request and its answer. */
interface Exchange {
  readonly url: string;
  readonly body: unknown;
  readonly answer: unknown;
}

/** A client of either SDK: its methods, over one that posts. */
type Client = Record<string, (input: Json) => Promise<Json>> & {
  request: (url: string, body: Json) => Promise<Json>;
};

interface Sdk {
  readonly name: string;
  readonly open: (scene: Scene) => unknown;
  /** The input of a method: @turnkey/http expects the envelope, @turnkey/sdk-server builds it. */
  readonly input: (call: SdkCall, parameters: Json, scene: Scene) => Json;
  /** A query's resource or an activity's result, with the activity beside it. */
  readonly flat: (answer: Json) => Json;
}

const newestTypes = new Map(keptVendorOperations().operations.map(({ path, type }) => [path, type]));

const sdks: readonly Sdk[] = [
  {
    name: '@turnkey/http',
    open: ({ service: { url, key } }) =>
      new TurnkeyClient({ baseUrl: url }, new ApiKeyStamper(credentials(key))),
    input({ path }, { organizationId: named, ...parameters }, { service: { organizationId: own, root } }) {
      const type = newestTypes.get(path);
      const organizationId = named ?? own;
      if (type == null) return { organizationId, ...parameters };
      return { type, organizationId, timestampMs: String(root.nextTimestamp()), parameters };
    },
    flat(answer) {
      const activity = answer['activity'] as { readonly result: Json };
      const [result] = Object.values(activity.result);
      return { ...answer, ...(result as Json) };
    },
  },
  {
    name: '@turnkey/sdk-server',
    open: ({ service: { url, key, organizationId } }) =>
      new Turnkey({
        apiBaseUrl: url,
        ...credentials(key),
        defaultOrganizationId: organizationId,
      }).apiClient(),
    input: (_call, parameters) => parameters,
    flat: (answer) => answer,
  },
];

const credentials = (key: { readonly publicKey: string; readonly privateKey: string }) => ({
  apiPublicKey: key.publicKey,
  apiPrivateKey: key.privateKey,
});

test('there is a call for every operation that the SDKs know', () => {
  const vendor = new Map(keptVendorOperations().operations.map(({ path, method }) => [path, method]));
  expect(sdkCalls.map(({ path }) => path).sort()).toEqual([...taken.keys()].sort());
  for (const { path, method } of sdkCalls) expect(method).toBe(vendor.get(path));
});

describe.each(sdks)('$name', ({ open, input, flat }) => {
  let scene: Scene & AsyncDisposable;
  let client: Client;
  let checker: Checker;
  const exchanges: Exchange[] = [];

  beforeAll(async () => {
    scene = await setScene();
    client = open(scene) as Client;
    const post = client.request.bind(client);
    client.request = async (url, body) => {
      const answer = await post(url, body);
      exchanges.push({ url, body, answer });
      return answer;
    };
    const { body } = await send(scene.service.url, { method: 'GET', path: '/openapi.json' });
    checker = checkerOf(body ?? {});
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test.each(sdkCalls)('$method', async (call) => {
    const method = client[call.method];
    if (method === undefined) {
      expect(lacked).toContain(call.method);
      return;
    }
    const parameters = (await call.parameters(scene)) as unknown as Json;
    exchanges.length = 0;
    const answer = flat(await method(input(call, parameters, scene)));
    const [exchange] = exchanges;
    expect(exchanges).toHaveLength(1);
    expect(exchange?.url).toBe(`/public/v1/${call.path}`);
    expect(checker.request(call.path, exchange?.body)).toEqual([]);
    expect(checker.answer(call.path, 200, exchange?.answer)).toEqual([]);
    const keep = call.keep as ((answer: Json) => Record<string, string | undefined>) | undefined;
    for (const [what, id] of Object.entries(keep?.(answer) ?? {})) {
      expect(id, what).toBeTypeOf('string');
      scene.kept.set(what as Parameters<Scene['id']>[0], id ?? '');
    }
  });
});

/** A passkey of a real browser's, made and used on the service's own page, through the SDK's own code. */
import { join } from 'node:path';
import { build } from 'vite';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { CommandProcess, ethereumAccount, resultOf, TestClient, testKeyOf } from '../../support/support.ts';
import type { Json } from '../../support/support.ts';
import { authenticatorsOf } from '../support/authenticator.ts';
import { sharedChromium, openWindow } from '../support/chromium.ts';
import type * as sdk from '../support/passkey-page.ts';

let browser: Browser;
/** `passkey-page.ts` and what it takes from the SDK, as one script. */
let script: string;

beforeAll(async () => {
  browser = await sharedChromium();
  script = await bundle();
});

async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      minify: false,
      lib: { entry: join(import.meta.dirname, '../support/passkey-page.ts'), formats: ['iife'], name: 'sdk' },
    },
  });
  const [output] = [built].flat();
  if (output === undefined || !('output' in output)) throw new Error('expected the bundle itself');
  return output.output[0].code;
}

interface Line {
  readonly url: string;
  readonly organizationId: string;
  readonly rootUserId: string;
  readonly apiPublicKey: string;
  readonly apiPrivateKey: string;
}

interface Place extends AsyncDisposable {
  readonly page: Page;
  readonly root: TestClient;
  readonly rootUserId: string;
  readonly complaints: readonly string[];
}

/** A page of the service at `http://localhost`, in a browser with an authenticator that is always there. */
async function openPlace(authenticator: Json = {}): Promise<Place> {
  await using resources = new AsyncDisposableStack();
  const service = resources.use(new CommandProcess(['dev', '--ui', '--port', '0', '--json']));
  const line = JSON.parse(await service.nextLine()) as Line;
  const { page, complaints } = resources.use(await openWindow(browser));
  await (await authenticatorsOf(page)).add(authenticator);
  await page.goto(`http://localhost:${new URL(line.url).port}/`);
  await page.evaluate(`${script}; globalThis.sdk = sdk;`);
  const owned = resources.move();
  return {
    page,
    complaints,
    root: new TestClient(line.url, line.organizationId, testKeyOf(line.apiPrivateKey, line.apiPublicKey)),
    rootUserId: line.rootUserId,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

// Run in the page: they may use nothing from around them.
type WithSdk = typeof globalThis & { readonly sdk: typeof sdk };
const makePasskey = ([rpId, conveyance]: readonly [string, AttestationConveyancePreference]): Promise<Json> =>
  (globalThis as WithSdk).sdk.makePasskey(rpId, conveyance);
const ask = ([organizationId, credentialId]: readonly string[]): Promise<Json> =>
  (globalThis as WithSdk).sdk.whoami(organizationId ?? '', credentialId ?? '');
const work = ([organizationId, credentialId, account]: readonly [
  string,
  string,
  typeof ethereumAccount,
]): Promise<Json> => (globalThis as WithSdk).sdk.makeWalletAndSign(organizationId, credentialId, account);

describe.each([
  ['a passkey of the computer', {}, 'none', 'none', 'Passkey'],
  ['a passkey of the computer, attested', {}, 'direct', 'packed', 'Passkey'],
  ['a security key', { transport: 'usb', hasResidentKey: false }, 'direct', 'packed', 'Security key'],
  [
    'an old security key',
    {
      protocol: 'u2f',
      transport: 'usb',
      hasResidentKey: false,
      hasUserVerification: false,
      isUserVerified: false,
    },
    'direct',
    'fido-u2f',
    'Security key',
  ],
] as const)('%s', (_, authenticator, conveyance, format, model) => {
  test("is created, registered, and stamps the SDK's requests", async () => {
    await using place = await openPlace(authenticator);
    const { page, root, rootUserId } = place;
    const params = await page.evaluate(makePasskey, ['localhost', conveyance] as const);
    const answer = await root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
      userId: rootUserId,
      authenticators: [params],
    });
    expect(resultOf(answer)['authenticatorIds']).toHaveLength(1);
    const { body } = await root.query('get_authenticators', { userId: rootUserId });
    const { credentialId } = params['attestation'] as { credentialId: string };
    expect(body).toMatchObject({ authenticators: [{ credentialId, attestationType: format, model }] });

    // Twice, since an authenticator counts.
    for (let time = 0; time < 2; time++) {
      expect(await page.evaluate(ask, [root.organizationId, credentialId])).toMatchObject({
        organizationId: root.organizationId,
        userId: rootUserId,
      });
    }
    const signature = await page.evaluate(work, [
      root.organizationId,
      credentialId,
      ethereumAccount,
    ] as const);
    expect(signature).toMatchObject({
      r: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      s: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect(place.complaints).toEqual([]);
  });
});

test('an unknown passkey gets an error that says so', async () => {
  await using place = await openPlace();
  const { page, root } = place;
  const params = await page.evaluate(makePasskey, ['localhost', 'none'] as const);
  const { credentialId } = params['attestation'] as { credentialId: string };
  await expect(page.evaluate(ask, [root.organizationId, credentialId])).rejects.toThrow(
    'Turnkey error 16: credential ID could not be found in organization or its parent organization',
  );
});

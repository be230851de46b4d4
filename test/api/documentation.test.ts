/** The documentation on the port: readable by everyone who may speak to it, in any state of the vault, and nothing more. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pages } from '../../docs/pages.ts';
import { documentationPolicy } from '../../main/lib/web/content-security-policy.ts';
import { send, startTestVault, type Answer, type TestVault } from '../support/support.ts';

let service: TestVault;

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(service.url, { method: 'GET', path, headers });

beforeAll(async () => {
  service = await startTestVault({ config: { ui: true } });
  await service.vault.rpc.lock();
});
afterAll(() => service[Symbol.asyncDispose]());

test('serves every page and its text while the vault is locked, and lets a page load nothing but styles and pictures', async () => {
  expect(await get('/docs')).toMatchObject({ status: 302, headers: { location: '/docs/' } });
  for (const { path, title } of pages) {
    const { status, headers, text } = await get(`/docs/${path}.html`);
    expect(status, path).toBe(200);
    expect(text).toContain(`<title>${title} · Keyhearth</title>`);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': documentationPolicy,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect((await get(`/docs/${path}`)).text).toBe(text);
    expect((await get(`/docs/${path}.md`)).text).toMatch(new RegExp(`^# ${title}\n`));
  }
  expect((await get('/docs/')).text).toContain('href="start.html"');
});

test('serves the same to programs at /llms.txt', async () => {
  const [short, full] = [await get('/llms.txt'), await get('/llms-full.txt')];
  for (const { headers } of [short, full]) expect(headers['content-type']).toMatch(/^text\/plain/);
  const addresses = [...short.text.matchAll(/\]\((\S+)\)/g)].map(([, address = '']) => address);
  expect(addresses).toEqual(pages.map(({ path }) => `docs/${path}.md`));
  for (const address of addresses) {
    const { status, text } = await get(`/${address}`);
    expect(status, address).toBe(200);
    expect(full.text).toContain(text);
  }
});

test('answers no other host, no other method, and no path outside', async () => {
  const paths = ['/docs/', '/docs/start.html', '/llms.txt', '/llms-full.txt'];
  for (const path of paths) {
    expect((await get(path, { host: 'evil.example' })).status, path).toBe(403);
    expect((await get(path, { origin: 'https://evil.example' })).status, path).toBe(403);
    expect((await send(service.url, { path })).status, path).toBe(404);
  }
  for (const path of [
    ...['/docs/none.html', '/docs/..%2f..%2fpackage.json', '/docs/%2e%2e/main/cli.js', '/docs/.%2e/.built'],
    ...['/docs/start.html/', '/docs/%00', '/docs/.built'],
  ]) {
    const { status, text } = await get(path);
    expect([400, 404], path).toContain(status);
    expect(text).not.toContain('<html');
  }
});

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

vi.mock('electron', () => import('./fake-electron.ts'));

const { becomeReady, machine, protocol } = await import('./fake-electron.ts');
const { registerScheme, serveScheme } = await import('../../main/desktop/scheme.ts');

const html = '<meta property="csp-nonce" nonce="__CSP_NONCE__"><script nonce="__CSP_NONCE__"></script>';
let root: string;
let directory: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'keyhearth-scheme-'));
  directory = join(root, 'renderer');
  await mkdir(join(directory, 'assets'), { recursive: true });
  await writeFile(join(root, 'secret.txt'), 'secret');
  await writeFile(join(directory, 'index.html'), html);
  await writeFile(join(directory, 'assets/index-1.js'), 'export {};');
  await writeFile(join(directory, 'assets/index-1.css'), ':root {}');
  await writeFile(join(directory, 'assets/index-1.js.map'), '{}');
  await symlink(join(root, 'secret.txt'), join(directory, 'link.txt'));
  registerScheme();
  becomeReady();
});

afterAll(async () => {
  await rm(root, { recursive: true });
});

afterEach(() => {
  protocol.unhandle('keyhearth');
});

test('the scheme is registered as a standard, secure one that bypasses nothing', () => {
  expect(machine.schemes).toEqual([
    { scheme: 'keyhearth', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
});

describe('the page', () => {
  test('carries a nonce in its policy and in its text, fresh for each load', async () => {
    await serveScheme(directory);
    const nonces = new Set<string>();
    for (let load = 0; load < 3; load += 1) {
      const response = await protocol.request('keyhearth://app/');
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const policy = response.headers.get('content-security-policy') ?? '';
      const [, nonce = ''] = /script-src 'self' 'nonce-([^']+)'/.exec(policy) ?? [];
      expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
      expect(policy).toContain("connect-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(await response.text()).toBe(html.replaceAll('__CSP_NONCE__', nonce));
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
  });

  test('is the same with a fragment', async () => {
    await serveScheme(directory);
    expect((await protocol.request('keyhearth://app/#/wallets')).status).toBe(200);
  });

  test('is not served without a place for the nonce', async () => {
    const bare = join(root, 'bare');
    await mkdir(bare);
    await writeFile(join(bare, 'index.html'), '<!doctype html>');
    await expect(serveScheme(bare)).rejects.toThrow(/expected the text __CSP_NONCE__/);
  });

  test('is missing with a clear error', async () => {
    await expect(serveScheme(join(root, 'nowhere'))).rejects.toThrow(/nowhere/);
  });
});

describe('files', () => {
  test.each([
    ['keyhearth://app/assets/index-1.js', 'text/javascript; charset=utf-8', 'export {};'],
    ['keyhearth://app/assets/index-1.css', 'text/css; charset=utf-8', ':root {}'],
  ])('%s is served as %s', async (url, type, text) => {
    await serveScheme(directory);
    const response = await protocol.request(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe(text);
  });

  test.each([
    'keyhearth://app/../secret.txt',
    'keyhearth://app/%2e%2e/secret.txt',
    'keyhearth://app/..%2fsecret.txt',
    'keyhearth://app/assets/..%2f..%2f..%2fsecret.txt',
    'keyhearth://app/..%5csecret.txt',
    'keyhearth://app//secret.txt',
    'keyhearth://app/link.txt',
    'keyhearth://app/assets',
    'keyhearth://app/assets/',
    'keyhearth://app/assets/index-1.js.map',
    'keyhearth://app/assets/index-1.js%00',
    'keyhearth://app/index.html',
    'keyhearth://app/wallets',
    'keyhearth://other/',
    'keyhearth://app.example/',
    'keyhearth://app/__proto__',
    'keyhearth://app/constructor',
  ])('%s is not there', async (url) => {
    await serveScheme(directory);
    const response = await protocol.request(url);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('404\n');
  });

  test('made after the start are not there', async () => {
    await serveScheme(directory);
    await writeFile(join(directory, 'late.js'), '');
    expect((await protocol.request('keyhearth://app/late.js')).status).toBe(404);
    await rm(join(directory, 'late.js'));
  });

  test('removed after the start are an error of the service, said without detail', async () => {
    const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await writeFile(join(directory, 'gone.js'), '');
    await serveScheme(directory);
    await rm(join(directory, 'gone.js'));
    const response = await protocol.request('keyhearth://app/gone.js');
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('500\n');
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  test('are only read', async () => {
    await serveScheme(directory);
    expect((await protocol.request('keyhearth://app/', { method: 'POST', body: '' })).status).toBe(405);
  });
});

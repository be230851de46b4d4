import type { Request, Response } from 'express';
import { describe, expect, test } from 'vitest';
import { checkHost, checkOrigin, type OriginRules } from './origins.ts';

type Headers = Record<string, string | undefined>;

/** As much of Express as the rules look at. */
function exchange(headers: Headers, localPort: number, method = 'POST') {
  const given: Record<string, unknown> = {};
  let status: number | undefined;
  let passed = false;
  const response = {
    setHeader: (name: string, value: unknown) => {
      given[name] = value;
    },
    writeHead: (code: number) => {
      status = code;
      return { end: () => undefined };
    },
  };
  return {
    request: { headers, method, socket: { localPort } } as unknown as Request,
    response: response as unknown as Response,
    next: () => {
      passed = true;
    },
    outcome: () => ({ passed, status, given }),
  };
}

function passesHost(host: string | undefined, port = 7377, others: readonly string[] = []): boolean {
  const { request, response, next, outcome } = exchange({ host }, port);
  try {
    checkHost(others)(request, response, next);
  } catch (error) {
    expect(error).toMatchObject({ code: 'PERMISSION_DENIED' });
  }
  return outcome().passed;
}

describe('checkHost', () => {
  test.each(['localhost:7377', '127.0.0.1:7377', '[::1]:7377', 'LOCALHOST:7377'])('lets in %s', (host) => {
    expect(passesHost(host)).toBe(true);
  });

  test.each([
    undefined,
    '',
    'localhost',
    'localhost:',
    'localhost:73770',
    'localhost:07377',
    'localhost:7377 ',
    'localhost.:7377',
    'a.localhost:7377',
    '127.0.0.1.evil.com:7377',
    '127.1:7377',
    '::1:7377',
    '[::]:7377',
    '0.0.0.0:7377',
    'evil.com:7377',
    'localhost:7377@evil.com',
    'evil.com#localhost:7377',
  ])('refuses %j', (host) => {
    expect(passesHost(host)).toBe(false);
  });

  test('lets in the names that are given, and nothing that only looks like them', () => {
    const others = ['vault', 'localhost:8080', '[fd00::1]'];
    for (const host of ['vault:7377', 'VAULT:7377', 'localhost:8080', '[fd00::1]:7377', 'localhost:7377']) {
      expect(passesHost(host, 7377, others), host).toBe(true);
    }
    for (const host of [
      'vault',
      'vault:8080',
      'vault.evil.com:7377',
      'evil.vault:7377',
      '127.0.0.1:8080',
      '[fd00::1]',
    ]) {
      expect(passesHost(host, 7377, others), host).toBe(false);
    }
    expect(passesHost('vault', 80, others)).toBe(true);
  });

  test('needs no port on port 80 alone', () => {
    expect(passesHost('localhost', 80)).toBe(true);
    expect(passesHost('localhost:80', 80)).toBe(true);
    expect(passesHost('evil.com', 80)).toBe(false);
  });
});

const rules = (more: Partial<OriginRules> = {}): OriginRules => ({
  allowed: ['https://app.example'],
  loopback: false,
  ...more,
});

function tryOrigin(headers: Headers, more: { rules?: OriginRules; method?: string } = {}) {
  const { request, response, next, outcome } = exchange(headers, 7377, more.method);
  let refused = false;
  try {
    checkOrigin(more.rules ?? rules())(request, response, next);
  } catch (error) {
    expect(error).toMatchObject({ code: 'PERMISSION_DENIED' });
    refused = true;
  }
  return { ...outcome(), refused };
}

describe('checkOrigin', () => {
  test('lets in what no browser sent', () => {
    expect(tryOrigin({})).toEqual({ passed: true, refused: false, status: undefined, given: {} });
  });

  test.each(['same-origin', 'none'])('lets in a page’s own request without Origin: %s', (site) => {
    expect(tryOrigin({ 'sec-fetch-site': site }).passed).toBe(true);
  });

  test.each(['cross-site', 'same-site'])('refuses a foreign page’s request without Origin: %s', (site) => {
    expect(tryOrigin({ 'sec-fetch-site': site })).toMatchObject({ passed: false, refused: true });
  });

  test('lets a link from another port of this machine lead here', () => {
    const headers = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' };
    expect(tryOrigin(headers).passed).toBe(true);
  });

  test.each(['http://localhost:7377', 'http://127.0.0.1:7377', 'http://[::1]:7377'])(
    'lets in its own, without CORS: %s',
    (origin) => {
      expect(tryOrigin({ origin })).toEqual({ passed: true, refused: false, status: undefined, given: {} });
      // Its own page has no need to ask first.
      expect(tryOrigin({ origin }, { method: 'OPTIONS' })).toMatchObject({ passed: true, given: {} });
    },
  );

  test('names a paired one, and answers when it asks first', () => {
    const origin = 'https://app.example';
    expect(tryOrigin({ origin, 'sec-fetch-site': 'cross-site' })).toEqual({
      passed: true,
      refused: false,
      status: undefined,
      given: { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' },
    });
    const asked = tryOrigin({ origin }, { method: 'OPTIONS' });
    expect(asked).toMatchObject({ passed: false, refused: false, status: 204 });
    expect(Object.keys(asked.given)).toEqual(
      expect.arrayContaining(['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers']),
    );
  });

  test.each([
    '',
    'null',
    'https://evil.example',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example.evil.com',
    'https://app.example/',
    'HTTPS://APP.EXAMPLE',
    'http://localhost:3000',
    'https://localhost:7377',
  ])('refuses %j, and gives it nothing', (origin) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      expect(tryOrigin({ origin }, { method })).toEqual({
        passed: false,
        refused: true,
        status: undefined,
        given: {},
      });
    }
  });

  test.each(['http://localhost', 'http://localhost:3000', 'https://127.0.0.1:1', 'http://[::1]:5173'])(
    'lets in %s where pages of this machine are paired',
    (origin) => {
      const allowed = tryOrigin({ origin }, { rules: rules({ loopback: true }) });
      expect(allowed).toMatchObject({ passed: true, given: { 'Access-Control-Allow-Origin': origin } });
    },
  );

  test.each([
    'null',
    'http://localhost.evil.com',
    'http://evil.com:3000',
    'http://127.0.0.2:3000',
    'http://localhost:3000/x',
    'localhost:3000',
    'file://localhost',
  ])('refuses %s where pages of this machine are paired', (origin) => {
    expect(tryOrigin({ origin }, { rules: rules({ loopback: true }) }).refused).toBe(true);
  });
});

import { describe, expect, test } from 'vitest';
import { contentSecurityPolicy, referencePolicy } from './content-security-policy.ts';

const nonce = 'q83vEjRWeJASNFZ4kBI0Vg==';

describe('contentSecurityPolicy', () => {
  test('is the whole policy, with the nonce for scripts and styles only', () => {
    expect(contentSecurityPolicy(nonce, "'none'")).toBe(
      `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; ` +
        "img-src 'self' data:; connect-src 'none'; font-src 'self'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
    );
  });

  test('lets a page over HTTP reach its own origin', () => {
    expect(contentSecurityPolicy(nonce, "'self'")).toContain("; connect-src 'self';");
  });

  test.each(['', 'short', "x' *; script-src *", 'abcdefghijklmnop; a'])('refuses the nonce %j', (bad) => {
    expect(() => contentSecurityPolicy(bad, "'self'")).toThrow(
      /^nonce: expected 16 or more base64 characters/,
    );
  });
});

describe('referencePolicy', () => {
  test('runs code with the nonce alone, and lets the page send nothing', () => {
    expect(referencePolicy(nonce)).toBe(
      `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; style-src-attr 'unsafe-inline'; ` +
        "img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  test('refuses a nonce that could end it', () => {
    expect(() => referencePolicy("x' *; script-src *")).toThrow(
      /^nonce: expected 16 or more base64 characters/,
    );
  });
});

/**
 * The Content-Security-Policy (CSP level 3) that every page of the window is served with: code and styles from its own
 * origin or with this load's nonce, no frames, no forms, no plugins.
 * @param nonce Base64 or base64url, fresh for each load; the page carries the same one.
 * @param connect Where the page may send requests: nowhere over IPC, its own origin over HTTP.
 */
export function contentSecurityPolicy(nonce: string, connect: "'none'" | "'self'"): string {
  checkNonce(nonce);
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    `connect-src ${connect}`,
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * That of the API's reference page, whose code is a whole library of others': it runs with this load's nonce and can send
 * nothing anywhere. Style attributes are the one thing that the library cannot do without.
 * @param nonce As above.
 */
export function referencePolicy(nonce: string): string {
  checkNonce(nonce);
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    'img-src data:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The headers of a page of the service: no other site frames it, learns of it, or keeps it. */
export const pageHeaders = (policy: string): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': policy,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
});

/** The policy of the documentation's pages, which hold no script. */
export const documentationPolicy: string = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Anything but base64 could end the directive and begin another. */
function checkNonce(nonce: string): void {
  if (!/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(nonce)) {
    throw new TypeError('nonce: expected 16 or more base64 characters and nothing else');
  }
}

/** The built window, served to a browser: one page with a fresh nonce each time, and its assets. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router, static as serveFiles } from 'express';
import { contentSecurityPolicy, pageHeaders } from '../../lib/web/content-security-policy.ts';

/** @param directory `dist/renderer`. */
export function windowPage(directory: string): Router {
  const page = readFileSync(join(directory, 'index.html'), 'utf8');
  const router = Router();
  router.use(
    '/assets',
    serveFiles(join(directory, 'assets'), { index: false, immutable: true, maxAge: '365d' }),
  );
  router.get(/^\/(?!assets\/|public\/|window\/|docs\/|dev\/).*/, (request, response, next) => {
    if (request.accepts('html') !== 'html') {
      next();
      return;
    }
    const nonce = randomBytes(16).toString('base64');
    response
      .writeHead(200, {
        'Content-Type': 'text/html; charset=utf-8',
        ...pageHeaders(contentSecurityPolicy(nonce, "'self'")),
      })
      .end(page.replaceAll('__CSP_NONCE__', nonce));
  });
  return router;
}

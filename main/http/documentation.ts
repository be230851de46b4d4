/** The documentation, served as the build wrote it: pages at `/docs/`, and their texts for programs at `/llms.txt`. */
import { join } from 'node:path';
import { Router, static as serveFiles } from 'express';
import { documentationPolicy, pageHeaders } from '../lib/web/content-security-policy.ts';

const headers = pageHeaders(documentationPolicy);

/** @param directory `dist/site`. */
export function documentation(directory: string): Router {
  const router = Router({ strict: true });
  // The links of the pages are relative to a directory.
  router.get('/docs', (_request, response) => {
    response.redirect('/docs/');
  });
  router.use(
    '/docs',
    serveFiles(join(directory, 'docs'), {
      redirect: false,
      extensions: ['html'],
      setHeaders: (response) => response.setHeaders(new Map(Object.entries(headers))),
    }),
  );
  router.get(['/llms.txt', '/llms-full.txt'], (request, response, next) => {
    response.sendFile(request.path.slice(1), { root: directory, headers }, () => {
      if (!response.headersSent) next();
    });
  });
  return router;
}

/** The API's description for programs, `/openapi.json`, and for people, `/docs/api`: a page whose code is this port's own. */
import { randomBytes } from 'node:crypto';
import { Router, type Request } from 'express';
import type { Operations } from '../../activities/define.ts';
import { pageHeaders, referencePolicy } from '../../lib/web/content-security-policy.ts';
import { sendJson } from '../answer.ts';
import { describeApi } from './description.ts';

export interface ApiReferenceOptions {
  readonly operations: Operations;
  /** Keyhearth's own. */
  readonly version: string;
  /** Directory of the page's code: `dist/reference`. */
  readonly directory: string;
}

/** The page makes no request to another server: no fonts, no statistics, no proxies. */
const settings = {
  withDefaultFonts: false,
  telemetry: false,
  hideTestRequestButton: true,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'json',
  hideModels: true,
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
};

export function apiReference({ operations, version, directory }: ApiReferenceOptions): Router {
  let described: ReturnType<typeof describeApi> | undefined;
  const describe = (request: Request): object => {
    described ??= describeApi(operations, version);
    // The host is one of this port's own names: any other was refused.
    return { ...described, servers: [{ url: `http://${request.headers.host ?? ''}` }] };
  };
  const router = Router();
  router.get('/openapi.json', (request, response) => {
    sendJson(response, 200, describe(request));
  });
  router.get('/docs/api/scalar.js', (_request, response, next) => {
    // Within a root, since the directory may be below one whose name begins with a dot.
    response.sendFile('scalar.js', { root: directory, headers: common }, () => {
      if (!response.headersSent) next();
    });
  });
  router.get('/docs/api', (request, response) => {
    const nonce = randomBytes(16).toString('base64');
    response
      .writeHead(200, {
        ...pageHeaders(referencePolicy(nonce)),
        'Content-Type': 'text/html; charset=utf-8',
      })
      .end(page(nonce, { ...settings, content: describe(request) }));
  });
  return router;
}

const common = { 'X-Content-Type-Options': 'nosniff', 'Cross-Origin-Resource-Policy': 'same-origin' };

function page(nonce: string, configuration: object): string {
  // In a script's text only "<" could end the script.
  const json = JSON.stringify(configuration).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Keyhearth API</title>
    <meta property="csp-nonce" content="${nonce}" />
    <link rel="icon" href="data:," />
    <script nonce="${nonce}">
      // The page's policy takes style elements with the nonce alone, and no code made of text.
      const createElement = document.createElement.bind(document);
      document.createElement = (...given) => {
        const element = createElement(...given);
        if (element instanceof HTMLStyleElement) element.nonce = '${nonce}';
        return element;
      };
      globalThis.__zod_globalConfig = { jitless: true };
    </script>
  </head>
  <body>
    <div id="reference"></div>
    <script nonce="${nonce}" src="/docs/api/scalar.js"></script>
    <script nonce="${nonce}">
      Scalar.createApiReference('#reference', ${json});
    </script>
  </body>
</html>
`;
}

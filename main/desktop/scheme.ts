/** Serves the window's files from `keyhearth://app/`, an origin of its own that no other page can be in. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { protocol } from 'electron';
import { contentSecurityPolicy } from '../lib/web/content-security-policy.ts';
import { pageUrl, scheme } from './page.ts';
import { report } from './report.ts';

/** Placeholder in `index.html` for the nonce of its load. */
const noncePlaceholder = '__CSP_NONCE__';

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/vnd.microsoft.icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** Makes the scheme a standard and secure one: relative addresses, an origin, WebCrypto. Call before `ready`. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/**
 * Answers the scheme's requests with the files under a directory as they are listed now, each by its exact path.
 * @throws Error where the directory holds no `index.html` with a place for the nonce.
 */
export async function serveScheme(directory: string): Promise<void> {
  const files = await listFiles(directory);
  const index = await readIndex(join(directory, 'index.html'));
  protocol.handle(scheme, async (request) => {
    try {
      return await answer(request, files, index);
    } catch (error) {
      report(`${request.url} could not be read`, error);
      return refuse(500);
    }
  });
}

/** Paths as a request names them (`/assets/index.js`), and the files they stand for. */
async function listFiles(directory: string, prefix = '/'): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  // Link by link: a symbolic link is neither a file nor a directory here, so nothing outside is served.
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isFile() && extname(path) in contentTypes) files.set(prefix + entry.name, path);
    if (entry.isDirectory()) {
      for (const [name, file] of await listFiles(path, `${prefix}${entry.name}/`)) files.set(name, file);
    }
  }
  return files;
}

async function readIndex(path: string): Promise<string> {
  const html = await readFile(path, 'utf8');
  if (!html.includes(noncePlaceholder)) {
    throw new Error(`${path}: expected the text ${noncePlaceholder} where the page takes its nonce`);
  }
  return html;
}

async function answer(
  request: Request,
  files: ReadonlyMap<string, string>,
  index: string,
): Promise<Response> {
  if (request.method !== 'GET') return refuse(405);
  const url = URL.parse(request.url);
  if (!url?.href.startsWith(pageUrl)) return refuse(404);
  if (url.pathname === '/') return page(index);
  const path = url.pathname === '/index.html' ? undefined : files.get(url.pathname);
  if (path === undefined) return refuse(404);
  return respond(200, contentTypes[extname(path)], new Uint8Array(await readFile(path)));
}

/** The page with a nonce of this load, in its policy and in its text. */
function page(index: string): Response {
  const nonce = randomBytes(16).toString('base64');
  const response = respond(200, contentTypes['.html'], index.replaceAll(noncePlaceholder, nonce));
  // The page needs no network: its rpc is IPC.
  response.headers.set('content-security-policy', contentSecurityPolicy(nonce, "'none'"));
  response.headers.set('cross-origin-opener-policy', 'same-origin');
  return response;
}

const refuse = (status: number): Response => respond(status, contentTypes['.txt'], `${String(status)}\n`);

function respond(status: number, contentType = 'application/octet-stream', body: BodyInit): Response {
  return new Response(body, {
    status,
    headers: {
      'cache-control': 'no-store',
      'content-type': contentType,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  });
}

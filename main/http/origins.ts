/**
 * The hosts and origins that may use the port. Loopback is not a boundary, since every browser reaches it.
 */
import type { NextFunction, Request, Response } from 'express';
import { KeyhearthError } from '../lib/errors.ts';

export interface OriginRules {
  /** Origins that the user paired. */
  readonly allowed: readonly string[];
  /** True if any page on a loopback address is paired. */
  readonly loopback: boolean;
}

/** Addresses of the port beyond loopback. */
export interface Exposure {
  /** Listened on too; undefined for loopback alone. */
  readonly address: string | undefined;
  /** Host headers that are answered too, in lower case. */
  readonly hosts: readonly string[];
}

const corsHeaders = {
  'Access-Control-Allow-Methods': 'POST, GET, OPTIONS',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Mcp-Protocol-Version, Prefer, X-Stamp, X-Stamp-Webauthn, X-Stamp-Attested, X-Client-Version, X-Session',
  'Access-Control-Max-Age': '600',
};

const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses a request whose Host is not this very port on loopback, nor one of the others: a name rebound to 127.0.0.1 keeps its own.
 * @param others Names in lower case. One with a port is for that port alone, as clients see it through a port that is mapped.
 */
export const checkHost =
  (others: readonly string[]) =>
  (request: Request, _response: Response, next: NextFunction): void => {
    const port = request.socket.localPort;
    const names = [...loopbackNames, ...others];
    const allowed = names.map((name) => (hasPort(name) ? name : `${name}:${String(port)}`));
    if (port === 80) allowed.push(...names);
    const { host } = request.headers;
    if (host === undefined || !allowed.includes(host.toLowerCase())) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        `request not authorized: Host is ${JSON.stringify(host ?? '')}, expected one of ${allowed.join(', ')}`,
      );
    }
    next();
  };

const hasPort = (name: string): boolean => /:[0-9]+$/.test(name);

/** Refuses foreign browser origins, and gives CORS headers to paired ones alone. */
export const checkOrigin =
  (rules: OriginRules) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const { origin } = request.headers;
    if (origin === undefined) {
      // A foreign page's plain GET carries no Origin, but says what it is. Another port of this machine is the same site;
      // from there only a link may lead here. From elsewhere, as from the file that opens the window, a link may lead to
      // the window's page alone, which says nothing by itself and lets itself be framed by none.
      const {
        'sec-fetch-site': site,
        'sec-fetch-mode': mode,
        'sec-fetch-dest': destination,
      } = request.headers;
      const isLink = mode === 'navigate';
      const toWindow =
        isLink && destination === 'document' && request.method === 'GET' && request.path === '/';
      if ((site === 'cross-site' && !toWindow) || (site === 'same-site' && !isLink)) {
        throw new KeyhearthError(
          'PERMISSION_DENIED',
          'request not authorized: a page of another site sent it',
        );
      }
      next();
      return;
    }
    const own = loopbackNames.some((name) => origin === `http://${name}:${String(request.socket.localPort)}`);
    const paired = rules.allowed.includes(origin) || (rules.loopback && isLoopback(origin));
    if (!own && !paired) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        `request not authorized: the origin ${JSON.stringify(origin.slice(0, 200))} is not paired; start Keyhearth with --allow-origin to pair it`,
      );
    }
    if (paired) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Vary', 'Origin');
      if (request.method === 'OPTIONS') {
        for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
        response.writeHead(204).end();
        return;
      }
    }
    next();
  };

function isLoopback(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.origin === origin && loopbackNames.includes(url.hostname);
}

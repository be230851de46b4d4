/** The control channel of the owner's own commands: the rpc calls, its events, and links into the window. */
import type { Express } from 'express';
import type { VaultRpc } from '../../preload/contract.ts';
import { owned } from '../lib/faults.ts';
import { sendJson } from './answer.ts';
import { bareApp, rawBodies, refuseTheRest, renderErrors } from './app.ts';
import type { Service } from './handle.ts';
import { rpcRoutes, noWindow } from './window/routes.ts';

/** Ways into the window in a browser. */
export interface WindowLinks {
  /** @returns an address that signs one browser in, once. */
  newLink(): string;
  /** @returns the path of a page for the same; null where none can be written. */
  newPage(): string | null;
}

/**
 * @param links Undefined where no window is served.
 * @param keepFrozen Until its end, what was frozen stays frozen on the disk.
 */
export function controlApp(
  rpc: VaultRpc,
  service: Pick<Service, 'onFault'>,
  links: WindowLinks | undefined,
  keepFrozen: () => Disposable,
): Express {
  const app = bareApp();
  const served = (): WindowLinks => {
    if (links === undefined) throw noWindow();
    return links;
  };
  app.use(rawBodies());
  app.post('/link', (_request, response) => {
    sendJson(response, 200, { value: served().newLink() });
  });
  app.post('/page', (_request, response) => {
    sendJson(response, 200, { value: served().newPage() });
  });
  app.get('/visit', async (_request, response) => {
    const { state, frozen } = await rpc.status();
    const kept = keepFrozen();
    const putBack = owned(async () => {
      using _ = kept;
      if (frozen !== null) await rpc.freeze();
      else if (state === 'locked') await rpc.lock();
    }, service.onFault);
    // A command that was killed closes it too.
    response.once('close', putBack);
    response.writeHead(200).flushHeaders();
  });
  app.use(rpcRoutes(rpc, service), refuseTheRest, renderErrors(service));
  return app;
}

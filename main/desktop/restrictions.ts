/**
 * Restrictions on pages, even hostile ones: they cannot navigate, open, embed, use devices or reach the
 * network.
 */
import { app, shell } from 'electron';
import type { Session, WebContents } from 'electron';
import { apiReferenceUrl, documentationUrl } from '../../docs/page-urls.ts';
import { pages } from '../../docs/pages.ts';
import { isPage, pageUrl } from './page.ts';
import { report } from './report.ts';
import { ExplainedError } from '../lib/errors.ts';

/** Addresses that a link may open in the person's own browser, each whole: those of the documentation. */
const externalPages = new Set<string>();

/** Lets links open the documentation that the service serves. @param url The service's, without a slash at its end. */
export function allowDocumentation(url: string): void {
  externalPages.clear();
  for (const { path } of pages) externalPages.add(documentationUrl(url, path));
  externalPages.add(apiReferenceUrl(url));
}

/** Protocols that reach the network or the disk. */
const outside: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:', 'unknown']);

/** A proxy on a port that no program can listen on. */
const nowhere = 'socks5://127.0.0.1:0';

/** Switches by which another program would read the window's pages and speak for them. */
const debuggingSwitches = [
  'remote-debugging-port',
  'remote-debugging-pipe',
  'load-extension',
  // Chromium starts that program in place of its own processes, or in front of them.
  'browser-subprocess-path',
  'renderer-cmd-prefix',
  'utility-cmd-prefix',
  'gpu-launcher',
] as const;

/** The flavour of the package that tests drive; it is never published. */
const testFlavour = 'Keyhearth Test';

/**
 * Refuses debuggers in an installed application: the fuses block Node's, this blocks Chromium's. Call before
 * `ready`.
 * @throws ExplainedError
 */
export function refuseDebuggers(): void {
  if (!app.isPackaged || app.getName() === testFlavour) return;
  const found = debuggingSwitches.find((name) => app.commandLine.hasSwitch(name));
  if (found === undefined) return;
  throw new ExplainedError(
    `Keyhearth does not start with --${found}: whoever is at the other end could use the vault as you do.`,
  );
}

/** Restricts every web contents, also those that no code of ours creates. Call before `ready`. */
export function restrictAllContents(): void {
  app.enableSandbox();
  app.on('web-contents-created', (_event, contents) => {
    restrictContents(contents);
  });
}

/** @param external Addresses that open in the person's browser instead. */
export function restrictContents(contents: WebContents, external: ReadonlySet<string> = externalPages): void {
  // The page may reload itself. No other navigation is allowed.
  contents.on('will-frame-navigate', (details) => {
    if (!details.isMainFrame || !isPage(details.url)) details.preventDefault();
  });
  contents.on('will-navigate', (details) => {
    if (!isPage(details.url)) details.preventDefault();
  });
  contents.on('will-redirect', (details) => {
    details.preventDefault();
  });
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
  });
  // Neither `onBeforeRequest` nor a page's policy sees WebRTC. Without UDP it goes by the session's proxy, which leads nowhere.
  contents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp');
  contents.setWindowOpenHandler(({ url }) => {
    if (external.has(url)) {
      shell.openExternal(url).catch((error: unknown) => {
        report('a page of the documentation did not open', error);
      });
    }
    return { action: 'deny' };
  });
}

/**
 * Denies every permission, every request to the network or the disk, and every download but of what the page itself
 * made, for which Electron asks the person where to. Call after `ready`.
 */
export async function restrictSession(session: Session): Promise<void> {
  session.setPermissionRequestHandler((_contents, _permission, callback) => {
    callback(false);
  });
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, callback) => {
    callback(null);
  });
  session.on('will-download', (event, item) => {
    if (!item.getURL().startsWith(`blob:${pageUrl}`)) event.preventDefault();
  });
  session.webRequest.onBeforeRequest(({ url }, callback) => {
    callback({ cancel: outside.has(URL.parse(url)?.protocol ?? 'unknown') });
  });
  // By itself it would leave out this machine.
  await session.setProxy({ mode: 'fixed_servers', proxyRules: nowhere, proxyBypassRules: '<-loopback>' });
}

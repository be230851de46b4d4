import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

vi.mock('electron', () => import('./fake-electron.ts'));

const { app, becomeReady, FakeSession, FakeWebContents, machine } = await import('./fake-electron.ts');
const {
  allowDocumentation,
  restrictAllContents: guardAllContents,
  restrictContents: guardContents,
  restrictSession: guardSession,
} = await import('../../main/desktop/restrictions.ts');

type Session = Parameters<typeof guardSession>[0];
type Contents = Parameters<typeof guardContents>[0];

const page = 'keyhearth://app/';
const elsewhere = ['https://example.com/', 'keyhearth://app.example/', 'file:///etc/passwd', 'about:blank'];

// The guards call what the fakes have of these two; the fakes' own types are checked where they are declared.
const asSession = (session: InstanceType<typeof FakeSession>): Session => session as unknown as Session;
const asContents = (contents: InstanceType<typeof FakeWebContents>): Contents =>
  contents as unknown as Contents;

describe('web contents', () => {
  let contents: InstanceType<typeof FakeWebContents>;

  beforeEach(() => {
    contents = new FakeWebContents();
    machine.openedExternally = [];
    guardContents(asContents(contents));
  });

  test.each(elsewhere)('do not leave the page for %s', (url) => {
    expect(contents.attempt('will-navigate', { url, isMainFrame: true })).toBe(true);
    expect(contents.attempt('will-frame-navigate', { url, isMainFrame: true })).toBe(true);
    expect(contents.attempt('will-redirect', { url, isMainFrame: true })).toBe(true);
  });

  test('may reload the page itself', () => {
    expect(contents.attempt('will-navigate', { url: page, isMainFrame: true })).toBe(false);
    expect(contents.attempt('will-frame-navigate', { url: `${page}#/wallets`, isMainFrame: true })).toBe(
      false,
    );
  });

  test('let no frame go anywhere, not even to the page', () => {
    for (const url of [page, ...elsewhere]) {
      expect(contents.attempt('will-frame-navigate', { url, isMainFrame: false })).toBe(true);
    }
  });

  test('attach no webview', () => {
    expect(contents.attempt('will-attach-webview', {})).toBe(true);
  });

  test('open no window, and nothing in the browser either', () => {
    for (const url of [page, ...elsewhere]) expect(contents.open(url)).toBe('deny');
    expect(machine.openedExternally).toEqual([]);
  });

  test('open an allowed address, whole, in the browser', () => {
    const help = 'https://docs.example/help';
    const guarded = new FakeWebContents();
    guardContents(asContents(guarded), new Set([help]));
    for (const url of [help, `${help}/../evil`, `${help}?x`, 'https://docs.example/']) {
      expect(guarded.open(url)).toBe('deny');
    }
    expect(machine.openedExternally).toEqual([help]);
  });

  test('open the documentation of their own service in the browser, and nothing else of that or another', () => {
    const service = 'http://127.0.0.1:7377';
    allowDocumentation(service);
    const pages = [`${service}/docs/wallets.html`, `${service}/docs/api`];
    const others = [
      ...['http://127.0.0.1:7378', 'http://evil.example'].map((other) => `${other}/docs/wallets.html`),
      ...['/', '/docs/', '/docs/none.html', '/docs/wallets.html?key=1', '/window/open', '/dev/reset'].map(
        (path) => service + path,
      ),
      'http://user@127.0.0.1:7377/docs/wallets.html',
    ];
    for (const url of [...pages, ...others]) expect(contents.open(url)).toBe('deny');
    expect(machine.openedExternally).toEqual(pages);
    // A vault that is served elsewhere has other addresses.
    allowDocumentation('http://127.0.0.1:9000');
    contents.open(`${service}/docs/api`);
    expect(machine.openedExternally).toEqual(pages);
  });
});

describe('a session', () => {
  const session = new FakeSession();
  beforeAll(() => guardSession(asSession(session)));

  test('refuses every permission that a page asks for', () => {
    for (const permission of ['media', 'clipboard-read', 'notifications', 'hid', 'usb', 'unknown'] as const) {
      const answers: boolean[] = [];
      // Neither handler looks at who asks or why.
      const nobody = {} as never;
      session.permissionRequest?.(nobody, permission, (granted) => answers.push(granted), nobody);
      expect(answers).toEqual([false]);
      expect(session.permissionCheck?.(null, permission, page, nobody)).toBe(false);
    }
  });

  test('hands out no device and no screen', () => {
    expect(session.device?.({} as never)).toBe(false);
    const streams: unknown[] = [];
    session.displayMedia?.({} as never, (given) => streams.push(given));
    expect(streams).toEqual([null]);
  });

  test.each([
    ['https://example.com/file', 1],
    ['file:///etc/passwd', 1],
    ['data:text/plain,hello', 1],
    ['keyhearth://app/assets/index.js', 1],
    ['blob:https://example.com/00000000-0000-4000-8000-000000000000', 1],
    ['blob:keyhearth://application/00000000-0000-4000-8000-000000000000', 1],
    // Data of the page itself: the person chooses the path.
    ['blob:keyhearth://app/00000000-0000-4000-8000-000000000000', 0],
  ])('downloads nothing from elsewhere: %s', (url, prevented) => {
    const event = { prevented: 0, preventDefault: () => (event.prevented += 1) };
    session.emit('will-download', event, { getURL: () => url });
    expect(event.prevented).toBe(prevented);
  });

  test.each([
    ['https://example.com/', true],
    ['http://127.0.0.1:7377/public/v1/query/whoami', true],
    ['wss://example.com/', true],
    ['file:///etc/passwd', true],
    ['not an address', true],
    ['keyhearth://app/assets/index.js', false],
    ['data:image/png;base64,AAAA', false],
    ['devtools://devtools/bundled/inspector.html', false],
  ])('has a request to %s cancelled: %s', (url, cancel) => {
    const answers: unknown[] = [];
    session.beforeRequest?.({ url } as never, (answer) => answers.push(answer));
    expect(answers).toEqual([{ cancel }]);
  });
});

// The class: what a page could send that no handler of requests sees. Chromium cannot reach this proxy, and then asks none of the
// servers that a page names for WebRTC.
test('a page has no way by WebRTC: neither by UDP nor by a proxy, to this machine neither', async () => {
  const session = new FakeSession();
  await guardSession(asSession(session));
  expect(session.proxy).toEqual({
    mode: 'fixed_servers',
    proxyRules: 'socks5://127.0.0.1:0',
    proxyBypassRules: '<-loopback>',
  });
  const contents = new FakeWebContents();
  guardContents(asContents(contents));
  expect(contents.webRtc).toBe('disable_non_proxied_udp');
});

test('whatever web contents come to be are guarded and sandboxed', () => {
  guardAllContents();
  expect(machine.sandboxed).toBe(true);
  becomeReady();
  const contents = new FakeWebContents();
  app.emit('web-contents-created', {}, contents);
  expect(contents.attempt('will-navigate', { url: 'https://example.com/', isMainFrame: true })).toBe(true);
  expect(contents.open('https://example.com/')).toBe('deny');
});

/**
 * Stands in for the module `electron`, whose program a test machine does not have. It follows the rules of
 * the real one, inconvenient ones above all, and names the source of each: a file of electron/electron at the
 * version in package.json, of Chromium, or a page of Electron's documentation. A rule without a source does
 * not count. Every member is checked against Electron's own types; members that no code of ours calls are
 * missing. test/desktop/twin.test.ts lists the rules that were missed once.
 */
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type * as electron from 'electron';

type Electron = typeof electron;

/** State that a test sets and reads. One for each load of this module. */
export const machine = {
  /** The project's root, or the archive of an installed application. */
  appPath: '/nowhere',
  ready: false,
  /** True for an installed application. */
  packaged: false,
  /** True if macOS knows the signer. */
  signed: true,
  version: '1.0.0',
  /** The exit code once the application has ended. */
  ended: undefined as number | undefined,
  /** True if a page answers the question if its window may close. */
  pageAnswers: true,
  /** True if a loaded page paints anything. */
  pagePaints: true,
  /** Programs that start when this one has ended. */
  relaunches: [] as { readonly execPath: string; readonly args: readonly string[] }[],
  sandboxed: false,
  paths: new Map<string, string>(),
  name: 'keyhearth',
  /** Chromium's switches from the command line and from the application. */
  switches: new Map<string, string>(),
  badge: 0,
  about: undefined as electron.AboutPanelOptionsOptions | undefined,
  /** Schemes whose links the system hands to the application. */
  protocols: [] as string[],
  /** Linux: the name that the application has among the installed desktop files, and those that are installed. */
  desktopName: 'keyhearth.desktop' as string | undefined,
  desktopFiles: ['keyhearth.desktop'],
  login: {
    openAtLogin: false,
    wasOpenedAtLogin: false,
    status: 'not-registered' as electron.LoginItemSettings['status'],
  },
  /** Windows: the values of the registry's `Run` key, and those that the Task Manager has switched off. */
  runKey: new Map<string, string>(),
  switchedOff: new Set<string>(),
  userModelId: '',
  displays: [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }],
  /** The handler of each shortcut. */
  shortcuts: new Map<string, () => void>(),
  /** True if another application has every shortcut. */
  shortcutsTaken: false,
  /** Linux: whether a portal of the desktop is asked for shortcuts, as on Wayland, and whether it gives them. */
  shortcutsByPortal: false,
  portalBinds: true,
  online: true,
  idleSeconds: 0,
  screenLocked: false,
  /** Linux: whether a service of the session says that its screen is locked, and whether the idle time is known. */
  saysLocked: true,
  saysIdle: true,
  clipboard: '',
  schemes: [] as electron.CustomScheme[],
  /** Title and text of each error dialog. */
  dialogs: [] as { readonly title: string; readonly content: string }[],
  /** Questions of message boxes, oldest first. */
  questions: [] as electron.MessageBoxOptions[],
  /** The index of the button for each next question; the first without it. */
  answers: [] as number[],
  /** Dialogs for saving a file, and the chosen path; cancelled if undefined. */
  saves: [] as electron.SaveDialogOptions[],
  savedTo: undefined as string | undefined,
  openedExternally: [] as string[],
  menu: undefined as FakeMenu | undefined,
  trays: [] as FakeTray[],
  /** True if the system shows notifications. */
  notifies: true,
  notifications: [] as FakeNotification[],
  /** The values that the preload script exposed to the page, as the page sees them. */
  mainWorld: {} as Record<string, unknown>,
};

/** The last step of Electron's start, which comes after the entry module is loaded. */
export function becomeReady(): void {
  machine.ready = true;
  app.emit('ready');
}

// docs/api/process.md: beside the archive of an installed application.
Object.defineProperty(process, 'resourcesPath', { value: '/resources', configurable: true });

/** A test may replace it. */
const nextTurn = setImmediate;

type GoOn = (() => void) | undefined;

/**
 * A task of Chromium's main thread that enters JavaScript, and goes on when the microtasks of that have run
 * (shell/common/gin_helper/event_emitter_caller.cc: a `MicrotasksScope` with a checkpoint, within the native call).
 */
function nativeTask(enter: () => GoOn): void {
  let goOn: GoOn;
  // Between two immediates of one round, Node runs microtasks and nothing else.
  nextTurn(() => {
    goOn = enter();
  });
  nextTurn(() => goOn?.());
}

/**
 * The holder of the lock of each data directory, among all copies of this module: another copy is another
 * process.
 */
const locks = ((globalThis as Record<symbol, unknown>)[Symbol.for('keyhearth.test.locks')] ??=
  new Map()) as Map<string, (data: unknown) => void>;

/** Each of those that ask throws by a check of `Browser::is_ready()` in the file of its name, shell/browser/api/electron_api_*.cc. */
const needsReady = (what: string): void => {
  if (!machine.ready) throw new Error(`${what} cannot be used before the app is ready`);
};

const needsUnready = (what: string): void => {
  if (machine.ready) throw new Error(`${what} must be called before the app is ready`);
};

/** An event as Electron passes it, and whether something was prevented with it. */
export class FakeEvent {
  defaultPrevented = false;

  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

class FakeApp
  extends EventEmitter
  implements
    Pick<
      Electron['app'],
      | 'enableSandbox'
      | 'exit'
      | 'getAppPath'
      | 'getName'
      | 'getPath'
      | 'getVersion'
      | 'isPackaged'
      | 'quit'
      | 'relaunch'
      | 'releaseSingleInstanceLock'
      | 'requestSingleInstanceLock'
      | 'setAboutPanelOptions'
      | 'setAppUserModelId'
      | 'setAsDefaultProtocolClient'
      | 'setBadgeCount'
      | 'setLoginItemSettings'
      | 'setPath'
      | 'whenReady'
    >
{
  readonly commandLine = {
    /** Chromium, base/command_line.cc: switches are a map, so that a value takes the place of the one before it. */
    appendSwitch(name: string, value = ''): void {
      machine.switches.set(name, value);
    },
    getSwitchValue: (name: string): string => machine.switches.get(name) ?? '',
    hasSwitch: (name: string): boolean => machine.switches.has(name),
  } satisfies Pick<Electron['app']['commandLine'], 'appendSwitch' | 'getSwitchValue' | 'hasSwitch'>;

  #isQuitting = false;
  #isExiting = false;
  #lock: string | undefined;

  get isPackaged(): boolean {
    return machine.packaged;
  }

  getName(): string {
    return machine.name;
  }

  /**
   * shell/browser/browser_win.cc, `GetLoginItemSettingsHelper`: the given path is read as a command line, and
   * its program compared with that of each value; of the arguments, only those that are not switches are
   * reported.
   */
  getLoginItemSettings({ path = process.execPath }: electron.LoginItemSettingsOptions = {}): Pick<
    electron.LoginItemSettings,
    'openAtLogin' | 'wasOpenedAtLogin' | 'status' | 'launchItems'
  > {
    const [program = ''] = readCommandLine(path);
    const launchItems = [...machine.runKey].flatMap(([name, value]): electron.LaunchItems[] => {
      const [started = '', ...args] = readCommandLine(value);
      if (started.toLowerCase() !== program.toLowerCase()) return [];
      const enabled = !machine.switchedOff.has(name);
      return [
        { name, path: started, args: args.filter((arg) => !arg.startsWith('-')), scope: 'user', enabled },
      ];
    });
    return { ...machine.login, launchItems };
  }

  /** shell/browser/browser_win.cc, `FormatCommandLineString`: quotes around the path are taken off, then every word is quoted. */
  setLoginItemSettings({
    openAtLogin = false,
    name,
    path = process.execPath,
    args = [],
  }: electron.Settings): void {
    machine.login = { ...machine.login, openAtLogin };
    const value = name ?? machine.userModelId;
    machine.switchedOff.delete(value);
    if (openAtLogin) {
      machine.runKey.set(value, [path.replace(/^"(.*)"$/, '$1'), ...args].map(quoteWord).join(' '));
    } else machine.runKey.delete(value);
  }

  setAppUserModelId(id: string): void {
    machine.userModelId = id;
  }

  setAboutPanelOptions(options: electron.AboutPanelOptionsOptions): void {
    machine.about = options;
  }

  /** shell/browser/browser_linux.cc, `SetDefaultWebClient`: false where no file of that name is installed. */
  setAsDefaultProtocolClient(protocol: string): boolean {
    if (process.platform === 'linux' && !machine.desktopFiles.includes(machine.desktopName ?? ''))
      return false;
    machine.protocols.push(protocol);
    return true;
  }

  /** shell/browser/linux/launcher_entry.cc, `EmitUpdate`: false without a desktop file's name, and no count anywhere then. */
  setBadgeCount(count = 0): boolean {
    if (process.platform === 'linux' && machine.desktopName === undefined) return false;
    machine.badge = count;
    return true;
  }

  enableSandbox(): void {
    needsUnready('app.enableSandbox');
    machine.sandboxed = true;
  }

  getAppPath(): string {
    return machine.appPath;
  }

  /** shell/browser/api/electron_api_app.cc, `GetPath`; here, of what a test has said. */
  getPath(name: string): string {
    const path = machine.paths.get(name);
    if (path === undefined) throw new Error(`Failed to get '${name}' path`);
    return path;
  }

  getVersion(): string {
    return machine.version;
  }

  /** shell/browser/api/electron_api_app.cc, `App::Relaunch`: an AppImage's own path is of a directory that is gone by then. */
  relaunch({ execPath, args }: electron.RelaunchOptions = {}): void {
    const [program = '', ...words] = process.argv;
    const isSame = execPath === undefined && args === undefined;
    machine.relaunches.push({ execPath: execPath ?? program, args: isSame ? words : (args ?? []) });
  }

  releaseSingleInstanceLock(): void {
    if (this.#lock !== undefined) locks.delete(this.#lock);
    this.#lock = undefined;
  }

  /**
   * shell/browser/api/electron_api_app.cc, `RequestSingleInstanceLock`. The first instance hears of a second one once it is
   * ready itself. The words come from Chromium's own command line: switches first, some of Chromium's among them, and none at
   * all in the cases that docs/api/app.md lists; `additionalData` comes as it was given.
   */
  requestSingleInstanceLock(additionalData?: Record<string, unknown>): boolean {
    const directory = machine.paths.get('userData') ?? '';
    const notify = locks.get(directory);
    if (notify !== undefined) {
      notify(structuredClone(additionalData));
      return false;
    }
    this.#lock = directory;
    locks.set(directory, (data) => {
      const words = [process.execPath, '--original-process-start-time=13400000000000000'];
      const tell = (): void => {
        nativeTask(() => {
          this.emit('second-instance', new FakeEvent(), words, '/', data);
          return undefined;
        });
      };
      if (machine.ready) tell();
      else this.once('ready', tell);
    });
    return true;
  }

  /** shell/browser/api/electron_api_app.cc, `SetPath`: it makes no directory. */
  setPath(name: string, path: string): void {
    if (!isAbsolute(path)) throw new Error('Path must be absolute');
    if (!existsSync(path)) throw new Error('Failed to set path');
    machine.paths.set(name, path);
  }

  whenReady(): Promise<void> {
    return machine.ready ? Promise.resolve() : new Promise((resolve) => this.once('ready', resolve));
  }

  /** shell/browser/browser.cc, `Browser::Quit`: it does nothing while the application quits already. */
  quit(): void {
    // Called from JavaScript, it returns before any microtask.
    this.#quit()?.();
  }

  #quit(): GoOn {
    if (this.#isQuitting) return undefined;
    this.#isQuitting = !this.#isPrevented('before-quit');
    if (!this.#isQuitting) return undefined;
    const windows = BrowserWindow.getAllWindows();
    if (windows.length === 0) return this.#notifyAndShutDown();
    for (const window of windows) window.close();
    return undefined;
  }

  /** shell/browser/browser.cc, `ExitWithCode`: windows are destroyed and not asked, and no event but `quit` is sent. */
  exit(code = 0): void {
    this.#isQuitting = true;
    this.#isExiting = true;
    for (const window of BrowserWindow.getAllWindows()) window.destroy();
    this.#shutDown(code);
  }

  /** shell/browser/electron_browser_main_parts_posix.cc: SIGINT, SIGTERM and SIGHUP are tasks of the main thread that quit. */
  receiveSignal(): void {
    nativeTask(() => this.#quit());
  }

  /** shell/browser/mac/electron_application.mm, `terminate:`: Command-Q, the Dock and the end of a session alike. */
  terminate(): void {
    nativeTask(() => this.#quit());
  }

  /** shell/browser/mac/electron_application.mm, `willPowerOff:`, and then `terminate:`. */
  logOut(): void {
    nativeTask(() => {
      powerMonitor.emit('shutdown', new FakeEvent());
      return undefined;
    });
    this.terminate();
  }

  /** shell/browser/browser.cc, `OnWindowAllClosed`; lib/browser/init.ts quits where no other listener is. */
  windowIsGone(): GoOn {
    if (BrowserWindow.getAllWindows().length > 0 || this.#isExiting || this.#isShutDown) return undefined;
    if (this.#isQuitting) return this.#notifyAndShutDown();
    if (this.emit('window-all-closed')) return undefined;
    return this.#quit();
  }

  /** shell/browser/browser.cc, `OnWindowCloseCancelled`. */
  closeIsCancelled(): void {
    this.#isQuitting = false;
  }

  /**
   * shell/browser/browser.cc, `NotifyAndShutdown`: if it is prevented, the application stops quitting, but
   * only after the event has returned. Its microtasks have run by then: a `quit` from promises alone was
   * ignored (issue 33643).
   */
  #notifyAndShutDown(): GoOn {
    if (this.#isShutDown) return undefined;
    if (!this.#isPrevented('will-quit')) {
      this.#shutDown(0);
      return undefined;
    }
    return () => {
      this.#isQuitting = false;
    };
  }

  /** shell/browser/browser.cc, `Shutdown`: once, and the lock goes with the process. */
  #shutDown(code: number): void {
    if (this.#isShutDown) return;
    this.releaseSingleInstanceLock();
    machine.ended = code;
    // A test may have it run again.
    this.#isQuitting = false;
    this.#isExiting = false;
    this.emit('quit', new FakeEvent(), code);
  }

  get #isShutDown(): boolean {
    return machine.ended !== undefined;
  }

  #isPrevented(name: 'before-quit' | 'will-quit'): boolean {
    const event = new FakeEvent();
    this.emit(name, event);
    return event.defaultPrevented;
  }
}

/** shell/common/command_line_util_win.cc, `AddQuoteForArg`. */
function quoteWord(word: string): string {
  if (!/[ \\"]/.test(word)) return word;
  return `"${word.replace(/(\\*)"/g, String.raw`$1$1\"`).replace(/\\+$/, '$&$&')}"`;
}

/** As `CommandLineToArgvW` of Windows reads a line, and so base/command_line.cc. */
export function readCommandLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const [slashes = ''] = /^\\*/.exec(line.slice(at)) ?? [];
    at += slashes.length;
    const character = line[at];
    const isQuote = character === '"';
    // Before a quote, backslashes count by two.
    if (slashes !== '')
      word = (word ?? '') + (isQuote ? slashes.slice(Math.ceil(slashes.length / 2)) : slashes);
    if (isQuote && slashes.length % 2 === 0) {
      word ??= '';
      isQuoted = !isQuoted;
    } else if (character === ' ' && !isQuoted) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character !== undefined) word = (word ?? '') + character;
  }
  return word === undefined ? words : [...words, word];
}

export const app = new FakeApp();

/** A frame as an IPC message names it. */
export interface FakeFrame {
  readonly url: string;
  readonly parent: FakeFrame | null;
}

export class FakeWebContents
  extends EventEmitter
  implements
    Pick<
      electron.WebContents,
      'getURL' | 'reload' | 'send' | 'setWebRTCIPHandlingPolicy' | 'setWindowOpenHandler'
    >
{
  reloads = 0;
  /** docs/api/web-contents.md: how WebRTC reaches others. By default it may take any way. */
  webRtc: Parameters<electron.WebContents['setWebRTCIPHandlingPolicy']>[0] = 'default';
  mainFrame: FakeFrame = { url: 'about:blank', parent: null };
  /** Messages to the page, oldest first. */
  readonly sent: { readonly channel: string; readonly args: unknown[] }[] = [];
  #windowOpenHandler: Parameters<electron.WebContents['setWindowOpenHandler']>[0] | undefined;

  getURL(): string {
    return this.mainFrame.url;
  }

  reload(): void {
    this.reloads += 1;
  }

  /** docs/api/web-contents.md: arguments are cloned as structures are. */
  send(channel: string, ...args: unknown[]): void {
    const cloned = structuredClone(args);
    this.sent.push({ channel, args: cloned });
    ipcRenderer.emit(channel, new FakeEvent(), ...cloned);
  }

  setWebRTCIPHandlingPolicy(policy: FakeWebContents['webRtc']): void {
    this.webRtc = policy;
  }

  setWindowOpenHandler(handler: Parameters<electron.WebContents['setWindowOpenHandler']>[0]): void {
    this.#windowOpenHandler = handler;
  }

  /** The result of `window.open(url)` in the page. */
  open(url: string): 'allow' | 'deny' {
    const details: electron.HandlerDetails = {
      url,
      frameName: '',
      features: '',
      disposition: 'new-window',
      referrer: { url: '', policy: 'no-referrer' },
    };
    return this.#windowOpenHandler?.(details).action ?? 'allow';
  }

  /** Emits an event that navigation guards listen to. @returns whether it was prevented. */
  attempt(event: string, details: Readonly<Record<string, unknown>>): boolean {
    const fakeEvent = Object.assign(new FakeEvent(), details);
    this.emit(event, fakeEvent);
    return fakeEvent.defaultPrevented;
  }
}

export class BrowserWindow
  extends EventEmitter
  implements
    Pick<
      electron.BrowserWindow,
      | 'close'
      | 'destroy'
      | 'focus'
      | 'getNormalBounds'
      | 'isDestroyed'
      | 'isMaximized'
      | 'isMinimized'
      | 'isVisible'
      | 'loadURL'
      | 'maximize'
      | 'restore'
      | 'setContentProtection'
      | 'setOverlayIcon'
      | 'setProgressBar'
      | 'show'
    >
{
  static #all: BrowserWindow[] = [];
  readonly webContents = new FakeWebContents();
  readonly options: electron.BrowserWindowConstructorOptions;
  /** The response that loaded the page. */
  page: Response | undefined;
  minimized = false;
  maximized = false;
  focused = 0;
  bounds: electron.Rectangle;
  overlay: { readonly image: object | null; readonly description: string } | undefined;
  /** The parts of a task that the icon showed. */
  readonly progress: number[] = [];
  /** True if pictures of the screen leave it out. */
  protected = false;
  #visible: boolean;
  #destroyed = false;

  constructor(options: electron.BrowserWindowConstructorOptions = {}) {
    super();
    needsReady('BrowserWindow');
    this.options = options;
    this.#visible = options.show ?? true;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.bounds = { x, y, width, height };
    BrowserWindow.#all.push(this);
    app.emit('web-contents-created', new FakeEvent(), this.webContents);
    app.emit('browser-window-created', new FakeEvent(), this);
  }

  static fromWebContents(contents: FakeWebContents): BrowserWindow | null {
    return BrowserWindow.#all.find(({ webContents }) => webContents === contents) ?? null;
  }

  static getAllWindows(): BrowserWindow[] {
    return [...BrowserWindow.#all];
  }

  /** docs/api/browser-window.md: it rejects where the page fails to load. Another fragment of the page loads nothing. */
  async loadURL(url: string): Promise<void> {
    const there = this.webContents.mainFrame.url;
    if (url !== there && url.split('#', 1)[0] === there.split('#', 1)[0]) {
      this.webContents.mainFrame = { url, parent: null };
      return;
    }
    const page = await protocol.request(url);
    if (!page.ok) throw new Error(`ERR_FAILED (${String(page.status)}) loading '${url}'`);
    this.page = page;
    this.webContents.mainFrame = { url, parent: null };
    // docs/api/browser-window.md: at the first paint of a window that was not shown yet, usually after the page has loaded.
    nativeTask(() => {
      if (machine.pagePaints && !this.#visible && !this.#destroyed) this.emit('ready-to-show');
      return undefined;
    });
  }

  show(): void {
    if (this.#visible) return;
    this.#visible = true;
    this.emit('show');
  }

  focus(): void {
    this.focused += 1;
  }

  setContentProtection(on: boolean): void {
    this.protected = on;
  }

  restore(): void {
    this.minimized = false;
  }

  /** docs/api/browser-window.md: it shows a window that is not shown. */
  maximize(): void {
    this.maximized = true;
    this.show();
  }

  isMaximized(): boolean {
    return this.maximized;
  }

  getNormalBounds(): electron.Rectangle {
    return this.bounds;
  }

  setProgressBar(part: number): void {
    this.progress.push(part);
  }

  setOverlayIcon(image: object | null, description: string): void {
    this.overlay = { image, description };
  }

  isMinimized(): boolean {
    return this.minimized;
  }

  isVisible(): boolean {
    return this.#visible;
  }

  isDestroyed(): boolean {
    return this.#destroyed;
  }

  /** shell/browser/window_list.cc, `RemoveWindow`. */
  destroy(): void {
    if (this.#destroyed) return;
    this.#remove();
    app.windowIsGone()?.();
  }

  /**
   * shell/browser/api/electron_api_browser_window.cc, `OnCloseButtonClicked`: the page is asked first, and a page that does not
   * answer keeps its window. The window goes in a task of its own.
   */
  close(): void {
    const event = new FakeEvent();
    this.emit('close', event);
    if (event.defaultPrevented) {
      app.closeIsCancelled();
      return;
    }
    if (!machine.pageAnswers) return;
    nativeTask(() => {
      if (this.#destroyed) return undefined;
      this.#remove();
      return app.windowIsGone();
    });
  }

  #remove(): void {
    this.#destroyed = true;
    BrowserWindow.#all = BrowserWindow.#all.filter((window) => window !== this);
    this.emit('closed');
  }
}

type InvokeHandler = Parameters<Electron['ipcMain']['handle']>[1];

/** lib/browser/ipc-main-impl.ts, lib/browser/ipc-dispatch.ts, lib/renderer/api/ipc-renderer.ts. */
class FakeIpcMain implements Pick<Electron['ipcMain'], 'handle' | 'removeHandler'> {
  readonly handlers = new Map<string, InvokeHandler>();

  handle(channel: string, listener: InvokeHandler): void {
    if (this.handlers.has(channel)) {
      throw new Error(`Attempted to register a second handler for '${channel}'`);
    }
    this.handlers.set(channel, listener);
  }

  removeHandler(channel: string): void {
    this.handlers.delete(channel);
  }

  /** A message from a frame. @returns what the frame is answered, cloned as between processes. */
  async invoke(frame: FakeFrame | null, channel: string, ...args: readonly unknown[]): Promise<unknown> {
    const handler = this.handlers.get(channel);
    const prefix = `Error invoking remote method '${channel}':`;
    if (handler === undefined) throw new Error(`${prefix} Error: No handler registered for '${channel}'`);
    // Of the event, the code under test reads the frame alone.
    const event = { senderFrame: frame } as unknown as electron.IpcMainInvokeEvent;
    try {
      return structuredClone((await handler(event, ...structuredClone(args))) as unknown);
    } catch (error) {
      throw new Error(`${prefix} ${String(error)}`, { cause: error });
    }
  }
}

export const ipcMain = new FakeIpcMain();

class FakeIpcRenderer extends EventEmitter implements Pick<Electron['ipcRenderer'], 'invoke'> {
  /** Sends from the top frame of the first window. */
  invoke(channel: string, ...args: unknown[]): Promise<unknown> {
    const frame = BrowserWindow.getAllWindows()[0]?.webContents.mainFrame ?? null;
    return ipcMain.invoke(frame, channel, ...args);
  }
}

export const ipcRenderer = new FakeIpcRenderer();

export const webUtils = {
  getPathForFile: (file) => `/chosen/${file.name}`,
} satisfies Pick<Electron['webUtils'], 'getPathForFile'>;

/** shell/renderer/api/electron_api_context_bridge.cc. */
export const contextBridge = {
  exposeInMainWorld(key: string, api: unknown): void {
    if (key in machine.mainWorld)
      throw new Error(`Cannot bind an API on top of an existing property: ${key}`);
    machine.mainWorld[key] = throughContextBridge(api);
  },
} satisfies Pick<Electron['contextBridge'], 'exposeInMainWorld'>;

/** docs/api/context-bridge.md, "Parameter / Error / Return Type support": copied and frozen, functions wrapped, errors a message. */
function throughContextBridge(value: unknown): unknown {
  if (typeof value === 'function') {
    return (...args: unknown[]) => {
      try {
        const result: unknown = Reflect.apply(value, undefined, args.map(throughContextBridge));
        return throughContextBridge(result);
      } catch (error) {
        throw throughContextBridge(error) as Error;
      }
    };
  }
  if (value instanceof Promise) {
    return value.then(throughContextBridge, (error: unknown) => {
      throw throughContextBridge(error) as Error;
    });
  }
  if (value instanceof Error) return new Error(value.message);
  if (Array.isArray(value)) return value.map(throughContextBridge);
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.freeze(
      Object.fromEntries(Object.entries(value).map(([key, member]) => [key, throughContextBridge(member)])),
    );
  }
  return structuredClone(value);
}

type ProtocolHandler = Parameters<Electron['protocol']['handle']>[1];

/** lib/browser/api/protocol.ts, shell/browser/api/electron_api_protocol.cc; docs/api/protocol.md: once, before `ready`. */
class FakeProtocol implements Pick<Electron['protocol'], 'handle' | 'registerSchemesAsPrivileged'> {
  readonly #handlers = new Map<string, ProtocolHandler>();

  registerSchemesAsPrivileged(schemes: electron.CustomScheme[]): void {
    needsUnready('protocol.registerSchemesAsPrivileged');
    if (machine.schemes.length > 0) throw new Error('registerSchemesAsPrivileged can be called once only');
    machine.schemes = schemes;
  }

  handle(scheme: string, handler: ProtocolHandler): void {
    needsReady('protocol');
    if (this.#handlers.has(scheme)) throw new Error(`Failed to register protocol: ${scheme}`);
    this.#handlers.set(scheme, handler);
  }

  unhandle(scheme: string): void {
    this.#handlers.delete(scheme);
  }

  /** The response to a request of the page. */
  async request(url: string, init?: RequestInit): Promise<Response> {
    const handler = this.#handlers.get(new URL(url).protocol.slice(0, -1));
    if (handler === undefined) throw new Error(`ERR_UNKNOWN_URL_SCHEME loading '${url}'`);
    return handler(new Request(url, init));
  }
}

export const protocol = new FakeProtocol();

/** docs/api/power-monitor.md: the systems that have each event, where it is not all of them. */
const powerEvents: Readonly<Record<string, readonly NodeJS.Platform[]>> = {
  'lock-screen': ['darwin', 'win32'],
  'unlock-screen': ['darwin', 'win32'],
  'user-did-become-active': ['darwin'],
  'user-did-resign-active': ['darwin'],
  shutdown: ['darwin', 'linux'],
};

class FakePowerMonitor
  extends EventEmitter
  implements Pick<Electron['powerMonitor'], 'getSystemIdleState' | 'getSystemIdleTime'>
{
  override emit(name: string, ...given: unknown[]): boolean {
    if (powerEvents[name]?.includes(process.platform) === false) {
      throw new Error(`Electron sends no ${name} on ${process.platform}`);
    }
    return super.emit(name, ...given);
  }

  /** ui/ozone/platform/wayland/host/wayland_screen.cc, `CalculateIdleTime`: 0 where the compositor does not tell. */
  getSystemIdleTime(): number {
    needsReady('powerMonitor');
    return process.platform === 'linux' && !machine.saysIdle ? 0 : machine.idleSeconds;
  }

  /** ui/base/idle/idle_linux.cc: locked is what a screen saver of the session's bus says, where there is one. */
  getSystemIdleState(idleThreshold: number): ReturnType<Electron['powerMonitor']['getSystemIdleState']> {
    needsReady('powerMonitor');
    if (!(idleThreshold > 0)) throw new TypeError('Invalid idle threshold, must be greater than 0');
    if (machine.screenLocked && (process.platform !== 'linux' || machine.saysLocked)) return 'locked';
    return this.getSystemIdleTime() >= idleThreshold ? 'idle' : 'active';
  }
}

export const powerMonitor = new FakePowerMonitor();

/** Entries as the menu was made of; a click is a call of the entry's own function. */
export class FakeMenu {
  readonly template: readonly electron.MenuItemConstructorOptions[];

  constructor(template: readonly electron.MenuItemConstructorOptions[]) {
    this.template = template;
  }

  get labels(): string[] {
    return this.template.map(({ label, role, type }) => label ?? role ?? type ?? '');
  }

  /** An entry, also of a menu below. */
  item(label: string, among = this.template): electron.MenuItemConstructorOptions | undefined {
    for (const entry of among) {
      if (entry.label === label) return entry;
      const below = Array.isArray(entry.submenu) ? this.item(label, entry.submenu) : undefined;
      if (below !== undefined) return below;
    }
    return undefined;
  }

  choose(label: string): void {
    const item = this.item(label);
    if (item === undefined) throw new Error(`no menu entry ${label} in ${this.labels.join(', ')}`);
    if (item.role === 'quit') app.quit();
    // Keyhearth's entries look at none of what Electron passes to them.
    else (item.click as (() => void) | undefined)?.();
  }
}

export const Menu = {
  buildFromTemplate: (template: electron.MenuItemConstructorOptions[]): FakeMenu => new FakeMenu(template),
  setApplicationMenu(menu: FakeMenu): void {
    machine.menu = menu;
  },
} satisfies Record<keyof typeof electron.Menu & ('buildFromTemplate' | 'setApplicationMenu'), unknown>;

export interface FakeImage {
  readonly path: string;
}

export const nativeImage = {
  createFromPath: (path: string): FakeImage => ({ path }),
} satisfies Record<keyof Electron['nativeImage'] & 'createFromPath', unknown>;

class FakeTray
  extends EventEmitter
  implements Pick<electron.Tray, 'destroy' | 'isDestroyed' | 'setTitle' | 'setToolTip'>
{
  image: FakeImage;
  toolTip = '';
  title = '';
  menu: FakeMenu | undefined;
  #destroyed = false;

  constructor(image: FakeImage) {
    super();
    needsReady('Tray');
    this.image = image;
    machine.trays.push(this);
  }

  setToolTip(toolTip: string): void {
    this.#mustLive();
    this.toolTip = toolTip;
  }

  setTitle(title: string): void {
    this.#mustLive();
    this.title = title;
  }

  setImage(image: FakeImage): void {
    this.#mustLive();
    this.image = image;
  }

  setContextMenu(menu: FakeMenu): void {
    this.#mustLive();
    this.menu = menu;
  }

  isDestroyed(): boolean {
    return this.#destroyed;
  }

  destroy(): void {
    this.#destroyed = true;
  }

  /** shell/browser/api/electron_api_tray.cc, `CheckAlive`. */
  #mustLive(): void {
    if (this.#destroyed) throw new Error('Tray is destroyed');
  }
}

export { FakeTray as Tray };

class FakeNotification extends EventEmitter implements Pick<electron.Notification, 'close' | 'show'> {
  readonly title: string;
  readonly body: string;
  isShown = false;

  constructor({ title = '', body = '' }: electron.NotificationConstructorOptions = {}) {
    super();
    needsReady('Notification');
    this.title = title;
    this.body = body;
    machine.notifications.push(this);
  }

  static isSupported(): boolean {
    return machine.notifies;
  }

  /** docs/api/notification.md: macOS shows no notification of an unsigned application, and `failed` comes later. */
  show(): void {
    if (process.platform === 'darwin' && !machine.signed) {
      nativeTask(() => {
        this.emit('failed', new FakeEvent(), 'Notifications are not allowed for this application');
        return undefined;
      });
      return;
    }
    this.isShown = true;
  }

  close(): void {
    this.isShown = false;
    this.emit('close');
  }
}

export { FakeNotification as Notification };

type SessionHandlers = Pick<
  electron.Session,
  | 'setDevicePermissionHandler'
  | 'setDisplayMediaRequestHandler'
  | 'setPermissionCheckHandler'
  | 'setPermissionRequestHandler'
>;
type HandlerOf<Name extends keyof SessionHandlers> = Parameters<SessionHandlers[Name]>[0];
type BeforeRequest = NonNullable<Parameters<electron.WebRequest['onBeforeRequest']>[0]> &
  ((...args: never[]) => void);

export class FakeSession extends EventEmitter implements SessionHandlers, Pick<electron.Session, 'setProxy'> {
  device: HandlerOf<'setDevicePermissionHandler'> = null;
  displayMedia: HandlerOf<'setDisplayMediaRequestHandler'> = null;
  permissionCheck: HandlerOf<'setPermissionCheckHandler'> = null;
  permissionRequest: HandlerOf<'setPermissionRequestHandler'> = null;
  beforeRequest: BeforeRequest | undefined;
  /** docs/api/session.md: the system's, until another is set. */
  proxy: electron.ProxyConfig = { mode: 'system' };

  readonly webRequest = {
    onBeforeRequest: (listener: BeforeRequest): void => {
      this.beforeRequest = listener;
    },
  };

  setDevicePermissionHandler(handler: HandlerOf<'setDevicePermissionHandler'>): void {
    this.device = handler;
  }

  setDisplayMediaRequestHandler(handler: HandlerOf<'setDisplayMediaRequestHandler'>): void {
    this.displayMedia = handler;
  }

  setPermissionCheckHandler(handler: HandlerOf<'setPermissionCheckHandler'>): void {
    this.permissionCheck = handler;
  }

  setPermissionRequestHandler(handler: HandlerOf<'setPermissionRequestHandler'>): void {
    this.permissionRequest = handler;
  }

  setProxy(config: electron.ProxyConfig): Promise<void> {
    this.proxy = config;
    return Promise.resolve();
  }
}

const defaultSession = new FakeSession();

export const session = {
  get defaultSession(): FakeSession {
    needsReady('session');
    return defaultSession;
  },
} satisfies Record<keyof Electron['session'] & 'defaultSession', unknown>;

export const clipboard = {
  writeText(text: string): Promise<void> {
    machine.clipboard = text;
    return Promise.resolve();
  },
  readText(): Promise<string> {
    return Promise.resolve(machine.clipboard);
  },
} satisfies Pick<Electron['clipboard'], 'readText' | 'writeText'>;

export const dialog = {
  showErrorBox(title: string, content: string): void {
    machine.dialogs.push({ title, content });
  },
  showMessageBox(options: electron.MessageBoxOptions): Promise<electron.MessageBoxReturnValue> {
    machine.questions.push(options);
    return Promise.resolve({ response: machine.answers.shift() ?? 0, checkboxChecked: false });
  },
  showSaveDialog(options: electron.SaveDialogOptions): Promise<electron.SaveDialogReturnValue> {
    machine.saves.push(options);
    const filePath = machine.savedTo;
    return Promise.resolve({ canceled: filePath === undefined, filePath: filePath ?? '' });
  },
} satisfies Record<
  keyof Electron['dialog'] & ('showErrorBox' | 'showMessageBox' | 'showSaveDialog'),
  unknown
>;

/** A test may change it, as a person may change the system's. */
type NativeTheme = { -readonly [Key in 'shouldUseDarkColors']: Electron['nativeTheme'][Key] };

export const nativeTheme: NativeTheme = { shouldUseDarkColors: false };

export const shell = {
  openExternal(url: string): Promise<void> {
    machine.openedExternally.push(url);
    return Promise.resolve();
  },
} satisfies Pick<Electron['shell'], 'openExternal'>;

export const globalShortcut = {
  /**
   * shell/browser/api/electron_api_global_shortcut.cc, `Register`: where the desktop's portal has the shortcuts, it says yes
   * before it has asked the portal, and reports no refusal.
   */
  register(accelerator: string, callback: () => void): boolean {
    needsReady('globalShortcut');
    if (machine.shortcutsByPortal) {
      if (machine.portalBinds) machine.shortcuts.set(accelerator, callback);
      return true;
    }
    if (machine.shortcutsTaken) return false;
    machine.shortcuts.set(accelerator, callback);
    return true;
  },
  unregister(accelerator: string): void {
    machine.shortcuts.delete(accelerator);
  },
} satisfies Pick<Electron['globalShortcut'], 'register' | 'unregister'>;

export const screen = {
  getAllDisplays(): { readonly workArea: electron.Rectangle }[] {
    needsReady('screen');
    return machine.displays;
  },
} satisfies Record<keyof Electron['screen'] & 'getAllDisplays', unknown>;

/** docs/api/net.md: of use after `ready` alone. */
export const net = {
  isOnline(): boolean {
    needsReady('net.isOnline');
    return machine.online;
  },
} satisfies Pick<Electron['net'], 'isOnline'>;

/**
 * Each system's view of a program from outside: windows, the sandbox, the entry that starts it at login; and
 * how to end it.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pageProcesses, type PageProcess } from './sandbox.ts';

const run = async (program: string, argv: readonly string[]): Promise<string> => {
  // Titles have letters that a program writes as numbers in any other locale.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  return (await promisify(execFile)(program, argv, { encoding: 'utf8', env })).stdout;
};

/** A window that is on the screen. */
export interface Shown {
  /** Undefined where the system tells other programs no titles. */
  readonly title: string | undefined;
  /** The desktop's identity for the program; undefined if it has none. */
  readonly identity: string | undefined;
}

export interface System {
  windowsOf(pid: number): Promise<readonly Shown[]>;
  /** The processes of its pages; undefined where the system tells other programs nothing of their sandbox. */
  pagesOf(pid: number): Promise<readonly PageProcess[] | undefined>;
  /** Ends it as the system itself would, at the end of a session for example. */
  quit(pid: number): Promise<void>;
  /** True if this way of ending lets a program close its vault. */
  readonly quitsInOrder: boolean;
  /** The words by which the session starts Keyhearth with this vault; undefined where it does not. */
  loginEntry(vault: string): Promise<readonly string[] | undefined>;
}

/** Splits a line of Windows into words, as `CommandLineToArgvW` does. */
export function splitCommandLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const [slashes = ''] = /^\\*/.exec(line.slice(at)) ?? [];
    const after = line[at + slashes.length];
    if (slashes !== '') {
      const isEscape = after === '"';
      word = (word ?? '') + '\\'.repeat(isEscape ? Math.floor(slashes.length / 2) : slashes.length);
      at += slashes.length - 1;
      if (isEscape && slashes.length % 2 === 1) {
        word += '"';
        at++;
      }
    } else if (after === '"') {
      isQuoted = !isQuoted;
      word ??= '';
    } else if (!isQuoted && (after === ' ' || after === '\t')) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + (after ?? '');
    }
  }
  return word === undefined ? words : [...words, word];
}

/** Splits the `Exec` of a desktop entry in which every word is quoted, or needs no quotes. */
export function splitExec(line: string): string[] {
  // The entry escapes backslashes once more than its quotes do.
  const text = line.replaceAll('\\\\', '\\');
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain = '']) =>
    (quoted?.replace(/\\(.)/g, '$1') ?? plain).replaceAll('%%', '%'),
  );
}

const entryOf = (words: readonly string[], vault: string): readonly string[] | undefined =>
  words.includes(`--data-dir=${vault}`) ? words : undefined;

/** The entry of a vault among files of a directory. */
async function entryAmong(
  directory: string,
  ending: RegExp,
  vault: string,
  read: (file: string) => Promise<readonly string[]> | readonly string[],
): Promise<readonly string[] | undefined> {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return undefined;
  }
  for (const name of names.filter((each) => ending.test(each))) {
    const entry = entryOf(await read(join(directory, name)), vault);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

interface SwayNode {
  readonly pid?: number;
  readonly name?: string | null;
  readonly app_id?: string | null;
  readonly visible?: boolean;
  readonly nodes?: readonly SwayNode[];
  readonly floating_nodes?: readonly SwayNode[];
}

/** Windows of Sway, a compositor that tells what it shows. */
async function waylandWindows(pid: number): Promise<readonly Shown[]> {
  const all = (node: SwayNode): SwayNode[] => [
    node,
    ...[...(node.nodes ?? []), ...(node.floating_nodes ?? [])].flatMap(all),
  ];
  const tree = JSON.parse(await run('swaymsg', ['--type', 'get_tree', '--raw'])) as SwayNode;
  return all(tree)
    .filter((node) => node.pid === pid && node.visible === true)
    .map((node) => ({ title: node.name ?? undefined, identity: node.app_id ?? undefined }));
}

async function xWindows(pid: number): Promise<readonly Shown[]> {
  // It ends with 1 where it finds none.
  const found = await run('xdotool', ['search', '--onlyvisible', '--name', '.']).catch(() => '');
  const shown: Shown[] = [];
  for (const id of found.split('\n').filter((line) => line !== '')) {
    const text = await run('xprop', ['-id', id, '_NET_WM_PID', 'WM_CLASS', '_NET_WM_NAME']).catch(() => '');
    if (!new RegExp(`^_NET_WM_PID\\(CARDINAL\\) = ${String(pid)}$`, 'm').test(text)) continue;
    const [, title] = /^_NET_WM_NAME\(UTF8_STRING\) = "(.*)"$/m.exec(text) ?? [];
    const [, identity] = /^WM_CLASS\(STRING\) = "[^"]*", "([^"]*)"$/m.exec(text) ?? [];
    shown.push({ title, identity });
  }
  return shown;
}

const linux: System = {
  pagesOf: (pid) => Promise.resolve(pageProcesses(pid)),
  windowsOf: (pid) => (process.env['SWAYSOCK'] === undefined ? xWindows(pid) : waylandWindows(pid)),
  // As systemd ends a session.
  quit(pid) {
    process.kill(pid, 'SIGTERM');
    return Promise.resolve();
  },
  quitsInOrder: true,
  loginEntry: (vault) =>
    entryAmong(
      join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'autostart'),
      /^keyhearth.*[.]desktop$/,
      vault,
      (file) => splitExec(/^Exec=(.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? ''),
    ),
};

/** Runs JavaScript for Automation, which reaches the system's frameworks and needs no permission for these. */
const automate = (script: string): Promise<string> => run('osascript', ['-l', 'JavaScript', '-e', script]);

const mac: System = {
  pagesOf: () => Promise.resolve(undefined),
  async windowsOf(pid) {
    const titles = JSON.parse(
      await automate(`
        ObjC.import('CoreGraphics');
        const all = ObjC.deepUnwrap(ObjC.castRefToObject($.CGWindowListCopyWindowInfo(1, 0)));
        JSON.stringify(all
          .filter((each) => each.kCGWindowOwnerPID === ${String(pid)} && each.kCGWindowLayer === 0)
          .map((each) => each.kCGWindowName ?? null));`),
    ) as readonly (string | null)[];
    return titles.map((title) => ({ title: title ?? undefined, identity: undefined }));
  },
  // As the Dock and a log-out do.
  async quit(pid) {
    await automate(`
      ObjC.import('AppKit');
      $.NSRunningApplication.runningApplicationWithProcessIdentifier(${String(pid)}).terminate;`);
  },
  quitsInOrder: true,
  loginEntry: (vault) =>
    entryAmong(
      join(homedir(), 'Library/LaunchAgents'),
      /^app[.]keyhearth[.].*[.]plist$/,
      vault,
      async (file) => {
        const agent = JSON.parse(await run('plutil', ['-convert', 'json', '-o', '-', file])) as {
          readonly ProgramArguments: readonly string[];
        };
        return agent.ProgramArguments;
      },
    ),
};

/** Encoded, since each program on the way has rules of its own for quotes; and so that titles arrive as they are. */
const powershell = (script: string): Promise<string> => {
  const all = `[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)\n${script}`;
  const encoded = Buffer.from(all, 'utf16le').toString('base64');
  return run('powershell', ['-NoProfile', '-NonInteractive', '-EncodedCommand', encoded]);
};

/** Windows' Restart Manager, by which installers and a log-off ask programs to end. */
const restartManager = (pid: number): string => `
$ErrorActionPreference = 'Stop'
Add-Type -TypeDefinition @'
using System;
using System.Runtime.InteropServices;
using System.Text;
public static class RestartManager {
  [StructLayout(LayoutKind.Sequential)]
  public struct Unique { public int Id; public uint StartLow; public uint StartHigh; }
  [DllImport("rstrtmgr.dll", CharSet = CharSet.Unicode)]
  static extern int RmStartSession(out uint session, int flags, StringBuilder key);
  [DllImport("rstrtmgr.dll", CharSet = CharSet.Unicode)]
  static extern int RmRegisterResources(uint session, uint files, string[] names, uint programs, Unique[] ids, uint services, string[] serviceNames);
  [DllImport("rstrtmgr.dll")]
  static extern int RmShutdown(uint session, uint flags, IntPtr status);
  [DllImport("rstrtmgr.dll")]
  static extern int RmEndSession(uint session);
  public static int End(int id, long started) {
    uint session;
    int failure = RmStartSession(out session, 0, new StringBuilder(33));
    if (failure != 0) return failure;
    var ids = new[] { new Unique { Id = id, StartLow = (uint)started, StartHigh = (uint)(started >> 32) } };
    failure = RmRegisterResources(session, 0, null, 1, ids, 0, null);
    if (failure == 0) failure = RmShutdown(session, 0, IntPtr.Zero);
    RmEndSession(session);
    return failure;
  }
}
'@
$started = (Get-Process -Id ${String(pid)}).StartTime.ToFileTimeUtc()
$failure = [RestartManager]::End(${String(pid)}, $started)
if ($failure -ne 0) { throw "the Restart Manager failed with $failure" }`;

const windows: System = {
  pagesOf: () => Promise.resolve(undefined),
  async windowsOf(pid) {
    const title = (await powershell(`(Get-Process -Id ${String(pid)}).MainWindowTitle`)).trim();
    return title === '' ? [] : [{ title, identity: undefined }];
  },
  async quit(pid) {
    await powershell(restartManager(pid));
  },
  // Electron ends at once when a session does.
  quitsInOrder: false,
  async loginEntry(vault) {
    const text = await powershell(
      String.raw`Get-ItemProperty 'HKCU:\Software\Microsoft\Windows\CurrentVersion\Run' | ConvertTo-Json -Depth 1`,
    );
    const values = Object.entries(JSON.parse(text.trim() === '' ? '{}' : text) as Record<string, unknown>);
    for (const [name, line] of values) {
      if (!name.startsWith('keyhearth') || typeof line !== 'string') continue;
      const entry = entryOf(splitCommandLine(line), vault);
      if (entry !== undefined) return entry;
    }
    return undefined;
  },
};

/** @throws Error for a system that Keyhearth is not shipped for. */
export function thisSystem(platform: NodeJS.Platform = process.platform): System {
  const system = ({ linux, darwin: mac, win32: windows } as Partial<Record<NodeJS.Platform, System>>)[
    platform
  ];
  if (system === undefined) throw new Error(`Keyhearth is not shipped for ${platform}`);
  return system;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

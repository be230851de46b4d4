/**
 * Starting with the session, into the tray, with the vault and the port of this start. Not for what runs from its sources:
 * the entry would outlive them.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { app } from 'electron';
import { makeDirectory } from '../files/directories.ts';
import { startArguments, type Config } from '../app/config.ts';
import { replaceFile } from '../files/new-files.ts';
import { KeyhearthError } from '../lib/errors.ts';
import type { ShellChoice } from '../lib/desktop-capabilities.ts';
import { applicationId } from './application-id.ts';
import { report } from './report.ts';

/** Marks a start at login, which shows no window. */
export const hiddenSwitch = 'hidden';

/** The program that starts with the session. */
interface Start {
  /** Each vault has an entry of its own. */
  readonly name: string;
  readonly executable: string;
  /** Without the switch for a hidden start. */
  readonly args: readonly string[];
}

/** @returns undefined where it cannot start with the session. */
export function loginItem(config: Config): ShellChoice<boolean> | undefined {
  if (!app.isPackaged) return undefined;
  const { args, elsewhere } = startArguments(config);
  const start: Start = {
    name: elsewhere === undefined ? 'keyhearth' : `keyhearth-${shortHash(elsewhere)}`,
    // An AppImage runs from a place that is gone after it.
    executable: config.appImage ?? process.execPath,
    args,
  };
  // The files below have one line for each, and a valid path does not contain line breaks.
  if ([start.executable, ...args].some((word) => /\p{Cc}/u.test(word))) return undefined;
  switch (process.platform) {
    case 'darwin':
      return elsewhere === undefined ? ownMacItem(start) : launchAgent(start);
    case 'win32':
      return windowsItem(start);
    default:
      return autostartFile(start);
  }
}

/** True if the session started this process. */
export const isHiddenStart = (): boolean =>
  app.commandLine.hasSwitch(hiddenSwitch) ||
  (process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin);

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** macOS starts the application itself without arguments; with some, an agent of launchd does. */
function ownMacItem(start: Start): ShellChoice<boolean> {
  const agent = launchAgent(start);
  return {
    read: () => app.getLoginItemSettings().openAtLogin || agent.read(),
    write(isOn) {
      const isPlain = start.args.length === 0;
      agent.write(isOn && !isPlain);
      app.setLoginItemSettings({ openAtLogin: isOn && isPlain });
      if (isOn && isPlain && app.getLoginItemSettings().status === 'requires-approval') {
        throw new KeyhearthError(
          'FAILED_PRECONDITION',
          'settings.startAtLogin: macOS does not let Keyhearth start at login. Allow Keyhearth in System Settings, General, Login Items.',
        );
      }
    },
  };
}

function launchAgent({ name, executable, args }: Start): FileItem {
  const label = `${applicationId}.${name}`;
  const file = join(app.getPath('home'), 'Library', 'LaunchAgents', `${label}.plist`);
  const words = [executable, `--${hiddenSwitch}`, ...args].map(
    (word) => `      <string>${inXml(word)}</string>`,
  );
  return fileItem(file, [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '  <dict>',
    `    <key>Label</key>\n    <string>${label}</string>`,
    `    <key>ProgramArguments</key>\n    <array>\n${words.join('\n')}\n    </array>`,
    '    <key>RunAtLoad</key>\n    <true/>',
    '    <key>LimitLoadToSessionType</key>\n    <string>Aqua</string>',
    '    <key>ProcessType</key>\n    <string>Interactive</string>',
    `    <key>AssociatedBundleIdentifiers</key>\n    <string>${applicationId}</string>`,
    '  </dict>',
    '</plist>',
  ]);
}

const inXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * A value of the registry's `Run` key. Electron quotes the arguments itself, and the typings' advice to do it is older; it reads
 * the path to look for as a command line, so that one with a space is quoted here, which writing takes off again.
 */
function windowsItem({ name, executable, args }: Start): ShellChoice<boolean> {
  const path = `"${executable}"`;
  return {
    read: () =>
      app.getLoginItemSettings({ path }).launchItems.some((item) => item.name === name && item.enabled),
    write(isOn) {
      app.setLoginItemSettings({ name, path, openAtLogin: isOn, args: [`--${hiddenSwitch}`, ...args] });
    },
  };
}

/** The desktop environments' own way; Electron has none for it. */
function autostartFile({ name, executable, args }: Start): ShellChoice<boolean> {
  const file = join(app.getPath('appData'), 'autostart', `${name}.desktop`);
  const exec = [inExec(executable), `--${hiddenSwitch}`, ...args.map(inExec)].join(' ');
  const item = fileItem(file, [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Keyhearth',
    'Comment=A key vault for one person and their scripts',
    `Exec=${exec}`,
    `TryExec=${inDesktopEntry(executable)}`,
    'Icon=keyhearth-desktop',
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
  ]);
  const read = (): boolean => {
    const text = textOf(file);
    // As the desktop environments' own settings switch it off.
    return text !== undefined && !/^(Hidden=true|X-GNOME-Autostart-enabled=false)$/m.test(text);
  };
  // A new version of an AppImage may be another file, beside the old one or in its place.
  const named = /^TryExec=(.*)$/m.exec(textOf(file) ?? '')?.[1];
  if (named !== undefined && read() && !existsSync(named.replaceAll('\\\\', '\\'))) {
    try {
      item.write(true);
    } catch (error) {
      report('the entry that starts Keyhearth with the session', error);
    }
  }
  return { ...item, read };
}

/** As the Desktop Entry Specification has arguments of Exec: quoted, its own characters escaped twice, `%` doubled. */
const inExec = (word: string): string =>
  `"${inDesktopEntry(word.replace(/["`$\\]/g, String.raw`\$&`)).replaceAll('%', '%%')}"`;

const inDesktopEntry = (text: string): string => text.replaceAll('\\', '\\\\');

interface FileItem extends ShellChoice<boolean> {
  write(value: boolean): void;
}

/** Starts with the session while a file is there. */
function fileItem(file: string, lines: readonly string[]): FileItem {
  return {
    read: () => existsSync(file),
    write(isOn) {
      if (!isOn) {
        rmSync(file, { force: true });
        return;
      }
      makeDirectory(dirname(file));
      replaceFile(file, `${lines.join('\n')}\n`);
    },
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

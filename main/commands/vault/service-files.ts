/** The files by which systemd and launchd run `keyhearth serve` for a user: pure text. */
import { CommandError, exitCodes } from '../shared/output.ts';

export interface ServiceSpecification {
  /** The words that run the service, the program's absolute path first. */
  readonly command: readonly [string, ...string[]];
  /** An absolute path, of a file with the vault's password in its first line. */
  readonly passwordFile?: string;
}

/** Marks every file that is created here; a file without it is another program's. */
export const madeBy = 'Made by "keyhearth service install"';

export const systemdName = 'keyhearth.service';

export const launchdLabel = 'app.keyhearth.service';

/** The credential's name is what `keyhearth serve` looks for in `$CREDENTIALS_DIRECTORY`. */
const credential = 'keyhearth-password';

/** Exit codes of a service that would end the same way again. A full disk is none: there may be room later. */
const endings = [
  exitCodes.usage,
  exitCodes.absent,
  exitCodes.busy,
  exitCodes.locked,
  exitCodes.damaged,
] as const;

/** True if a service with this exit code would end the same way again. */
export const isFinal = (code: unknown): boolean => endings.some((ending) => ending === code);

/** A unit of the user's own systemd. It restarts what crashed, but not what would fail the same way again. */
export function systemdUnit({ command, passwordFile }: ServiceSpecification): string {
  return [
    `# ${madeBy}, and replaced by it.`,
    '[Unit]',
    'Description=Keyhearth key vault',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${command.map(systemdWord).join(' ')}`,
    ...(passwordFile === undefined ? [] : [`LoadCredential=${credential}:${systemdText(passwordFile)}`]),
    'Restart=on-failure',
    'RestartSec=5',
    `RestartPreventExitStatus=${endings.join(' ')}`,
    'UMask=0077',
    '# What is in memory stays there: no core dumps, and nothing in the swap space where the system can tell.',
    'LimitCORE=0',
    'MemorySwapMax=0',
    'NoNewPrivileges=yes',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'LockPersonality=yes',
    'SystemCallArchitectures=native',
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** A word of a command line, as systemd unquotes it: escapes, variables and specifiers mean themselves. */
const systemdWord = (word: string): string =>
  `"${systemdText(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('$', '$$$$')}"`;

function systemdText(text: string): string {
  refuseControls(text);
  return text.replaceAll('%', '%%');
}

/** The option by which `keyhearth serve` ends with 0 where launchd is not to start it again. */
export const launchdOption = '--launchd';

/**
 * An agent of launchd. It restarts what ended with an error, no more often than every ten seconds. launchd has no list of exit
 * codes, so the service itself tells it which of them are final.
 */
export function launchdAgent({ command, passwordFile }: ServiceSpecification, logFile: string): string {
  const words = [
    ...command,
    launchdOption,
    ...(passwordFile === undefined ? [] : ['--password-file', passwordFile]),
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${madeBy}, and replaced by it. -->`,
    '<plist version="1.0">',
    '<dict>',
    entry('Label', string(launchdLabel)),
    entry('ProgramArguments', `<array>\n${words.map((word) => `    ${string(word)}\n`).join('')}  </array>`),
    entry('RunAtLoad', '<true/>'),
    entry('KeepAlive', `<dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>`),
    entry('ProcessType', string('Background')),
    // 077
    entry('Umask', '<integer>63</integer>'),
    entry('HardResourceLimits', '<dict>\n    <key>Core</key>\n    <integer>0</integer>\n  </dict>'),
    entry('StandardOutPath', string(logFile)),
    entry('StandardErrorPath', string(logFile)),
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

const entry = (key: string, value: string): string => `  <key>${key}</key>\n  ${value}`;

function string(text: string): string {
  refuseControls(text);
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<string>${escaped}</string>`;
}

/** @throws CommandError where a text cannot stand on one line of a file. */
function refuseControls(text: string): void {
  if (!/\p{Cc}/u.test(text)) return;
  throw new CommandError(
    exitCodes.usage,
    `${JSON.stringify(text)} cannot be part of a service: expected a text without control characters`,
  );
}

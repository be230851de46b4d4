/** State and settings that only the desktop shell has, and a browser does not. */
export interface DesktopCapabilities {
  /** Answers if the machine is connected; `true` may be wrong, `false` is reliable. */
  readonly isOnline?: () => boolean;
  readonly startAtLogin?: ShellChoice<boolean>;
  readonly updates?: ShellChoice<'off' | 'ask'>;
  readonly desktop?: () => DesktopFacts;
}

/** The services of a desktop that the settings report. */
export interface DesktopFacts {
  /** True if the shell reports a locked screen. */
  readonly reportsLock: boolean;
  /** The shortcut that freezes from anywhere: the system gave it, another program has it, or the desktop does not say. */
  readonly freezeShortcut: 'bound' | 'taken' | 'unknown';
}

export interface ShellChoice<Value> {
  read(): Value;
  write(value: Value): void | Promise<void>;
}

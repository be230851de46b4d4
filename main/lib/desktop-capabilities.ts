/** What only the shell around the service knows, and what of the settings only it can change: the desktop's, not a browser's. */
export interface DesktopCapabilities {
  /** Whether the machine is connected; a yes may be wrong, a no is not. */
  readonly isOnline?: () => boolean;
  readonly startAtLogin?: ShellChoice<boolean>;
  readonly updates?: ShellChoice<'off' | 'ask'>;
  readonly desktop?: () => DesktopFacts;
}

/** The services of a desktop that the settings report. */
export interface DesktopFacts {
  /** Whether it reports that its screen is locked. */
  readonly reportsLock: boolean;
  /** The shortcut that freezes from anywhere: the system gave it, another program has it, or the desktop does not say. */
  readonly freezeShortcut: 'bound' | 'taken' | 'unknown';
}

export interface ShellChoice<Value> {
  read(): Value;
  write(value: Value): void | Promise<void>;
}

/** What only the shell around the service knows, and what of the settings only it can change: the desktop's, not a browser's. */
export interface Shell {
  /** Whether the machine is connected; a yes may be wrong, a no is not. */
  readonly isOnline?: () => boolean;
  readonly startAtLogin?: ShellChoice<boolean>;
  readonly updates?: ShellChoice<'off' | 'ask'>;
}

export interface ShellChoice<Value> {
  read(): Value;
  write(value: Value): void | Promise<void>;
}

/** What of the settings only the shell around the service can answer and change: the desktop's, not a browser's. */
export interface Shell {
  readonly startAtLogin?: ShellChoice<boolean>;
  readonly updates?: ShellChoice<'off' | 'ask'>;
}

export interface ShellChoice<Value> {
  read(): Value;
  write(value: Value): void | Promise<void>;
}

/** The result of one check. */
export interface Finding {
  readonly check: string;
  /** A note is worth knowing and no failure. */
  readonly outcome: 'ok' | 'note' | 'failed';
  readonly detail: string;
}

/** What is to be signed, in plain language: what it does first, then what it says, then what to beware of. */

export interface Line {
  readonly label: string;
  readonly value: string;
}

/** One of the things that a transaction does: an instruction, an output, a contract. */
export interface Part {
  readonly title: string;
  readonly lines: readonly Line[];
}

export interface Description {
  /** One sentence. */
  readonly title: string;
  readonly lines: readonly Line[];
  readonly parts: readonly Part[];
  /** What a person should know before signing. */
  readonly warnings: readonly string[];
  /** Hashes to compare with what another program shows. */
  readonly digests: readonly Line[];
}

export const line = (label: string, value: string | number | bigint): Line => ({
  label,
  value: String(value),
});

/** More parts than a person reads: what is beyond is counted. */
export const mostParts = 100;
/** A text that is longer is cut, and says so. */
const mostCharacters = 1000;

export const cut = (text: string): string =>
  text.length <= mostCharacters
    ? text
    : `${text.slice(0, mostCharacters)}… (${String(text.length)} characters in all)`;

/** What cannot be read is said to be unreadable; signing it is signing blindly. */
export const unreadDescription = (what: string, problem: string): Description => ({
  title: `${what} that cannot be read`,
  lines: [line('Problem', problem)],
  parts: [],
  warnings: ['What this does is not known. Sign it only if you know from elsewhere what it is.'],
  digests: [],
});

/** Describes a signing request in plain language: effects first, then contents, then warnings. */
import { toHex } from '../crypto/encodings.ts';
import { sha256 } from '../crypto/hashes.ts';
import { lookAlikeWarnings } from '../lib/text/look-alikes.ts';
import { directionOf, hasHiddenCharacters, visibleText } from '../lib/text/visible-text.ts';
import { upTo } from '../lib/text/up-to.ts';

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
  /** Why the vault would not sign it: it cannot be read. */
  readonly unread?: string;
  readonly lines: readonly Line[];
  readonly parts: readonly Part[];
  /** Warnings to read before signing. */
  readonly warnings: readonly string[];
  /** Hashes to compare with what another program shows. */
  readonly digests: readonly Line[];
}

export const line = (label: string, value: string | number | bigint): Line => ({
  label,
  value: String(value),
});

/** More parts than a person reads: what is beyond is counted, with a warning, and makes its facts unknown. */
export const mostParts = 1000;

const longestText = 10_000;
const longestBytes = 1000;

/** A longer text is cut, and says how long it is and the SHA-256 of all of it: no two are written the same. */
export const cut = (text: string, most = longestBytes): string =>
  text.length <= most
    ? text
    : `${upTo(text, most)}… (${String(text.length)} characters in all, SHA-256 ${toHex(sha256(Buffer.from(text, 'utf8')))})`;

/** Writes what strangers wrote, and keeps the warnings that it gives cause for, each once. */
export class Writer {
  readonly #warnings = new Set<string>();

  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  warn(...warnings: readonly string[]): void {
    for (const warning of warnings) this.#warnings.add(warning);
  }

  /** A stranger's text with its hidden characters marked. */
  text(text: string): string {
    if (hasHiddenCharacters(text)) {
      this.warn(
        'A text has characters that are not visible, or change how the text looks. They are shown as ⟨U+…⟩.',
      );
    }
    if (text.split('\n').some((line) => directionOf(line) === 'mixed')) {
      this.warn(
        'A line has letters that run from right to left among others. It is shown in the order of its characters, from left to right.',
      );
    }
    this.warn(...lookAlikeWarnings(text));
    if (text.length > longestText) {
      this.warn(
        `A text has ${String(text.length)} characters. Only its first ${String(longestText)} are shown.`,
      );
    }
    return cut(visibleText(text), longestText);
  }

  /** Bytes in hex, which no person reads: cut without a warning. */
  bytes(bytes: Uint8Array, prefix = ''): string {
    return bytes.length === 0 ? 'None' : cut(`${prefix}${toHex(bytes)}`);
  }
}

/** Describes an unreadable payload as unreadable: signing it is blind signing. */
export const unreadDescription = (what: string, problem: string): Description => ({
  title: `${what} that cannot be read`,
  unread: problem,
  lines: [line('Problem', problem)],
  parts: [],
  warnings: ['What this does is not known. Sign it only if you know from elsewhere what it is.'],
  digests: [],
});

/** An ISO time for milliseconds since 1970, or the number if it is out of range. */
export function timeOf(milliseconds: bigint): string {
  const date = new Date(Number(milliseconds));
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString();
}

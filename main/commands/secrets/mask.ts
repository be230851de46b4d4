/**
 * Replaces secrets in the output of a program, wherever they are split among its writes.
 *
 * This keeps secrets out of logs by mistake. It does not hold a program back that spells its secret in a way of its own:
 * reversed, or with a blank between its letters.
 */
import { Transform } from 'node:stream';

export interface MaskedSecret {
  /** Shown in its place. */
  readonly name: string;
  readonly value: Uint8Array;
}

/** A spelling of a secret. */
interface Needle {
  readonly bytes: Buffer;
  readonly mask: string;
}

/** Shorter values are found in ordinary words. */
export const fewestBytes = 4;

/** Of a part of a secret, or another spelling. */
const fewestOfSpelling = 8;

/** The spellings of secrets that are replaced. */
export function needlesOf(secrets: readonly MaskedSecret[]): readonly Needle[] {
  const needles = new Map<string, Needle>();
  for (const { name, value } of secrets) {
    const bytes = Buffer.from(value);
    if (bytes.length < fewestBytes) continue;
    const mask = `<keyhearth://${name}>`;
    for (const spelling of [bytes, ...spellingsOf(bytes)])
      needles.set(spelling.toString('latin1'), { bytes: spelling, mask });
  }
  return [...needles.values()];
}

function spellingsOf(value: Buffer): readonly Buffer[] {
  const text = value.toString('utf8');
  const hex = value.toString('hex');
  // A program may write each line of a secret by itself, or with its own line ends.
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  const texts = [
    ...(lines.length > 1 ? lines : []),
    text.trim(),
    hex,
    hex.toUpperCase(),
    ...base64Of(value),
    encodeURIComponent(text),
    new URLSearchParams({ '': text }).toString().slice(1),
    JSON.stringify(text).slice(1, -1),
  ];
  return texts
    .filter((spelling) => spelling.length >= fewestOfSpelling)
    .map((spelling) => Buffer.from(spelling));
}

/**
 * In Base64 a text looks otherwise by where it begins in what is encoded, as after the `user:` of HTTP's basic
 * authentication. Of each of the three ways there is, the characters that only the secret decides.
 */
const base64Of = (value: Buffer): readonly string[] =>
  [0, 1, 2].flatMap((before) => {
    const after = (3 - ((before + value.length) % 3)) % 3;
    const padded = Buffer.concat([Buffer.alloc(before), value, Buffer.alloc(after)]).toString('base64');
    const own = padded.slice(Math.ceil((before * 4) / 3), padded.length - Math.ceil((after * 4) / 3));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });

interface Range {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

/** Masks one stream. What might be the beginning of a secret waits for what follows it. */
export class Masker {
  readonly #needles: readonly Needle[];
  #held: Buffer = Buffer.alloc(0);
  /** How much of it a mask stands for that is already written. */
  #covered = 0;

  constructor(needles: readonly Needle[]) {
    this.#needles = needles;
  }

  /** @returns what may be shown by now. */
  write(chunk: Uint8Array): Buffer {
    const all = Buffer.concat([this.#held, chunk]);
    this.#held.fill(0);
    return this.#show(all, this.#beginningIn(all));
  }

  /** @returns the rest. */
  end(): Buffer {
    return this.#show(this.#held, this.#held.length);
  }

  /** @param until What follows waits. */
  #show(all: Buffer, until: number): Buffer {
    const shown: Buffer[] = [];
    let at = this.#covered;
    for (const { start, end, mask } of this.#rangesIn(all)) {
      if (start >= until) break;
      if (end <= at) continue;
      // One that overlaps what is masked already goes on behind the same mask.
      if (start >= at) shown.push(all.subarray(at, start), Buffer.from(mask));
      at = end;
    }
    shown.push(all.subarray(at, Math.max(at, until)));
    const text = Buffer.concat(shown);
    this.#held = Buffer.from(all.subarray(until));
    this.#covered = Math.max(0, at - until);
    all.fill(0);
    return text;
  }

  /** All places of all spellings, in order. */
  #rangesIn(all: Buffer): readonly Range[] {
    const ranges: Range[] = [];
    for (const { bytes, mask } of this.#needles) {
      for (let start = all.indexOf(bytes); start !== -1; start = all.indexOf(bytes, start + 1)) {
        ranges.push({ start, end: start + bytes.length, mask });
      }
    }
    return ranges.sort((one, other) => one.start - other.start || other.end - one.end);
  }

  /** @returns where a spelling begins that is not complete yet; the end where none does. */
  #beginningIn(all: Buffer): number {
    let first = all.length;
    for (const { bytes } of this.#needles) {
      const from = Math.max(0, all.length - bytes.length + 1);
      for (
        let at = all.indexOf(bytes[0] ?? 0, from);
        at !== -1 && at < first;
        at = all.indexOf(bytes[0] ?? 0, at + 1)
      ) {
        if (bytes.subarray(0, all.length - at).equals(all.subarray(at))) first = at;
      }
    }
    return first;
  }
}

/** @returns a stream that masks what is written to it. */
export function maskingStream(needles: readonly Needle[]): Transform {
  const masker = new Masker(needles);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, masker.write(chunk));
    },
    flush(done) {
      done(null, masker.end());
    },
  });
}

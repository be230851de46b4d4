/**
 * The law of one reading: two payloads with the same description, or with the same facts, have the same effects. An
 * independent decoder tells the effects. Payloads are mutations of real ones, each the same for a seed and a number.
 */
import type { Holder } from '../../main/chains/chain.ts';
import type { Description } from '../../main/chains/description.ts';
import { concatBytes } from '../../main/crypto/bytes.ts';
import { sha256 } from '../../main/crypto/hashes.ts';
import { Unknown } from '../../main/policy/language/types.ts';

export interface Random {
  /** A whole number from 0 to `count` - 1. */
  readonly below: (count: number) => number;
  readonly pick: <T>(choices: readonly T[]) => T;
}

/** A wallet of the vault, not imported; one for each name. */
export const holderNamed = (name: string): Holder => ({ id: `the id of ${name}`, name, isImported: false });

export interface Reading {
  readonly description: Description;
  /** By keyword, the facts themselves. */
  readonly facts: unknown;
}

export interface LawOptions {
  readonly originals: readonly Uint8Array[];
  /** Changes a payload by its structure; a quarter of the mutations are of bytes alone. */
  readonly mutate: (payload: Uint8Array, random: Random) => Uint8Array;
  /** The vault's reading; undefined where it refuses the payload. */
  readonly read: (payload: Uint8Array) => Reading | undefined;
  /** The independent decoder's: a text that differs where the effects do. It may throw where it cannot read. */
  readonly effects: (payload: Uint8Array) => string;
  /** Stops after so many payloads that the vault reads. */
  readonly reads: number;
  /** Stops after so many payloads at most. */
  readonly tries: number;
  readonly seed: number;
}

export interface Outcome {
  readonly tried: number;
  readonly read: number;
  readonly violations: readonly string[];
}

const mostViolations = 3;

/** Counts the pairs that break the law, and tells the first of them. */
export function violationsOf(options: LawOptions): Outcome {
  const seen = { description: new Map<string, Sighting>(), facts: new Map<string, Sighting>() };
  const violations: string[] = [];
  let tried = 0;
  let read = 0;
  for (; tried < options.tries && read < options.reads && violations.length < mostViolations; tried += 1) {
    const payload = payloadOf(options, tried);
    const reading = options.read(payload);
    if (reading === undefined) continue;
    read += 1;
    const effects = effectsOf(options, payload);
    if (effects === undefined) {
      violations.push(`only the vault reads ${hex(payload)}`);
      continue;
    }
    const { digests: _, ...shown } = reading.description;
    const facts = hasUnknown(reading.facts) ? undefined : reading.facts;
    for (const [law, value] of Object.entries({ description: shown, facts })) {
      if (value === undefined) continue;
      const sightings = seen[law as keyof typeof seen];
      const [key, told] = [digest(written(value)), digest(effects)];
      const before = sightings.get(key);
      if (before === undefined) sightings.set(key, { effects: told, number: tried });
      else if (before.effects !== told) {
        violations.push(
          `the same ${law} of different effects: ${hex(payloadOf(options, before.number))} and ${hex(payload)}: ${written(value)}`,
        );
      }
    }
  }
  return { tried, read, violations };
}

interface Sighting {
  readonly effects: string;
  /** The number by which the payload is built again. */
  readonly number: number;
}

/** The originals themselves come first. */
function payloadOf({ originals, mutate, seed }: LawOptions, number: number): Uint8Array {
  const original = originals[number];
  if (original !== undefined) return original;
  const random = randomOf(seed + number);
  let payload = random.pick(originals);
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    payload = random.below(4) > 0 ? mutate(payload, random) : mutateBytes(payload, random);
  }
  return payload;
}

function effectsOf({ effects }: LawOptions, payload: Uint8Array): string | undefined {
  try {
    return effects(payload);
  } catch {
    return undefined;
  }
}

const telling = [0, 1, 0x7f, 0x80, 0xff];

/** Changes a few bytes: values, lengths, order, or the end. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length + 1);
  const length = 1 + random.below(random.pick([1, 4, 32, 64]));
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(at);
  switch (random.below(7)) {
    case 0:
      return Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ (1 << random.below(8)) : byte));
    case 1:
      return Uint8Array.from(bytes, (byte, index) => (index === at ? random.pick(telling) : byte));
    case 2:
      return Uint8Array.from(bytes, (byte, index) => (index === at ? byte + 1 : byte));
    case 3:
      return concatBytes(
        before,
        Uint8Array.from({ length }, () => random.pick(telling)),
        after,
      );
    case 4:
      return concatBytes(before, after.subarray(length));
    case 5:
      // A part twice.
      return concatBytes(before, after.subarray(0, length), after);
    default:
      return before;
  }
}

/** Mulberry32: the same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed;
  const below = (count: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
  };
  const pick = <T>(choices: readonly T[]): T => {
    if (choices.length === 0) throw new Error('expected something to pick from');
    return choices[below(choices.length)] as T;
  };
  return { below, pick };
}

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/** Short keys: a million of them are kept. */
const digest = (text: string): string =>
  Buffer.from(sha256(Buffer.from(text, 'utf8')).subarray(0, 12)).toString('latin1');

/** JSON in which all values of facts differ; whole numbers are one kind. */
const written = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint' || typeof each === 'number') return { whole: String(each) };
    if (each instanceof Unknown) return { unknown: each.reason };
    return each;
  });

function hasUnknown(value: unknown): boolean {
  if (value instanceof Unknown) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnknown);
}

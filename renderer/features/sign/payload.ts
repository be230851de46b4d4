/** The payload: reading it, choosing its hash function, and formatting the signature. */

import { keccak_256 } from '@noble/hashes/sha3.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { fromHex, toHex } from '../../ui/text/bytes.ts';
import type { Curve } from '../accounts/chains.ts';
import type { ActivityParameters, ActivityResult } from '../../../main/operations/api.ts';
import { t } from '../../app/i18n/text.ts';

type SignParameters = ActivityParameters<'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'>;

export type PayloadForm = 'text' | 'hex';

export type Payload =
  | {
      readonly ok: true;
      readonly bytes: Uint8Array;
      readonly payload: string;
      readonly encoding: SignParameters['encoding'];
    }
  | { readonly ok: false; readonly problem: string };

/** Reads what a person typed or pasted. Hex may carry `0x`, spaces and line breaks. */
export function readPayload(form: PayloadForm, typed: string): Payload {
  if (form === 'text') {
    if (typed === '') return { ok: false, problem: t('Enter the text to sign.') };
    if (!typed.isWellFormed())
      return { ok: false, problem: t('The text contains an incomplete character. Paste the text again.') };
    return {
      ok: true,
      bytes: new TextEncoder().encode(typed),
      payload: typed,
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    };
  }
  const digits = typed.replace(/\s+/g, '').replace(/^0x/i, '');
  if (digits === '') return { ok: false, problem: t('Enter the bytes to sign in hex.') };
  const foreign = /[^0-9a-f]/i.exec(digits);
  if (foreign !== null) {
    return {
      ok: false,
      problem: t('“{{foreign}}” at position {{index}} isn’t a hex digit (0–9, a–f).', {
        foreign: foreign[0],
        index: foreign.index + 1,
      }),
    };
  }
  if (digits.length % 2 === 1) {
    return {
      ok: false,
      problem: t('{{digits}} hex digits don’t form whole bytes. Add or remove one digit.', {
        digits: digits.length,
      }),
    };
  }
  const payload = digits.toLowerCase();
  return { ok: true, bytes: fromHex(payload), payload, encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' };
}

export type HashFunction = SignParameters['hashFunction'];

interface HashRow {
  readonly id: HashFunction;
  readonly label: string;
  readonly about: string;
  readonly curves: readonly Curve[];
  /** The digest for ECDSA; null if the curve hashes by itself. */
  readonly digest: ((bytes: Uint8Array) => Uint8Array) | null;
}

export const hashFunctions: readonly HashRow[] = [
  {
    id: 'HASH_FUNCTION_KECCAK256',
    label: t('Keccak-256'),
    about: t('Used by Ethereum'),
    curves: ['CURVE_SECP256K1', 'CURVE_P256'],
    digest: keccak_256,
  },
  {
    id: 'HASH_FUNCTION_SHA256',
    label: t('SHA-256'),
    about: t('Used by most other systems'),
    curves: ['CURVE_SECP256K1', 'CURVE_P256'],
    digest: sha256,
  },
  {
    id: 'HASH_FUNCTION_NO_OP',
    label: t('None: already a hash'),
    about: t('For exactly 32 bytes'),
    curves: ['CURVE_SECP256K1', 'CURVE_P256'],
    digest: (bytes) => bytes,
  },
  {
    id: 'HASH_FUNCTION_NOT_APPLICABLE',
    label: t('Part of Ed25519'),
    about: t('Ed25519 hashes the message itself'),
    curves: ['CURVE_ED25519'],
    digest: null,
  },
];

/** As `sign_raw_payload` takes what a payload is the hash of. */
export type Preimage = NonNullable<SignParameters['preimage']>;

/**
 * Reads what a hash is said to be of. With which function is found out.
 * @returns what to send along, where something is; or why it is not the hash's.
 */
export function readPreimage(
  hash: Uint8Array,
  typed: string,
): Preimage | null | { readonly problem: string } {
  if (typed.trim() === '') return null;
  const read = readPayload('hex', typed);
  if (!read.ok) return { problem: read.problem };
  const made = (['HASH_FUNCTION_KECCAK256', 'HASH_FUNCTION_SHA256'] as const).find((id) => {
    const digest = hashFunctions.find((row) => row.id === id)?.digest;
    return digest != null && toHex(digest(read.bytes)) === toHex(hash);
  });
  return made === undefined
    ? { problem: t('Neither the Keccak-256 nor the SHA-256 hash matches.') }
    : { bytes: read.payload, hashFunction: made };
}

export const hashFunctionsFor = (curve: Curve): readonly HashRow[] =>
  hashFunctions.filter((row) => row.curves.includes(curve));

export type Signature = ActivityResult<'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'>;

/**
 * True if v has a meaning: it helps to recover the key from a signature of ECDSA, and is 00 for all others.
 */
export const hasRecoveryId = (curve: Curve, schnorr: boolean): boolean =>
  curve !== 'CURVE_ED25519' && !schnorr;

/** One string: 65 bytes r ‖ s ‖ v (recovery id 00 or 01) where there is one, and 64 bytes r ‖ s elsewhere. */
export const joinSignature = ({ r, s, v }: Signature, withRecoveryId: boolean): string =>
  withRecoveryId ? r + s + v : r + s;

/** The form that Ethereum libraries take: `0x`, then r ‖ s ‖ v with v as 27 or 28. */
export const ethereumSignature = ({ r, s, v }: Signature): string =>
  `0x${r}${s}${toHex(Uint8Array.of(27 + Number.parseInt(v, 16)))}`;

interface Read {
  /** The bytes that are signed, or hashed and then signed; empty if the input is unreadable. */
  readonly bytes: Uint8Array;
  /** The problem with the input, or null. */
  readonly problem: string | null;
  /** True if the input is a hash, which may come with its preimage. */
  readonly isHash: boolean;
  readonly preimageProblem: string | null;
  /** As `sign_raw_payload` takes it, but for who signs; null where something is wrong. */
  readonly payload: Omit<SignParameters, 'signWith'> | null;
  /** Hex; null where the curve hashes by itself. */
  readonly digest: string | null;
}

/** Reads what a form says is to be signed. */
export function readRequest(
  form: PayloadForm,
  hash: HashRow | undefined,
  { typed, typedPreimage }: { readonly typed: string; readonly typedPreimage: string },
): Read {
  const read = readPayload(form, typed);
  const nothing = { isHash: false, preimageProblem: null, payload: null, digest: null };
  if (!read.ok) return { bytes: new Uint8Array(), problem: read.problem, ...nothing };
  const { bytes, payload, encoding } = read;
  if (hash === undefined) return { bytes, problem: null, ...nothing };
  const digest = hash.digest && toHex(hash.digest(bytes));
  const asked = { payload, encoding, hashFunction: hash.id };
  if (hash.id !== 'HASH_FUNCTION_NO_OP') return { bytes, problem: null, ...nothing, payload: asked, digest };
  if (bytes.length !== 32) {
    const problem = t(
      'A hash has 32 bytes; this has {{count}} bytes. Choose a hash function or enter a hash.',
      { count: bytes.length },
    );
    return { bytes, problem, ...nothing };
  }
  const isHash = form === 'hex';
  const preimage = isHash ? readPreimage(bytes, typedPreimage) : null;
  if (preimage !== null && 'problem' in preimage) {
    return { bytes, problem: null, isHash, preimageProblem: preimage.problem, payload: null, digest };
  }
  return {
    bytes,
    problem: null,
    isHash,
    preimageProblem: null,
    payload: preimage === null ? asked : { ...asked, preimage },
    digest,
  };
}

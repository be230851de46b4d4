/**
 * Readings of what a person pastes: the kinds of request that it may be. The window offers each, and chooses one by itself
 * only where no other is as likely.
 */

import { ethereumMessagePrefix } from '../../../main/lib/text/ethereum-message.ts';
import { transactionTypeList } from '../../../main/lib/text/transaction-types.ts';
import type { SignedTransactionType } from '../../../main/lib/text/transaction-types.ts';
import type { ActivityParameters } from '../../../main/operations/api.ts';
import { t } from '../../app/i18n/text.ts';
import { toHex } from '../../ui/text/bytes.ts';
import type { Curve } from '../accounts/chains.ts';
import { readPayload } from './payload.ts';

type Raw = Omit<ActivityParameters<'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'>, 'signWith'>;
type Transaction = Omit<ActivityParameters<'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'>, 'signWith'>;

/** A request to sign, without the key that signs. */
export type SignRequest = Raw | Transaction;

/** `message`, `bytes` and `hash` are what anything can be. All others have a form that the service verifies to the end. */
export type ReadingKind =
  | 'message'
  | 'bytes'
  | 'hash'
  | 'typed-data'
  | 'authorization'
  | SignedTransactionType;

export interface Reading {
  readonly kind: ReadingKind;
  readonly label: string;
}

/** A reading with a form of its own: it counts if the service reads the request to the end. */
export interface FormedReading extends Reading {
  readonly request: SignRequest;
  /** The text carries this kind's mark: a refusal by the service is of interest. */
  readonly marked: boolean;
}

export interface Readings {
  readonly formed: readonly FormedReading[];
  /** Readings that need no form; a hash last. */
  readonly plain: readonly Reading[];
  /** Why text that begins as hex is none; null for all other text. */
  readonly problem: string | null;
}

interface Key {
  readonly curve: Curve;
  /** Of the address that signs, where one does. */
  readonly addressFormat?: string | undefined;
}

/** The bytes of base64 as hex; null for other text. */
function base64Digits(typed: string): string | null {
  const text = typed.replace(/\s+/g, '');
  if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text) || text === '') return null;
  return toHex(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

/** "psbt" and 0xff (BIP-174). */
const psbtMark = '70736274ff';

/** @returns all that a text may be for a key. No text is nothing. */
export function readingsOf(typed: string, key: Key): Readings {
  if (typed === '') return { formed: [], plain: [], problem: null };
  const read = readPayload('hex', typed);
  const hex = read.ok ? read.payload : null;
  const bytes = hex ?? base64Digits(typed);
  return {
    formed: [
      ...(bytes === null ? [] : transactionsOf(bytes, hex !== null, key)),
      ...(key.curve === 'CURVE_ED25519' ? [] : jsonReadings(typed)),
    ],
    plain: [
      ...(hex === null ? [] : [{ kind: 'bytes', label: t('Bytes in hex') } as const]),
      { kind: 'message', label: t('Message: the characters as they are') },
      ...(hex?.length === 64 && key.curve !== 'CURVE_ED25519'
        ? [{ kind: 'hash', label: t('Hash of something else') } as const]
        : []),
    ],
    problem: read.ok || !/^\s*0x/i.test(typed) ? null : read.problem,
  };
}

function transactionsOf(
  unsignedTransaction: string,
  isHex: boolean,
  { curve, addressFormat = '' }: Key,
): FormedReading[] {
  return transactionTypeList
    .filter((row) => row.curve === curve)
    .map(({ type, chain, form }) => {
      const ofAddress = addressFormat.includes(type.replace('TRANSACTION_TYPE', ''));
      return {
        kind: type,
        label: t('{{chain}} transaction ({{form}})', { chain, form }),
        request: { unsignedTransaction, type },
        marked: unsignedTransaction.startsWith(psbtMark)
          ? type === 'TRANSACTION_TYPE_BITCOIN'
          : isHex && ofAddress && unsignedTransaction.length > 64,
      };
    });
}

function jsonReadings(typed: string): FormedReading[] {
  let data: unknown;
  try {
    data = JSON.parse(typed);
  } catch {
    return [];
  }
  if (typeof data !== 'object' || data === null) return [];
  const has = (...names: readonly string[]) => names.every((name) => Object.hasOwn(data, name));
  const raw = { payload: typed, hashFunction: 'HASH_FUNCTION_NO_OP' } as const;
  return [
    ...(has('types', 'message')
      ? [
          {
            kind: 'typed-data' as const,
            label: t('Typed data (EIP-712)'),
            request: { ...raw, encoding: 'PAYLOAD_ENCODING_EIP712' as const },
            marked: true,
          },
        ]
      : []),
    ...(has('address', 'chainId', 'nonce')
      ? [
          {
            kind: 'authorization' as const,
            label: t('Authorization of code (EIP-7702)'),
            request: { ...raw, encoding: 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION' as const },
            marked: true,
          },
        ]
      : []),
  ];
}

/**
 * Chooses a reading where only one is likely.
 * @param fitting The formed readings that the service read to the end.
 * @returns null where a person has to say: several fit, or the text begins like one that does not.
 */
export function likelyReading(
  { formed, plain, problem }: Readings,
  fitting: readonly ReadingKind[],
): ReadingKind | null {
  const [only, another] = fitting;
  if (only !== undefined) return another === undefined ? only : null;
  if (problem !== null || formed.some(({ marked }) => marked)) return null;
  const [first, second] = plain;
  return second === undefined ? (first?.kind ?? null) : null;
}

/** A message as wallets for Ethereum sign it (EIP-191, version 0x45): a prefix, the message's length in bytes, the message. */
export function ethereumMessage(message: string): SignRequest {
  const bytes = new TextEncoder().encode(message);
  const prefix = new TextEncoder().encode(ethereumMessagePrefix + String(bytes.length));
  return {
    payload: toHex(prefix) + toHex(bytes),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns a file as the payload field shows it: text as it is, all other bytes in hex. */
export function fileText(bytes: Uint8Array): string {
  try {
    const text = utf8.decode(bytes);
    // oxlint-disable-next-line no-control-regex -- control characters are what tells bytes from text
    if (!/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text)) return text;
  } catch {
    // Bytes.
  }
  return `0x${toHex(bytes)}`;
}

/** Private keys as people have them: hex, and the 64 bytes in base58 that Solana's wallets show. */

import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { fromHex, toHex } from '../../ui/text/bytes.ts';
import type { Curve } from './chains.ts';
import { t } from '../../app/i18n/text.ts';

export type KeyReading =
  /** 32 bytes, which the caller wipes. */
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: string };

const refuse = (problem: string): KeyReading => ({ ok: false, problem });

/**
 * Reads what was typed as a private key of a curve. Ed25519 also comes as 64 bytes, of which the second half is the public
 * key and must fit the first.
 */
export function readKey(typed: string, curve: Curve): KeyReading {
  const text = typed.trim();
  if (text === '') return refuse(t('Enter the private key.'));
  const hex = text.replace(/^0x/i, '');
  if (/^[0-9a-f]{64}$/i.test(hex)) return { ok: true, bytes: fromHex(hex) };
  if (curve !== 'CURVE_ED25519') {
    return refuse(
      /^[0-9a-f]+$/i.test(hex)
        ? t('A private key has 64 hex digits; this has {{hex}}.', { hex: hex.length })
        : t('Enter 64 hex digits (0–9, a–f).'),
    );
  }
  const pair = read64(hex, text);
  if (pair === null) {
    return refuse(t('Enter 64 hex digits, or the base58 key that Solana wallets show.'));
  }
  const bytes = pair.slice(0, 32);
  const fits = ed25519.getPublicKey(bytes).every((byte, index) => byte === pair[32 + index]);
  pair.fill(0);
  if (!fits) {
    bytes.fill(0);
    return refuse(t('The two halves of this key don’t match. Part of the key is wrong or missing.'));
  }
  return { ok: true, bytes };
}

function read64(hex: string, text: string): Uint8Array | null {
  if (/^[0-9a-f]{128}$/i.test(hex)) return fromHex(hex);
  try {
    const decoded = base58.decode(text);
    return decoded.length === 64 ? decoded : null;
  } catch {
    return null;
  }
}

/** A text, what it is, and the name of the button that copies it. */
type NamedText = readonly [name: string, text: string, copy: string];

/** A private key as text, in each form that other programs take. */
export function keyTexts(privateKey: Uint8Array, curve: string): readonly NamedText[] {
  const hex = [t('Private key, hex'), toHex(privateKey), t('Copy private key, hex')] as const;
  if (curve !== 'CURVE_ED25519') return [hex];
  const pair = new Uint8Array(64);
  pair.set(privateKey);
  pair.set(ed25519.getPublicKey(privateKey), 32);
  const solana = [
    t('For Solana wallets, base58'),
    base58.encode(pair),
    t('Copy private key, base58 for Solana wallets'),
  ] as const;
  pair.fill(0);
  return [hex, solana];
}

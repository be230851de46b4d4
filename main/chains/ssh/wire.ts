/** SSH's wire format (RFC 4251, section 5): for what SSH keys sign, and for the messages of an agent. */
import type { Curve } from '../../crypto/keys/curves.ts';
import { joinBytes } from '../../crypto/bytes.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { compressP256, uncompressP256 } from '../../crypto/keys/p256.ts';
import { Cursor, unreadable, utf8 } from '../reading.ts';

/** Reads from the beginning to the end. Every method throws Unreadable where there are not enough bytes. */
export class SshCursor extends Cursor {
  uint32(): number {
    return Buffer.from(this.take(4)).readUInt32BE();
  }

  string(): Uint8Array {
    return this.take(this.uint32());
  }

  boolean(): boolean {
    return this.byte() !== 0;
  }

  /** A string of UTF-8. */
  text(): string {
    return utf8(this.string()) ?? unreadable('a text is not UTF-8');
  }
}

export function sshUint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function sshString(content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  return joinBytes([sshUint32(bytes.length), bytes]);
}

/** @param unsigned A number of 0 or more, high byte first. */
function sshMpint(unsigned: Uint8Array): Uint8Array {
  const start = unsigned.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? new Uint8Array() : unsigned.subarray(start);
  return sshString((digits[0] ?? 0) >= 0x80 ? joinBytes([Uint8Array.of(0), digits]) : digits);
}

/** The curves of SSH keys that a vault can hold, by their names in SSH. */
const keyTypes = { CURVE_ED25519: 'ssh-ed25519', CURVE_P256: 'ecdsa-sha2-nistp256' } as const;
type SshCurve = keyof typeof keyTypes;
const p256Name = 'nistp256';

export const isSshCurve = (curve: Curve): curve is SshCurve => Object.hasOwn(keyTypes, curve);

export interface SshKey {
  readonly curve: SshCurve;
  /** Compressed SEC 1, or Ed25519's 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** The public key as SSH writes it (RFC 5656, section 3.1; RFC 8709, section 4). */
export const encodeSshKey = ({ curve, publicKey }: SshKey): Uint8Array =>
  joinBytes([
    sshString(keyTypes[curve]),
    ...(curve === 'CURVE_P256'
      ? [sshString(p256Name), sshString(uncompressP256(publicKey))]
      : [sshString(publicKey)]),
  ]);

/** @returns undefined for a key of another type, or one that is not a point of its curve. */
export function decodeSshKey(blob: Uint8Array): SshKey | undefined {
  try {
    const cursor = new SshCursor(blob, 'a key');
    const type = cursor.text();
    if (type === keyTypes.CURVE_P256 && cursor.text() !== p256Name) return undefined;
    const bytes = cursor.string();
    cursor.end();
    if (type === keyTypes.CURVE_P256) return { curve: 'CURVE_P256', publicKey: compressP256(bytes) };
    return type === keyTypes.CURVE_ED25519 && bytes.length === 32
      ? { curve: 'CURVE_ED25519', publicKey: bytes }
      : undefined;
  } catch {
    return undefined;
  }
}

/** @param signature r and s of P-256, or R and S of Ed25519, 32 bytes each. */
export const encodeSshSignature = (curve: SshCurve, signature: Uint8Array): Uint8Array =>
  joinBytes([
    sshString(keyTypes[curve]),
    sshString(
      curve === 'CURVE_P256'
        ? joinBytes([sshMpint(signature.subarray(0, 32)), sshMpint(signature.subarray(32))])
        : signature,
    ),
  ]);

/** The fingerprint of a public key, as `ssh-keygen -l` shows it. */
export const fingerprint = (blob: Uint8Array): string =>
  `SHA256:${Buffer.from(sha256(blob)).toString('base64').replace(/=+$/, '')}`;

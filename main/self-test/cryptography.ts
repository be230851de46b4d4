/** Checks that the algorithms give the standards' answers. */
import { encodeAddress } from '../chains/addresses/addresses.ts';
import { curves } from '../crypto/keys/curves.ts';
import { derivePrivateKey } from '../crypto/keys/derivation.ts';
import { toHex } from '../crypto/encodings.ts';
import { sha256 } from '../crypto/hashes.ts';
import { seedFromMnemonic } from '../crypto/keys/mnemonics.ts';
import { generateP256, signP256, verifyP256 } from '../crypto/keys/p256.ts';
import { checkSecp256k1Accelerator } from '../crypto/keys/secp256k1.ts';
import type { Finding } from './finding.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { ExplainedError } from '../lib/errors.ts';

/** Known answers: BIP-39's all-zero mnemonic down to addresses that every wallet agrees on, RFC 8032's first test, FIPS 180's. */
export function checkCryptography(): Finding {
  const check = 'cryptography';
  try {
    checkSecp256k1Accelerator();
    const seed = seedFromMnemonic(`${'abandon '.repeat(11)}about`);
    const ethereum = curves.CURVE_SECP256K1.publicKey(
      derivePrivateKey('CURVE_SECP256K1', seed, "m/44'/60'/0'/0/0"),
    );
    expectSame(
      'Ethereum address',
      encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', ethereum),
      '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
    );
    const bitcoin = curves.CURVE_SECP256K1.publicKey(
      derivePrivateKey('CURVE_SECP256K1', seed, "m/84'/0'/0'/0/0"),
    );
    expectSame(
      'Bitcoin address',
      encodeAddress('ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', 'CURVE_SECP256K1', bitcoin),
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    );
    const ed25519 = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
    expectSame(
      'Ed25519 public key',
      toHex(curves.CURVE_ED25519.publicKey(new Uint8Array(ed25519))),
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    );
    const pair = generateP256(() => sha256(new Uint8Array([1])));
    const message = new Uint8Array([1, 2, 3]);
    const signature = new Uint8Array(Buffer.from(signP256(pair.privateKey, message), 'hex'));
    if (!verifyP256(toHex(pair.publicKey), signature, message))
      throw new ExplainedError('P-256 does not verify its own signature');
    expectSame(
      'SHA-256',
      toHex(sha256(new TextEncoder().encode('abc'))),
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    return { check, outcome: 'ok', detail: 'the known answers are right' };
  } catch (error) {
    return { check, outcome: 'failed', detail: reasonOf(error) };
  }
}

function expectSame(what: string, got: string, expected: string): void {
  if (got !== expected) throw new ExplainedError(`${what}: got ${got}, expected ${expected}`);
}

import { p256 } from '@noble/curves/nist.js';
import { bech32m } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import vectors from '../../../test/vectors/addresses.json' with { type: 'json' };
import bip173 from '../../../test/vectors/bip173.json' with { type: 'json' };
import bip84 from '../../../test/vectors/bip84.json' with { type: 'json' };
import eip55 from '../../../test/vectors/eip55.json' with { type: 'json' };
import { base58 } from '@scure/base';
import {
  addressFormats,
  addressFormatsOf,
  encodeAddress,
  signerOf,
  type AddressFormat,
} from './addresses.ts';
import { curves, signSchnorr, signTaproot, type Curve } from '../../crypto/keys/curves.ts';
import { derivePrivateKey } from '../../crypto/keys/derivation.ts';
import { decodeHex, toHex } from '../../crypto/encodings.ts';
import { checksumAddress } from './ethereum.ts';
import { seedFromMnemonic } from '../../crypto/keys/mnemonics.ts';
import { publicKeyFromPrivate } from '../../crypto/keys/secp256k1.ts';

const hex = (text: string): Uint8Array => decodeHex('vector', text);

describe('EIP-55', () => {
  test('all eight are there', () => {
    expect(eip55.addresses).toHaveLength(8);
  });
  test.each(eip55.addresses)('%s', (address) => {
    expect(checksumAddress(hex(address))).toBe(address);
  });
});

describe('BIP-84', () => {
  test('all three are there', () => {
    expect(bip84.accounts).toHaveLength(3);
  });
  test.each(bip84.accounts)('$path', ({ path, publicKey, privateKeyWif, address }) => {
    const privateKey = derivePrivateKey('CURVE_SECP256K1', seedFromMnemonic(bip84.mnemonic), path);
    expect(toHex(base58.decode(privateKeyWif).subarray(1, 33))).toBe(toHex(privateKey));
    expect(toHex(publicKeyFromPrivate(privateKey))).toBe(publicKey);
    expect(encodeAddress('ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', 'CURVE_SECP256K1', hex(publicKey))).toBe(
      address,
    );
  });
});

describe('BIP-173', () => {
  test('both are there', () => {
    expect(bip173.addresses).toHaveLength(2);
  });
  test.each(bip173.addresses)('$format', ({ format, address }) => {
    expect(encodeAddress(format as AddressFormat, 'CURVE_SECP256K1', hex(bip173.publicKey))).toBe(address);
  });
});

describe('published addresses', () => {
  test('all 21 are there', () => {
    expect(vectors.addresses).toHaveLength(21);
  });
  test.each(vectors.addresses)('$format $address', ({ curve, format, address, ...of }) => {
    const publicKey =
      'publicKey' in of
        ? hex(of.publicKey)
        : curves[curve as Curve].publicKey(
            derivePrivateKey(curve as Curve, seedFromMnemonic(of.mnemonic), of.path),
          );
    expect(encodeAddress(format as AddressFormat, curve as Curve, publicKey)).toBe(address);
  });
});

describe('P-256', () => {
  test('has its keys in hex, many times', () => {
    fc.assert(
      fc.property(bytes32().filter(curves.CURVE_P256.isPrivateKey), (privateKey) => {
        const publicKey = curves.CURVE_P256.publicKey(privateKey);
        expect(encodeAddress('ADDRESS_FORMAT_COMPRESSED', 'CURVE_P256', publicKey)).toBe(
          toHex(p256.getPublicKey(privateKey, true)),
        );
        expect(encodeAddress('ADDRESS_FORMAT_UNCOMPRESSED', 'CURVE_P256', publicKey)).toBe(
          toHex(p256.getPublicKey(privateKey, false)),
        );
      }),
      { numRuns: 1000 },
    );
  }, 60_000);
});

test('Spark addresses hold the key as a field of protobuf, many times', () => {
  fc.assert(
    fc.property(
      bytes32().filter(curves.CURVE_SECP256K1.isPrivateKey),
      fc.boolean(),
      (privateKey, mainnet) => {
        const publicKey = publicKeyFromPrivate(privateKey);
        const format = mainnet ? 'ADDRESS_FORMAT_SPARK_MAINNET' : 'ADDRESS_FORMAT_SPARK_REGTEST';
        const { prefix, words } = bech32m.decode(
          encodeAddress(format, 'CURVE_SECP256K1', publicKey) as `${string}1${string}`,
          100,
        );
        expect(prefix).toBe(mainnet ? 'spark' : 'sparkrt');
        expect(toHex(bech32m.fromWords(words))).toBe(`0a21${toHex(publicKey)}`);
      },
    ),
    { numRuns: 1000 },
  );
}, 60_000);

describe('the formats', () => {
  test('are the 35 of the specification, and three that the real API has had since', () => {
    const later = ['ADDRESS_FORMAT_TON_V5R1', 'ADDRESS_FORMAT_SPARK_MAINNET', 'ADDRESS_FORMAT_SPARK_REGTEST'];
    expect(addressFormats.filter((format) => !later.includes(format))).toHaveLength(35);
    expect(addressFormats).toEqual(expect.arrayContaining(later));
    expect(addressFormats).toHaveLength(38);
  });

  test('fit one curve each, but for bare public keys', () => {
    expect(addressFormatsOf('CURVE_ED25519')).toEqual([
      'ADDRESS_FORMAT_COMPRESSED',
      'ADDRESS_FORMAT_SOLANA',
      'ADDRESS_FORMAT_SUI',
      'ADDRESS_FORMAT_APTOS',
      'ADDRESS_FORMAT_XLM',
      'ADDRESS_FORMAT_TON_V3R2',
      'ADDRESS_FORMAT_TON_V4R2',
      'ADDRESS_FORMAT_TON_V5R1',
    ]);
    expect(addressFormatsOf('CURVE_P256')).toEqual([
      'ADDRESS_FORMAT_UNCOMPRESSED',
      'ADDRESS_FORMAT_COMPRESSED',
    ]);
    const ed25519 = addressFormatsOf('CURVE_ED25519').slice(1);
    expect(addressFormatsOf('CURVE_SECP256K1')).toEqual(
      addressFormats.filter((format) => !ed25519.includes(format)),
    );
  });

  test('sign with Schnorr where their chain does', () => {
    for (const format of addressFormatsOf('CURVE_SECP256K1')) {
      const expected = format.endsWith('_P2TR')
        ? signTaproot
        : format.startsWith('ADDRESS_FORMAT_SPARK_')
          ? signSchnorr
          : curves.CURVE_SECP256K1.sign;
      expect(signerOf(format, 'CURVE_SECP256K1')).toBe(expected);
    }
    expect(signerOf('ADDRESS_FORMAT_COMPRESSED', 'CURVE_P256')).toBe(curves.CURVE_P256.sign);
  });
});

test('a format of another curve is refused with those that fit', () => {
  expect(() =>
    encodeAddress(
      'ADDRESS_FORMAT_ETHEREUM',
      'CURVE_ED25519',
      new Uint8Array(32),
      'parameters.accounts[0].addressFormat',
    ),
  ).toThrow(
    'invalid parameters.accounts[0].addressFormat: ADDRESS_FORMAT_ETHEREUM is an address format of CURVE_SECP256K1, not of CURVE_ED25519; expected one of ADDRESS_FORMAT_COMPRESSED, ADDRESS_FORMAT_SOLANA, ADDRESS_FORMAT_SUI, ',
  );
  expect(() => encodeAddress('ADDRESS_FORMAT_SOLANA', 'CURVE_P256', new Uint8Array(33))).toThrow(
    'invalid addressFormat: ADDRESS_FORMAT_SOLANA is an address format of CURVE_ED25519, not of CURVE_P256; expected one of ADDRESS_FORMAT_UNCOMPRESSED, ADDRESS_FORMAT_COMPRESSED',
  );
});

test('a key of another length is refused by name', () => {
  expect(() => encodeAddress('ADDRESS_FORMAT_SOLANA', 'CURVE_ED25519', new Uint8Array(33))).toThrow(
    'publicKey: expected a Uint8Array of 32 bytes, got 33 bytes',
  );
});

function bytes32(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 32, maxLength: 32 });
}

import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { NETWORK, p2wpkh, TEST_NETWORK } from '@scure/btc-signer';
import fc from 'fast-check';
import { addr } from 'micro-eth-signer';
import { describe, expect, test } from 'vitest';
import bip173 from '../../test/vectors/bip173.json' with { type: 'json' };
import bip84 from '../../test/vectors/bip84.json' with { type: 'json' };
import eip55 from '../../test/vectors/eip55.json' with { type: 'json' };
import {
  addressFormats,
  addressFormatsOf,
  checksumAddress,
  encodeAddress,
  type AddressFormat,
} from './addresses.ts';
import { curves } from './curves.ts';
import { derivePrivateKey } from './derivation.ts';
import { decodeHex, toHex } from './encodings.ts';
import { seedFromMnemonic } from './mnemonics.ts';
import { isSecp256k1PrivateKey, publicKeyFromPrivate } from './secp256k1.ts';

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

describe('against independent libraries', () => {
  const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };

  test('secp256k1 formats, 1,000 times', () => {
    fc.assert(
      fc.property(bytes32().filter(isSecp256k1PrivateKey), (privateKey) => {
        const publicKey = publicKeyFromPrivate(privateKey);
        const address = (format: AddressFormat): string =>
          encodeAddress(format, 'CURVE_SECP256K1', publicKey);
        expect(address('ADDRESS_FORMAT_ETHEREUM')).toBe(addr.fromPublicKey(publicKey));
        expect(address('ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH')).toBe(p2wpkh(publicKey, NETWORK).address);
        expect(address('ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH')).toBe(
          p2wpkh(publicKey, TEST_NETWORK).address,
        );
        expect(address('ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH')).toBe(p2wpkh(publicKey, TEST_NETWORK).address);
        expect(address('ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH')).toBe(p2wpkh(publicKey, regtest).address);
      }),
      { numRuns: 1000 },
    );
  }, 120_000);

  test('the keys themselves, 200 times', () => {
    fc.assert(
      fc.property(bytes32().filter(isSecp256k1PrivateKey), (privateKey) => {
        const publicKey = publicKeyFromPrivate(privateKey);
        const point = secp256k1.Point.BASE.multiply(BigInt(`0x${toHex(privateKey)}`));
        expect(encodeAddress('ADDRESS_FORMAT_UNCOMPRESSED', 'CURVE_SECP256K1', publicKey)).toBe(
          point.toHex(false),
        );
        expect(encodeAddress('ADDRESS_FORMAT_COMPRESSED', 'CURVE_SECP256K1', publicKey)).toBe(
          point.toHex(true),
        );
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  test('Ed25519 formats, 500 times', () => {
    fc.assert(
      fc.property(bytes32(), (privateKey) => {
        const publicKey = curves.CURVE_ED25519.publicKey(privateKey);
        const expected = ed25519.getPublicKey(privateKey);
        expect(encodeAddress('ADDRESS_FORMAT_SOLANA', 'CURVE_ED25519', publicKey)).toBe(
          base58.encode(expected),
        );
        expect(encodeAddress('ADDRESS_FORMAT_COMPRESSED', 'CURVE_ED25519', publicKey)).toBe(toHex(expected));
      }),
      { numRuns: 500 },
    );
  }, 60_000);
});

test('the formats', () => {
  expect(addressFormats).toEqual([
    'ADDRESS_FORMAT_UNCOMPRESSED',
    'ADDRESS_FORMAT_COMPRESSED',
    'ADDRESS_FORMAT_ETHEREUM',
    'ADDRESS_FORMAT_SOLANA',
    'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
    'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH',
    'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH',
    'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH',
  ]);
  expect(addressFormatsOf('CURVE_ED25519')).toEqual(['ADDRESS_FORMAT_COMPRESSED', 'ADDRESS_FORMAT_SOLANA']);
  expect(addressFormatsOf('CURVE_SECP256K1')).toEqual(
    addressFormats.filter((format) => format !== 'ADDRESS_FORMAT_SOLANA'),
  );
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
    'invalid parameters.accounts[0].addressFormat: ADDRESS_FORMAT_ETHEREUM is not an address format of CURVE_ED25519; expected one of ADDRESS_FORMAT_COMPRESSED, ADDRESS_FORMAT_SOLANA',
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

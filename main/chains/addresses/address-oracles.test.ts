/** Every address format against its chain's own library, or one that many use, on many keys. */
import { Ed25519PublicKey as AptosPublicKey } from '@aptos-labs/ts-sdk';
import { toBech32 } from '@cosmjs/encoding';
import { Ed25519PublicKey as SuiPublicKey } from '@mysten/sui/keypairs/ed25519';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { NETWORK, p2tr, TEST_NETWORK } from '@scure/btc-signer';
import { getAddressDecoder } from '@solana/addresses';
import { StrKey } from '@stellar/stellar-base';
import { WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { networks, payments, type Network } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { addr } from 'micro-eth-signer';
import { encodeAccountID } from 'ripple-address-codec';
import { TronWeb } from 'tronweb';
import { publicKeyToAddress } from 'viem/accounts';
import { expect, test } from 'vitest';
import { atLength } from '../../../test/campaigns/length.ts';
import { addressFormatsOf, encodeAddress, type AddressFormat } from './addresses.ts';
import { toHex } from '../../crypto/encodings.ts';

const runs = atLength(150, 1000);

const hash160 = (publicKey: Uint8Array): Uint8Array => ripemd160(sha256(publicKey));

const doge = (pubKeyHash: number): Network => ({ ...networks.bitcoin, pubKeyHash });

const bitcoin = (name: string, network: Network, taproot: typeof NETWORK): Oracles => ({
  [`ADDRESS_FORMAT_BITCOIN_${name}_P2PKH`]: (pubkey) => payments.p2pkh({ pubkey, network }).address,
  [`ADDRESS_FORMAT_BITCOIN_${name}_P2SH`]: (pubkey) =>
    payments.p2sh({ redeem: payments.p2wpkh({ pubkey, network }), network }).address,
  [`ADDRESS_FORMAT_BITCOIN_${name}_P2WPKH`]: (pubkey) => payments.p2wpkh({ pubkey, network }).address,
  [`ADDRESS_FORMAT_BITCOIN_${name}_P2WSH`]: (pubkey) =>
    payments.p2wsh({ redeem: payments.p2pk({ pubkey, network }), network }).address,
  // bitcoinjs-lib takes its Taproot arithmetic from the library that we use.
  [`ADDRESS_FORMAT_BITCOIN_${name}_P2TR`]: (pubkey) => p2tr(pubkey.subarray(1), undefined, taproot).address,
});

type Oracles = Readonly<
  Record<string, (publicKey: Uint8Array, privateKey: Uint8Array) => string | undefined>
>;

const testnets = bitcoin('TESTNET', networks.testnet, TEST_NETWORK);

const onSecp256k1: Oracles = {
  ADDRESS_FORMAT_UNCOMPRESSED: (_, privateKey) => toHex(secp256k1.getPublicKey(privateKey, false)),
  ADDRESS_FORMAT_COMPRESSED: (_, privateKey) => toHex(secp256k1.getPublicKey(privateKey, true)),
  ADDRESS_FORMAT_ETHEREUM(publicKey, privateKey) {
    const address = addr.fromPublicKey(publicKey);
    expect(publicKeyToAddress(`0x${toHex(secp256k1.getPublicKey(privateKey, false))}`)).toBe(address);
    return address;
  },
  ADDRESS_FORMAT_COSMOS: (publicKey) => toBech32('cosmos', hash160(publicKey)),
  ADDRESS_FORMAT_SEI: (publicKey) => toBech32('sei', hash160(publicKey)),
  ADDRESS_FORMAT_TRON: (_, privateKey) => String(TronWeb.address.fromPrivateKey(toHex(privateKey))),
  ...bitcoin('MAINNET', networks.bitcoin, NETWORK),
  ...testnets,
  ...Object.fromEntries(
    Object.entries(testnets).map(([format, oracle]) => [format.replace('TESTNET', 'SIGNET'), oracle]),
  ),
  ...bitcoin('REGTEST', networks.regtest, { ...TEST_NETWORK, bech32: 'bcrt' }),
  ADDRESS_FORMAT_DOGE_MAINNET: (pubkey) => payments.p2pkh({ pubkey, network: doge(0x1e) }).address,
  ADDRESS_FORMAT_DOGE_TESTNET: (pubkey) => payments.p2pkh({ pubkey, network: doge(0x71) }).address,
  ADDRESS_FORMAT_XRP: (publicKey) => encodeAccountID(hash160(publicKey)),
};

const decodeSolana = getAddressDecoder();
const ton = (
  contract: { readonly create: (args: { publicKey: Buffer; workchain: number }) => TonWallet },
  publicKey: Uint8Array,
): string =>
  contract
    .create({ workchain: 0, publicKey: Buffer.from(publicKey) })
    .address.toString({ bounceable: false });

interface TonWallet {
  readonly address: { toString(form: { bounceable: boolean }): string };
}

const onEd25519: Oracles = {
  ADDRESS_FORMAT_COMPRESSED: (_, privateKey) => toHex(ed25519.getPublicKey(privateKey)),
  ADDRESS_FORMAT_SOLANA: (publicKey) => decodeSolana.decode(publicKey),
  ADDRESS_FORMAT_SUI: (publicKey) => new SuiPublicKey(publicKey).toSuiAddress(),
  ADDRESS_FORMAT_APTOS: (publicKey) =>
    new AptosPublicKey(publicKey).authKey().derivedAddress().toStringLong(),
  ADDRESS_FORMAT_XLM: (publicKey) => StrKey.encodeEd25519PublicKey(Buffer.from(publicKey)),
  ADDRESS_FORMAT_TON_V3R2: (publicKey) => ton(WalletContractV3R2, publicKey),
  ADDRESS_FORMAT_TON_V4R2: (publicKey) => ton(WalletContractV4, publicKey),
  ADDRESS_FORMAT_TON_V5R1: (publicKey) =>
    WalletContractV5R1.create({ publicKey: Buffer.from(publicKey) }).address.toString({ bounceable: false }),
};

test('every format has an oracle, but for Spark, whose library is the network client', () => {
  const without = ['ADDRESS_FORMAT_SPARK_MAINNET', 'ADDRESS_FORMAT_SPARK_REGTEST'];
  expect([...Object.keys(onSecp256k1), ...without].sort()).toEqual(
    [...addressFormatsOf('CURVE_SECP256K1')].sort(),
  );
  expect(Object.keys(onEd25519).sort()).toEqual([...addressFormatsOf('CURVE_ED25519')].sort());
});

test.each(Object.entries(onSecp256k1))('%s', { timeout: 120_000 }, (format, oracle) => {
  fc.assert(
    fc.property(bytes32().filter(secp256k1.utils.isValidSecretKey), (privateKey) => {
      const publicKey = secp256k1.getPublicKey(privateKey, true);
      expect(encodeAddress(format as AddressFormat, 'CURVE_SECP256K1', publicKey)).toBe(
        oracle(publicKey, privateKey),
      );
    }),
    { numRuns: runs },
  );
});

test.each(Object.entries(onEd25519))('%s', { timeout: 120_000 }, (format, oracle) => {
  fc.assert(
    fc.property(bytes32(), (privateKey) => {
      const publicKey = ed25519.getPublicKey(privateKey);
      expect(encodeAddress(format as AddressFormat, 'CURVE_ED25519', publicKey)).toBe(
        oracle(publicKey, privateKey),
      );
    }),
    { numRuns: runs },
  );
});

function bytes32(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 32, maxLength: 32 });
}

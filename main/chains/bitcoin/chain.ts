/** Bitcoin. */
import type { AddressFormat } from '../../crypto/addresses.ts';
import { nothingInPayload, refused, then, type Chain } from '../chain.ts';
import { describeBitcoin } from './describe.ts';
import { bitcoinFact } from './facts.ts';
import { readBitcoin, type BitcoinNetwork } from './read.ts';

export const bitcoin: Chain = {
  name: 'Bitcoin',
  curve: 'CURVE_SECP256K1',
  formats: ['ADDRESS_FORMAT_BITCOIN_'],
  keywords: ['bitcoin.tx'],
  open: (bytes, { key }) =>
    then(readBitcoin(bytes, networkOf(key?.format)), ({ transaction, faults, sign }) => ({
      describe: () => describeBitcoin(transaction, faults),
      facts: { 'bitcoin.tx': () => bitcoinFact(transaction) },
      signatures: 1,
      sign: (privateKey) =>
        key === undefined ? refused('expected a key to sign with') : sign(privateKey, key.publicKey),
    })),
  inPayload: () => nothingInPayload,
};

/** Signet writes its addresses as testnet does; a key that no address names is taken for mainnet's. */
function networkOf(format: AddressFormat | undefined): BitcoinNetwork {
  if (format?.includes('_REGTEST_') === true) return 'regtest';
  return format?.includes('_TESTNET_') === true || format?.includes('_SIGNET_') === true
    ? 'testnet'
    : 'mainnet';
}

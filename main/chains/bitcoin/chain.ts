/** Bitcoin. */
import type { AddressFormat } from '../addresses/addresses.ts';
import { toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { once } from '../../lib/once.ts';
import { Unknown } from '../../policy/language/types.ts';
import { nothingInPayload, refused, whenRead, type Chain, type Context } from '../chain.ts';
import { attempt } from '../reading.ts';
import { describeBitcoin } from './describe.ts';
import { bitcoinFact } from './facts.ts';
import { faultsOf } from './faults.ts';
import { moneyOf } from './money.ts';
import { readBitcoin } from './read.ts';
import {
  addressOf,
  allNetworks,
  locksOf,
  networkPrefix,
  ownScripts,
  type BitcoinNetwork,
} from './scripts.ts';
import { signBitcoin } from './sign.ts';

export const bitcoin: Chain = {
  formats: ['ADDRESS_FORMAT_BITCOIN_'],
  keywords: ['bitcoin.tx'],
  open: (bytes, { key: named, ours, known }) =>
    whenRead(readBitcoin(bytes), (read) => {
      // A description may be asked for with a key of any curve.
      const key = named?.curve === 'CURVE_SECP256K1' ? named : undefined;
      const { transaction } = read;
      const own = key && ownScripts(key.publicKey);
      const locks = key && own ? locksOf(transaction.inputs, key.publicKey, own) : [];
      const money = once(() =>
        moneyOf(transaction, {
          locks,
          own,
          network: networkOf(key?.format, own, ours),
          ours,
          known,
        }),
      );
      return {
        describe: () => describeBitcoin(money(), key === undefined ? [] : faultsOf(transaction, locks)),
        facts: { 'bitcoin.tx': () => bitcoinFact(money()) },
        signatures: locks.filter((lock) => lock !== undefined).length,
        sign: (privateKey) =>
          key === undefined
            ? refused('expected a key to sign with')
            : attempt(() => signBitcoin(read, locks, privateKey, key.publicKey)),
      };
    }),
  inPayload: (bytes, hashFunction) =>
    hashFunction === 'HASH_FUNCTION_SHA256' && (bytes.length === 32 || isTaprootMessage(bytes))
      ? {
          facts: {
            'bitcoin.tx': () => new Unknown('the bytes may stand for a transaction, which they do not tell'),
          },
        }
      : nothingInPayload,
};

/** The beginning of all that Taproot's signatures cover, before it is hashed: the hash of its name, twice. */
const taprootTag = toHex(sha256(Buffer.from('TapSighash', 'ascii')));

const isTaprootMessage = (bytes: Uint8Array): boolean =>
  toHex(bytes.subarray(0, 64)) === taprootTag + taprootTag;

/**
 * The network whose addresses are shown. A signature holds on each, whichever of its names a request calls the key by: so it
 * is mainnet, where money is, or else the first network on which the organization lists the key. Signet writes its addresses
 * as testnet does; a key that no address names is taken for mainnet's.
 */
function networkOf(
  format: AddressFormat | undefined,
  own: ReturnType<typeof ownScripts> | undefined,
  ours: Context['ours'],
): BitcoinNetwork {
  const scripts = [...(own?.keys() ?? [])].map((script) => Buffer.from(script, 'hex'));
  const listed = allNetworks.flatMap((network) =>
    scripts.flatMap((script) => {
      const address = addressOf(script, network)?.address ?? '';
      return ours(address) === undefined ? [] : [{ network, address }];
    }),
  );
  const named =
    listed.find(({ network }) => network === 'mainnet') ??
    listed.find(({ network, address }) => address.startsWith(networkPrefix(network)));
  if (named !== undefined) return named.network;
  // Test networks write hashes of keys and scripts alike.
  if (format?.includes('_REGTEST_') === true) return 'regtest';
  const isTest = format?.includes('_TESTNET_') === true || format?.includes('_SIGNET_') === true;
  return isTest || listed.length > 0 ? 'testnet' : 'mainnet';
}

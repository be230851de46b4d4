/** The chains whose transactions are read and signed here, a row each. */
import { encodeAddress, type AddressFormat } from '../crypto/addresses.ts';
import { curves, type Curve } from '../crypto/curves.ts';
import { decodeHex } from '../crypto/encodings.ts';
import { LatchkeyError } from '../lib/errors.ts';
import type { ConditionFacts } from '../policy/schema.ts';
import { readBitcoin, type BitcoinNetwork } from '../transactions/bitcoin.ts';
import { describeEthereum } from '../transactions/describe-ethereum.ts';
import { describeBitcoin, describeSolana, describeTron } from '../transactions/describe-others.ts';
import type { Description } from '../transactions/description.ts';
import { readEthereum } from '../transactions/ethereum.ts';
import type { Read } from '../transactions/reading.ts';
import { readSolana } from '../transactions/solana.ts';
import { readTron } from '../transactions/tron.ts';
import type { Interfaces } from './contract-interfaces.ts';
import type { Key } from './signers.ts';
import { bitcoinFact, ethereumFact, solanaFact, tronFact } from './transaction-facts.ts';

export type TransactionType =
  | 'TRANSACTION_TYPE_ETHEREUM'
  | 'TRANSACTION_TYPE_SOLANA'
  | 'TRANSACTION_TYPE_TRON'
  | 'TRANSACTION_TYPE_BITCOIN'
  | 'TRANSACTION_TYPE_TEMPO';

type TransactionFacts = Pick<ConditionFacts, 'eth.tx' | 'solana.tx' | 'tron.tx' | 'bitcoin.tx'>;

/** A transaction that was read. */
interface Opened {
  readonly facts: TransactionFacts;
  /** @returns the transaction with its signature, or why there is none. */
  readonly sign: (privateKey: Uint8Array) => Read<Uint8Array>;
}

interface Chain {
  readonly name: string;
  readonly curve: Curve;
  /** The beginnings of its own address formats. */
  readonly formats: readonly string[];
  /** Under which policies read its transactions. */
  readonly keyword: keyof TransactionFacts;
  open(bytes: Uint8Array, key: Key, interfaces: Interfaces): Read<Opened>;
  /** @param format Of the address that is to sign, where one is known. */
  describe(bytes: Uint8Array, interfaces: Interfaces, format?: AddressFormat): Read<Description>;
}

const ethereum: Chain = {
  name: 'Ethereum',
  curve: 'CURVE_SECP256K1',
  formats: ['ADDRESS_FORMAT_ETHEREUM'],
  keyword: 'eth.tx',
  describe: (bytes, { abi }) =>
    then(readEthereum(bytes), ({ transaction }) => describeEthereum(transaction, abi(transaction.to))),
  open: (bytes, { publicKey }, interfaces) =>
    then(readEthereum(bytes), ({ transaction, digest, withSignature }) => ({
      facts: { 'eth.tx': () => ethereumFact(transaction, publicKey, interfaces) },
      sign: (privateKey) => ok(withSignature(curves.CURVE_SECP256K1.sign(privateKey, digest))),
    })),
};

const solana: Chain = {
  name: 'Solana',
  curve: 'CURVE_ED25519',
  formats: ['ADDRESS_FORMAT_SOLANA'],
  keyword: 'solana.tx',
  describe: (bytes, { idl }) =>
    then(readSolana(bytes), ({ transaction }) => describeSolana(transaction, idl)),
  open: (bytes, { publicKey }, interfaces) =>
    then(readSolana(bytes), ({ transaction, message, signers, withSignature }) => ({
      facts: { 'solana.tx': () => solanaFact(transaction, interfaces) },
      sign(privateKey) {
        const own = encodeAddress('ADDRESS_FORMAT_SOLANA', 'CURVE_ED25519', publicKey);
        if (!signers.includes(own)) {
          return refused(`expected ${own} among the transaction’s signers, which are ${signers.join(', ')}`);
        }
        return ok(withSignature(own, curves.CURVE_ED25519.sign(privateKey, message)));
      },
    })),
};

const tron: Chain = {
  name: 'Tron',
  curve: 'CURVE_SECP256K1',
  formats: ['ADDRESS_FORMAT_TRON'],
  keyword: 'tron.tx',
  describe: (bytes) => then(readTron(bytes), ({ transaction, unread }) => describeTron(transaction, unread)),
  open: (bytes) =>
    then(readTron(bytes), ({ transaction, digest, withSignature }) => ({
      facts: { 'tron.tx': () => tronFact(transaction) },
      sign: (privateKey) => ok(withSignature(curves.CURVE_SECP256K1.sign(privateKey, digest))),
    })),
};

const bitcoin: Chain = {
  name: 'Bitcoin',
  curve: 'CURVE_SECP256K1',
  formats: ['ADDRESS_FORMAT_BITCOIN_'],
  keyword: 'bitcoin.tx',
  describe: (bytes, _, format) =>
    then(readBitcoin(bytes, networkOf(format)), ({ transaction, faults }) =>
      describeBitcoin(transaction, faults),
    ),
  open: (bytes, { format, publicKey }) =>
    then(readBitcoin(bytes, networkOf(format)), ({ transaction, sign }) => ({
      facts: { 'bitcoin.tx': () => bitcoinFact(transaction) },
      sign: (privateKey) => sign(privateKey, publicKey),
    })),
};

export const chains: Readonly<Record<TransactionType, Chain | undefined>> = {
  TRANSACTION_TYPE_ETHEREUM: ethereum,
  TRANSACTION_TYPE_SOLANA: solana,
  TRANSACTION_TYPE_TRON: tron,
  TRANSACTION_TYPE_BITCOIN: bitcoin,
  TRANSACTION_TYPE_TEMPO: undefined,
};

const ok = <T>(value: T): Read<T> => ({ ok: true, value });
const refused = (problem: string): Read<never> => ({ ok: false, problem });
const then = <T, U>(read: Read<T>, next: (value: T) => U): Read<U> => (read.ok ? ok(next(read.value)) : read);

/** Signet writes its addresses as testnet does; a key that no address names is taken for mainnet's. */
function networkOf(format: AddressFormat | undefined): BitcoinNetwork {
  if (format?.includes('_REGTEST_')) return 'regtest';
  return format?.includes('_TESTNET_') || format?.includes('_SIGNET_') ? 'testnet' : 'mainnet';
}

/** Formats that are of no chain. */
const neutral: readonly AddressFormat[] = ['ADDRESS_FORMAT_COMPRESSED', 'ADDRESS_FORMAT_UNCOMPRESSED'];

/**
 * @param hex Of whole bytes, with 0x or without.
 * @throws LatchkeyError INVALID_ARGUMENT with the real API's code, where the type is not signed here, the key is of
 *   another chain, or the bytes are no unsigned transaction.
 */
export function openTransaction(
  type: TransactionType,
  hex: string,
  key: Key,
  interfaces: Interfaces,
): Opened {
  const chain = chains[type];
  if (chain === undefined) {
    const known = Object.entries(chains).flatMap(([name, row]) => (row === undefined ? [] : [name]));
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `unsupported transaction type: parameters.type: expected one of ${known.join(', ')}, got ${type}`,
      { turnkeyErrorCode: 'UNSUPPORTED_TRANSACTION_TYPE' },
    );
  }
  checkKey(chain, key);
  const opened = chain.open(decodeHex('parameters.unsignedTransaction', hex), key, interfaces);
  return opened.ok ? opened.value : notTransaction(opened.problem);
}

/**
 * What policies may read of a transaction; it is read when they ask.
 * @param key Answers the key that is to sign.
 */
export function transactionFacts(
  type: TransactionType,
  hex: string,
  key: () => Key,
  interfaces: Interfaces,
): TransactionFacts {
  const keyword = chains[type]?.keyword;
  return keyword === undefined
    ? {}
    : { [keyword]: () => openTransaction(type, hex, key(), interfaces).facts[keyword]?.() };
}

/** @throws LatchkeyError always. */
export function notTransaction(problem: string): never {
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    `failed to parse transaction: parameters.unsignedTransaction: ${problem}`,
    { turnkeyErrorCode: 'INVALID_TRANSACTION' },
  );
}

function checkKey({ name, curve, formats }: Chain, key: Key): void {
  if (key.curve !== curve) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `invalid parameters.signWith: transactions of ${name} are signed by keys on ${curve}, this one is on ${key.curve}`,
    );
  }
  const { format } = key;
  if (format === undefined || neutral.includes(format) || formats.some((each) => format.startsWith(each)))
    return;
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    `invalid parameters.signWith: a transaction of ${name} is signed for an address of ${name}, this one is of ${format}; the private key’s id or its public key will do as well`,
  );
}

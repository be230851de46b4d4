/** The scripts that Bitcoin's outputs are locked with: their addresses, and how one key unlocks them. */
import { bech32, bech32m } from '@scure/base';
import { mainnet, regtest, testnet } from '../addresses/bitcoin.ts';
import { concatBytes } from '../../crypto/bytes.ts';
import { encodeBase58Check, toHex } from '../../crypto/encodings.ts';
import { hash160, sha256 } from '../../crypto/hashes.ts';
import { taprootOutputKey } from '../../crypto/keys/secp256k1.ts';
import { attempt, Cursor } from '../reading.ts';
import { inputFields } from './psbt.ts';
import type { BitcoinInput } from './read.ts';

const networks = { mainnet, testnet, regtest };
type Network = (typeof networks)['mainnet'];

export type BitcoinNetwork = keyof typeof networks;
export const allNetworks = Object.keys(networks) as readonly BitcoinNetwork[];

/** By which the addresses of witness programs begin. */
export const networkPrefix = (network: BitcoinNetwork): string => `${networks[network].prefix}1`;

interface Kind {
  /** The bytes around the hash or key, in hex: a script with any other is not of this kind, whatever it does. */
  readonly before: string;
  readonly length: number;
  readonly after: string;
  readonly address: (network: Network, payload: Uint8Array) => string;
}

const base58 = (version: number, hash: Uint8Array): string =>
  encodeBase58Check(concatBytes(Uint8Array.of(version), hash));

const witness =
  (version: number) =>
  ({ prefix }: Network, program: Uint8Array): string => {
    const coding = version === 0 ? bech32 : bech32m;
    return coding.encode(prefix, [version, ...coding.toWords(program)]);
  };

/** By their usual names. */
const kinds = {
  p2pkh: {
    before: '76a914',
    length: 20,
    after: '88ac',
    address: ({ keyHash }, hash) => base58(keyHash, hash),
  },
  p2sh: {
    before: 'a914',
    length: 20,
    after: '87',
    address: ({ scriptHash }, hash) => base58(scriptHash, hash),
  },
  p2wpkh: { before: '0014', length: 20, after: '', address: witness(0) },
  p2wsh: { before: '0020', length: 32, after: '', address: witness(0) },
  p2tr: { before: '5120', length: 32, after: '', address: witness(1) },
} as const satisfies Record<string, Kind>;

const scriptOf = ({ before, after }: Kind, payload: Uint8Array): Uint8Array =>
  concatBytes(Buffer.from(before, 'hex'), payload, Buffer.from(after, 'hex'));

/** @returns the hash or key of a script of the kind; undefined for every other script. */
function payloadOf({ before, length, after }: Kind, script: Uint8Array): Uint8Array | undefined {
  const start = before.length / 2;
  const hex = toHex(script);
  return script.length === start + length + after.length / 2 && hex.startsWith(before) && hex.endsWith(after)
    ? script.subarray(start, start + length)
    : undefined;
}

/**
 * @returns a script's address, and the name of its kind where it is one of `kinds`; undefined where it has none, as one that only
 *   holds data.
 */
export function addressOf(
  script: Uint8Array,
  network: BitcoinNetwork,
): { readonly address: string; readonly kind: string } | undefined {
  for (const [kind, template] of Object.entries<Kind>(kinds)) {
    const payload = payloadOf(template, script);
    if (payload !== undefined) return { address: template.address(networks[network], payload), kind };
  }
  const program = witnessProgram(script);
  return program && { address: witness(program.version)(networks[network], program.bytes), kind: '' };
}

/** A number from 1 to 16 is pushed by one operation, of which this is the one before the first. */
const numberOperation = 0x50;
const lastVersion = 16;

/** BIP-350 gives an address to every witness program of BIP-141; of version 0 there are none beside `kinds`. */
function witnessProgram(
  script: Uint8Array,
): { readonly version: number; readonly bytes: Uint8Array } | undefined {
  const [operation = 0, length = 0] = script;
  const version = operation - numberOperation;
  const isProgram =
    version >= 1 && version <= lastVersion && length >= 2 && length <= 40 && script.length === length + 2;
  return isProgram ? { version, bytes: script.subarray(2) } : undefined;
}

const returnOperation = 0x6a;

/** True for an output that holds data: no key can ever spend it, and its value is burned. */
export const isData = (script: Uint8Array): boolean => script[0] === returnOperation;

/** The way in which a key unlocks an input. */
export type Lock = {
  /** Fields that others need to finish the input. */
  readonly fields: Readonly<Record<string, Uint8Array>>;
} & (
  | {
      /** Before SegWit, and SegWit's version 0 (BIP-143). */
      readonly kind: 'legacy' | 'witness';
      /** The script that the signature covers. */
      readonly code: Uint8Array;
    }
  | { readonly kind: 'taproot'; readonly scripts: Uint8Array | undefined }
);

/** The scripts of the addresses that the vault gives a key, and of the bare key, in hex. */
export function ownScripts(publicKey: Uint8Array): ReadonlyMap<string, Lock> {
  const hash = hash160(publicKey);
  const keyHash = scriptOf(kinds.p2pkh, hash);
  const key = concatBytes(Uint8Array.of(publicKey.length), publicKey, Uint8Array.of(checkSignature));
  const program = scriptOf(kinds.p2wpkh, hash);
  return new Map<string, Lock>([
    [toHex(keyHash), { kind: 'legacy', code: keyHash, fields: {} }],
    [toHex(key), { kind: 'legacy', code: key, fields: {} }],
    [toHex(program), { kind: 'witness', code: keyHash, fields: {} }],
    [
      toHex(scriptOf(kinds.p2sh, hash160(program))),
      { kind: 'witness', code: keyHash, fields: { [inputFields.redeemScript]: program } },
    ],
    [
      toHex(scriptOf(kinds.p2wsh, sha256(key))),
      { kind: 'witness', code: key, fields: { [inputFields.witnessScript]: key } },
    ],
    [
      toHex(scriptOf(kinds.p2tr, taprootOutputKey(publicKey))),
      { kind: 'taproot', scripts: undefined, fields: { [inputFields.taprootKey]: publicKey.subarray(1) } },
    ],
  ]);
}

const checkSignature = 0xac;

/**
 * Finds for each input how the key unlocks it: by one of its own scripts, or by a script that the PSBT holds, whose hash the
 * output has, and that names the key.
 */
export function locksOf(
  inputs: readonly BitcoinInput[],
  publicKey: Uint8Array,
  own: ReadonlyMap<string, Lock>,
): (Lock | undefined)[] {
  return inputs.map((input) =>
    input.final || input.spent === undefined
      ? undefined
      : (own.get(toHex(input.spent.script)) ?? sharedLock(input, input.spent.script, publicKey)),
  );
}

function sharedLock(input: BitcoinInput, script: Uint8Array, publicKey: Uint8Array): Lock | undefined {
  const output = payloadOf(kinds.p2tr, script);
  if (output !== undefined) return taprootLock(input, output, publicKey);
  const hash = payloadOf(kinds.p2sh, script);
  const redeem = hash && committed(input.redeemScript, hash160, hash);
  const outer = hash === undefined ? script : redeem;
  if (outer === undefined) return undefined;
  const program = payloadOf(kinds.p2wsh, outer);
  const code = program === undefined ? outer : committed(input.witnessScript, sha256, program);
  return code !== undefined && namesKey(code, publicKey)
    ? { kind: program === undefined ? 'legacy' : 'witness', code, fields: {} }
    : undefined;
}

/** An output of the key that has scripts as well. */
function taprootLock(
  { taprootKey, taprootScripts }: BitcoinInput,
  output: Uint8Array,
  publicKey: Uint8Array,
): Lock | undefined {
  if (taprootKey === undefined || toHex(taprootKey) !== toHex(publicKey.subarray(1))) return undefined;
  return toHex(taprootOutputKey(publicKey, taprootScripts)) === toHex(output)
    ? { kind: 'taproot', scripts: taprootScripts, fields: {} }
    : undefined;
}

const committed = (
  script: Uint8Array | undefined,
  hash: (bytes: Uint8Array) => Uint8Array,
  commitment: Uint8Array,
): Uint8Array | undefined =>
  script !== undefined && toHex(hash(script)) === toHex(commitment) ? script : undefined;

const codeSeparator = 0xab;

/** Operations below push as many bytes as their number says. */
const firstLongPush = 0x4c;
/** By operation, in how many bytes the length of what it pushes follows. */
const longPushes: Readonly<Record<number, number>> = { 0x4c: 1, 0x4d: 2, 0x4e: 4 };

/**
 * True if a script names the key. A signature covers only a part of a script with a code separator, so such a
 * script counts as one without the key.
 */
function namesKey(script: Uint8Array, publicKey: Uint8Array): boolean {
  const cursor = new Cursor(script, 'the script');
  const named = attempt(() => {
    const pushed: string[] = [];
    while (cursor.left > 0) {
      const operation = cursor.byte();
      if (operation === codeSeparator) return false;
      const width = longPushes[operation];
      const length = operation < firstLongPush ? operation : 0;
      pushed.push(toHex(cursor.take(width === undefined ? length : Number(cursor.littleEndian(width)))));
    }
    return pushed.includes(toHex(publicKey));
  });
  return named.ok && named.value;
}

/** Valid transactions with random changes: each is read, or reported as unreadable; nothing throws. */
import fc from 'fast-check';
import { hexToBytes, serializeTransaction, type Hex } from 'viem';
import { curves } from '../../main/crypto/keys/curves.ts';
import type { Context } from '../../main/chains/chain.ts';
import { chains } from '../../main/chains/chains.ts';
import type { SignedTransactionType } from '../../main/lib/text/transaction-types.ts';
import { foreignWords } from '../support/foreign-words.ts';
import vectors from '../vectors/transactions.json' with { type: 'json' };

const base64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

/** The published one, and the same as version 0 with an address table of two accounts. */
function solanaOriginals(): readonly Uint8Array[] {
  const legacy = base64(vectors.solana.transaction);
  const table = [1, ...new Uint8Array(32).fill(7), 1, 3, 1, 4];
  return [legacy, Uint8Array.of(...legacy.subarray(0, 65), 0x80, ...legacy.subarray(65), ...table)];
}

const ethereum = {
  to: '0x3535353535353535353535353535353535353535',
  data: `0xa9059cbb${'35'.repeat(20).padStart(64, '0')}${'1'.padStart(64, '0')}`,
  value: 10n ** 18n,
  nonce: 9,
  gas: 90_000n,
  chainId: 1,
} as const;
const dynamic = { ...ethereum, maxFeePerGas: 30n, maxPriorityFeePerGas: 2n } as const;
const accessList = [{ address: ethereum.to, storageKeys: [`0x${'02'.repeat(32)}`] }] as const;
const versionedHash = `0x01${'5a'.repeat(31)}` as const;
const authorization = {
  address: ethereum.to,
  chainId: 1,
  nonce: 0,
  r: `0x${'21'.repeat(32)}`,
  s: `0x${'22'.repeat(32)}`,
  yParity: 1,
} as const;

function ethereumOriginals(): readonly Uint8Array[] {
  return [
    serializeTransaction({ ...ethereum, type: 'legacy', gasPrice: 5n }),
    serializeTransaction({ ...ethereum, type: 'eip2930', gasPrice: 5n, accessList }),
    serializeTransaction({ ...dynamic, type: 'eip1559', accessList }),
    serializeTransaction({
      ...dynamic,
      type: 'eip4844',
      maxFeePerBlobGas: 9n,
      blobVersionedHashes: [versionedHash],
      sidecars: false,
    }),
    serializeTransaction({ ...dynamic, type: 'eip7702', authorizationList: [authorization] }),
  ].map((each: Hex) => hexToBytes(each));
}

const originals: readonly (readonly [SignedTransactionType, readonly Uint8Array[]])[] = [
  ['TRANSACTION_TYPE_ETHEREUM', ethereumOriginals()],
  ['TRANSACTION_TYPE_SOLANA', solanaOriginals()],
  ['TRANSACTION_TYPE_TRON', [hex(vectors.tron.rawData)]],
  [
    'TRANSACTION_TYPE_BITCOIN',
    vectors.bitcoin.valid.filter(({ inputs }) => inputs.length > 0).map(({ psbt }) => base64(psbt)),
  ],
];

const interfaces = { abi: () => undefined, idl: () => undefined };

/** Changes bytes, drops or repeats a stretch of them, and cuts off the end. */
const mutations = (valid: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      fc.constantFrom(...valid),
      fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(0, 0x7f, 0x80, 0xff))), {
        maxLength: 4,
      }),
      fc.oneof(fc.constant(undefined), fc.tuple(fc.nat(), fc.nat(40), fc.boolean())),
      fc.oneof(fc.constant(0), fc.nat(64)),
    )
    .map(([original, changes, stretch, cut]) => {
      const changed = original.slice(0, Math.max(1, original.length - cut));
      for (const [at, value] of changes) changed[at % changed.length] = value;
      if (stretch === undefined) return changed;
      const [from, length, repeats] = stretch;
      const start = from % changed.length;
      const tail = changed.subarray(repeats ? start : start + length);
      return Uint8Array.of(
        ...changed.subarray(0, Math.min(changed.length, start + (repeats ? length : 0))),
        ...tail,
      );
    });

/**
 * Reads every mutation as signing, policies and descriptions do.
 * @returns by chain, how many of them could be read, how many could not, and the microseconds for each.
 * @throws with the bytes that made something throw.
 */
export function measureMutations(count: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    originals.flatMap(([type, valid]) => {
      const chain = chains[type];
      const key = {
        curve: chain.curve,
        publicKey: curves[chain.curve].publicKey(new Uint8Array(32).fill(1)),
        format: undefined,
      };
      const context: Context = { key, interfaces, ours: () => undefined };
      for (const each of valid) {
        const read = chain.open(each, context);
        if (!read.ok) throw new Error(`an original of ${chain.chain} is not read: ${read.problem}`);
      }
      let readable = 0;
      const started = performance.now();
      fc.assert(
        fc.property(mutations(valid), (bytes) => {
          const opened = chain.open(bytes, context);
          if (!opened.ok) return opened.problem !== '' && foreignWords(opened.problem) === undefined;
          readable += 1;
          opened.value.describe();
          for (const keyword of chain.keywords) opened.value.facts[keyword]?.();
          return true;
        }),
        { numRuns: count, seed: 20_260_101 },
      );
      const microseconds = ((performance.now() - started) * 1000) / count;
      const name = chain.chain.toLowerCase();
      return [
        [`${name}Read`, readable],
        [`${name}Refused`, count - readable],
        [`${name}Us`, microseconds],
      ];
    }),
  );
}

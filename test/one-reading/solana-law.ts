/** Solana's transactions as @solana/kit takes them apart, for the law of one reading. */
import {
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
} from '@solana/kit';
import { solana } from '../../main/chains/solana/chain.ts';
import { readIdl } from '../../main/chains/solana/idl.ts';
import {
  clock,
  context,
  instruction,
  keyOf,
  payer,
  programs,
  text,
  transaction,
  transfer,
  u32,
  u64,
} from './solana-messages.ts';
import { mutateBytes, type LawOptions, type Random } from './law.ts';

const { system, token, token2022, computeBudget, associatedToken, memo, stake, vote, ed25519 } = programs;

const kept = readIdl({
  instructions: [
    {
      name: 'route',
      discriminator: [1, 2, 3],
      accounts: [{ name: 'authority' }, { name: 'pool' }],
      args: [
        { name: 'amount', type: 'u64' },
        { name: 'price', type: 'f64' },
        { name: 'note', type: { option: 'string' } },
        { name: 'steps', type: { vec: { defined: 'Step' } } },
      ],
    },
  ],
  types: [
    {
      name: 'Step',
      type: {
        kind: 'enum',
        variants: [
          { name: 'Plain' },
          {
            name: 'Priced',
            fields: [
              { name: 'at', type: 'u16' },
              { name: 'to', type: 'pubkey' },
            ],
          },
        ],
      },
    },
  ],
});
if (!kept.ok) throw new Error(kept.problem);

const route = [
  ...[1, 2, 3],
  ...u64(5n),
  ...u64(0x3ff8000000000000n),
  ...[1, ...u32(4), ...Buffer.from('null')],
  ...[...u32(2), 0, 1, 7, 0, ...new Uint8Array(32).fill(9)],
];

const budget = [
  instruction(computeBudget, [], [2, ...u32(200_000)]),
  instruction(computeBudget, [], [3, ...u64(5000n)]),
];

const originals = [
  transaction([...budget, transfer(payer, keyOf(9), 1_500_000_000n)], { version: 'legacy' }),
  transaction([
    transfer(payer, keyOf(9), 1n),
    transfer(payer, keyOf(8), 2n),
    instruction(memo, [], [...Buffer.from('rent für Mai')]),
  ]),
  transaction([transfer(payer, keyOf(40), 5n), instruction(vote, [keyOf(41)], [1, 2])], {
    table: [keyOf(39), keyOf(40), keyOf(41)],
  }),
  transaction([
    instruction(associatedToken, [payer, keyOf(2), keyOf(3), keyOf(5), system, token], [1]),
    instruction(token, [keyOf(1), keyOf(5), keyOf(2), payer], [12, ...u64(70n), 6]),
    instruction(token, [keyOf(1), keyOf(6), payer], [4, ...u64(2n ** 64n - 1n)]),
    instruction(token2022, [keyOf(1), keyOf(5), keyOf(2), payer], [26, 1, ...u64(70n), 6, ...u64(1n)]),
    instruction(token, [keyOf(1), payer], [6, 2, 1, ...new Uint8Array(32).fill(6)]),
  ]),
  transaction([
    instruction(system, [keyOf(30), keyOf(31), payer], u32(4)),
    instruction(
      system,
      [payer, keyOf(32)],
      [
        ...u32(3),
        ...new Uint8Array(32).fill(7),
        ...text('seed'),
        ...u64(9n),
        ...u64(200n),
        ...new Uint8Array(32).fill(3),
      ],
    ),
    instruction(stake, [keyOf(33), keyOf(34), clock, keyOf(35), payer], [...u32(4), ...u64(12n)]),
    instruction(ed25519, [], [1, 0, 5, 6]),
  ]),
  transaction([instruction(keyOf(50), [payer, keyOf(51), keyOf(52)], route)], { version: 'legacy' }),
];

/** Tells the message's effects in @solana/kit's reading. A legacy message does the same as one of version 0 without lookups. */
function effects(bytes: Uint8Array): string {
  const message = getCompiledTransactionMessageDecoder().decode(
    getTransactionDecoder().decode(bytes).messageBytes,
  );
  if (message.version === 1) throw new Error('no version that the chain takes today');
  const { header, staticAccounts, instructions, lifetimeToken } = message;
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const roles = staticAccounts.map((account, index) => [
    account,
    index < numSignerAccounts,
    index < numSignerAccounts
      ? index < numSignerAccounts - numReadonlySignerAccounts
      : index < staticAccounts.length - numReadonlyNonSignerAccounts,
  ]);
  const lookups = ('addressTableLookups' in message && message.addressTableLookups) || [];
  const called = instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => [
    staticAccounts[programAddressIndex],
    accountIndices,
    Buffer.from(data).toString('hex'),
  ]);
  return JSON.stringify([roles, lookups, called, lifetimeToken]);
}

/** Changes one field of the compiled message. */
function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  try {
    const whole = getTransactionDecoder().decode(bytes);
    const message = getCompiledTransactionMessageDecoder().decode(whole.messageBytes);
    if (message.version === 1) return mutateBytes(bytes, random);
    const changed = changeOf(message, random);
    const messageBytes = getCompiledTransactionMessageEncoder().encode(changed);
    return new Uint8Array(getTransactionEncoder().encode({ ...whole, messageBytes } as typeof whole));
  } catch {
    return mutateBytes(bytes, random);
  }
}

type Compiled = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;
type Readable = Exclude<Compiled, { readonly version: 1 }>;

function changeOf(message: Readable, random: Random): Readable {
  const { instructions, staticAccounts, header } = message;
  const place = random.below(instructions.length);
  const changed = (
    change: (one: Readable['instructions'][number]) => Readable['instructions'][number],
  ): Readable => ({
    ...message,
    instructions: instructions.map((each, index) => (index === place ? change(each) : each)),
  });
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
      return changed((each) => ({
        ...each,
        data: mutateBytes(Uint8Array.from(each.data ?? []), random),
      }));
    case 3:
      return changed((each) => ({
        ...each,
        accountIndices: [...mutateBytes(Uint8Array.from(each.accountIndices ?? []), random)].map(
          (index) => index % (staticAccounts.length + 1),
        ),
      }));
    case 4:
      return changed((each) => ({ ...each, programAddressIndex: random.below(staticAccounts.length) }));
    case 5:
      return { ...message, instructions: [...instructions, random.pick(instructions)] };
    case 6:
      return { ...message, instructions: instructions.filter((_, index) => index !== place) };
    case 7: {
      const [first, second] = [random.below(staticAccounts.length), random.below(staticAccounts.length)];
      return {
        ...message,
        staticAccounts: staticAccounts.map(
          (each, index) =>
            staticAccounts[index === first ? second : index === second ? first : index] ?? each,
        ),
      };
    }
    default:
      return {
        ...message,
        header: { ...header, numReadonlyNonSignerAccounts: random.below(staticAccounts.length) },
      };
  }
}

const known = context({ idl: (program) => (program === keyOf(50) ? kept.value : undefined) });

export const solanaLaw: Omit<LawOptions, 'reads' | 'tries' | 'seed'> = {
  originals,
  mutate,
  effects,
  read(bytes) {
    const opened = solana.open(bytes, known);
    return opened.ok
      ? { description: opened.value.describe(), facts: opened.value.facts['solana.tx']?.() }
      : undefined;
  },
};

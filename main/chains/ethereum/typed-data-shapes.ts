/**
 * The shapes of typed data that move money or rights. A shape is known by its members, under whichever name an
 * application has it. What has no shape that is known is warned of, by its names as well.
 */
import type { TypedData, TypedObject, TypedValue } from './eip712.ts';
import type { Writer } from '../description.ts';
import { bytesOfHex } from './hex.ts';
import { coinsOf, networkOf } from './networks.ts';
import { isUnlimited, readStandardCall, titleOfCall, warningsOfCall, type Words } from './standard-calls.ts';

interface Described {
  readonly title: string;
  readonly warnings: readonly string[];
}

const described = (title: string, ...warnings: readonly string[]): Described => ({ title, warnings });

/** A struct's members, each where it is of that kind, and the words for them. */
interface StructView {
  readonly address: (member: string) => string | undefined;
  readonly whole: (member: string) => bigint | undefined;
  readonly yes: (member: string) => boolean | undefined;
  readonly bytes: (member: string) => Uint8Array | undefined;
  /** The structs of a member: it is one, a list of them, or a list of lists. */
  readonly structs: (member: string) => readonly StructView[];
  readonly words: Words;
  readonly coins: (wei: bigint) => string;
}

/** @returns undefined where the struct is of another shape. */
type Shape = (viewOf: StructView) => Described | undefined;

/** @returns its title where the shape of the message is known; and what a person should know. */
export function describeShapes(
  { primaryType, domain, message }: TypedData,
  words: Words,
  writer: Writer,
): { readonly title: string | undefined; readonly warnings: readonly string[] } {
  const chainId = typeof domain['chainId'] === 'bigint' ? domain['chainId'] : undefined;
  const cachedViewOf = (struct: TypedObject): StructView =>
    viewOf(struct, words, (wei) => coinsOf(networkOf(chainId), wei));
  const own = toldOf(cachedViewOf(message));
  const title = own.length === 0 ? undefined : own.map((each) => each.title).join('; ');
  const inner = structsIn(Object.values(message))
    .flatMap((struct) => toldOf(cachedViewOf(struct)))
    .filter((each) => title?.includes(each.title) !== true)
    // Of many, those with more to warn of are named before what may be dust.
    .toSorted((one, other) => other.warnings.length - one.warnings.length);
  return {
    title,
    warnings: [
      ...own.flatMap((each) => each.warnings),
      ...(inner.length === 0 ? [] : [`Inside the message: ${listed(inner.map((each) => each.title))}.`]),
      ...inner.slice(0, mostNamed).flatMap((each) => each.warnings),
      ...(title === undefined
        ? [
            `This vault does not know what an application does with “${writer.text(primaryType)}”.`,
            ...namedWarnings(primaryType, message),
          ]
        : []),
    ],
  };
}

const toldOf = (struct: StructView): readonly Described[] => shapes.flatMap((shape) => shape(struct) ?? []);

const isStruct = (value: TypedValue): value is TypedObject =>
  typeof value === 'object' && !Array.isArray(value);

/** Every struct in values, however deep. */
const structsIn = (values: readonly TypedValue[]): readonly TypedObject[] =>
  values.flatMap((value) => {
    if (typeof value !== 'object') return [];
    return [...(isStruct(value) ? [value] : []), ...structsIn(Object.values(value))];
  });

function viewOf(struct: TypedObject, words: Words, coins: (wei: bigint) => string): StructView {
  const value = (member: string): TypedValue | undefined =>
    Object.hasOwn(struct, member) ? struct[member] : undefined;
  const text = (member: string, form: RegExp): string | undefined => {
    const given = value(member);
    return typeof given === 'string' && form.test(given) ? given : undefined;
  };
  const flat = (given: TypedValue): readonly StructView[] => {
    if (Array.isArray(given)) return (given as readonly TypedValue[]).flatMap(flat);
    return isStruct(given) ? [viewOf(given, words, coins)] : [];
  };
  return {
    address: (member) => text(member, /^0x[0-9a-fA-F]{40}$/),
    whole: (member) => {
      const given = value(member);
      return typeof given === 'bigint' ? given : undefined;
    },
    yes: (member) => {
      const given = value(member);
      return typeof given === 'boolean' ? given : undefined;
    },
    bytes: (member) => {
      const given = text(member, /^0x([0-9a-f]{2})*$/);
      return given === undefined ? undefined : bytesOfHex(given);
    },
    structs: (member) => flat(value(member) ?? []),
    words,
    coins,
  };
}

const mostNamed = 10;

/** `A`, `A and B`, `A, B and C`; of more than ten, their number and the first of them. */
function listed(each: readonly string[]): string {
  const shown = each.slice(0, mostNamed);
  if (shown.length < each.length) return `${String(each.length)} in all, first ${shown.join(', ')}`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1) ?? ''}`;
}

const permitWarning = 'A permit lets another spend tokens, without any further transaction of yours.';
const orderWarning =
  'Anyone who fills this order takes what it gives, without any further transaction of yours.';

const limitOf = (words: Words, token: string, units: bigint): string =>
  isUnlimited(units) ? `${words.token(token)} without limit` : `up to ${words.amount(units, token)}`;

const unlimitedWarnings = (words: Words, spender: string, tokens: readonly string[]): readonly string[] =>
  tokens.length === 0
    ? []
    : [`${words.account(spender)} may then spend without limit: ${listed(tokens.map(words.token))}.`];

/** ERC-2612. */
const permit: Shape = ({ address, whole, words }) => {
  const [spender, units] = [address('spender'), whole('value')];
  if (spender === undefined || units === undefined) return undefined;
  return described(
    `Let ${words.account(spender)} spend ${limitOf(words, words.contract, units)}`,
    permitWarning,
    ...unlimitedWarnings(words, spender, isUnlimited(units) ? [words.contract] : []),
  );
};

/** Dai's own. */
const daiPermit: Shape = ({ address, yes, words }) => {
  const [spender, allowed] = [address('spender'), yes('allowed')];
  if (spender === undefined || allowed === undefined) return undefined;
  return described(
    `Let ${words.account(spender)} spend ${allowed ? '' : 'no more '}${words.token(words.contract)}${allowed ? ' without limit' : ''}`,
    permitWarning,
    ...unlimitedWarnings(words, spender, allowed ? [words.contract] : []),
  );
};

interface Grant {
  readonly token: string;
  readonly units: bigint;
}

/** Permit2: an allowance (`details`), or a transfer (`permitted`), of one token or of many. */
const permit2: Shape = ({ address, structs, words }) => {
  const spender = address('spender');
  const given = [...structs('details'), ...structs('permitted')];
  const grants = given.flatMap((each): readonly Grant[] => {
    const [token, units] = [each.address('token'), each.whole('amount')];
    return token === undefined || units === undefined ? [] : [{ token, units }];
  });
  if (spender === undefined || grants.length === 0 || grants.length < given.length) return undefined;
  const unlimited = grants.filter(({ units }) => isUnlimited(units)).map(({ token }) => token);
  // Of a long list the title has what is known and what has no limit, before what may be dust.
  const weight = ({ token, units }: Grant): number =>
    (words.knows(token) ? 2 : 0) + (isUnlimited(units) ? 1 : 0);
  const first = grants.toSorted((a, b) => weight(b) - weight(a));
  return described(
    `Let ${words.account(spender)} spend ${listed(first.map(({ token, units }) => limitOf(words, token, units)))}`,
    permitWarning,
    ...unlimitedWarnings(words, spender, [...new Set(unlimited)]),
  );
};

/** ERC-3009. */
const authorizedTransfer: Shape = ({ address, whole, words }) => {
  const [from, to, units] = [address('from'), address('to'), whole('value')];
  if (from === undefined || to === undefined || units === undefined || whole('validBefore') === undefined) {
    return undefined;
  }
  return described(
    `Send ${words.amount(units, words.contract)} from ${words.account(from)} to ${words.account(to)}`,
    'Anyone who has this signature can make the transfer, without any further transaction of yours.',
  );
};

/** Seaport. */
const offer: Shape = (seaport) => {
  const [given, asked] = [seaport.structs('offer'), seaport.structs('consideration')];
  if (seaport.address('offerer') === undefined || given.length + asked.length === 0) return undefined;
  const take = listed(asked.map((each) => `${itemOf(each)} to ${accountIn(each, 'recipient')}`));
  return described(
    `Offer ${given.length === 0 ? 'nothing' : listed(given.map(itemOf))} for ${take === '' ? 'nothing' : take}`,
    orderWarning,
  );
};

const accountIn = ({ address, words }: StructView, member: string): string => {
  const account = address(member);
  return account === undefined ? 'an account that is not named' : words.account(account);
};

function itemOf({ address, whole, words, coins }: StructView): string {
  const token = address('token') ?? '';
  const [start, end] = [whole('startAmount') ?? 0n, whole('endAmount') ?? 0n];
  const units = start > end ? start : end;
  const number = String(whole('identifierOrCriteria') ?? 0n);
  switch (whole('itemType')) {
    case 0n:
      return coins(units);
    case 1n:
      return words.amount(units, token);
    case 2n:
    case 3n:
      return `${String(units)} of number ${number} of ${words.token(token)}`;
    default:
      return `${String(units)} of any number of ${words.token(token)}`;
  }
}

const bulkOffer: Shape = ({ structs }) => {
  const tree = structs('tree');
  const offers = tree.flatMap((each) => offer(each) ?? []);
  if (offers.length === 0 || offers.length < tree.length) return undefined;
  return described(
    `Make ${String(offers.length)} offers: ${listed(offers.map(({ title }) => title))}`,
    orderWarning,
  );
};

/** Members that name what an order gives, how much of it, what it asks for, and how much of that. */
const orderMembers = [
  ['sellToken', 'sellAmount', 'buyToken', 'buyAmount'],
  ['makerToken', 'makerAmount', 'takerToken', 'takerAmount'],
  ['makerAsset', 'makingAmount', 'takerAsset', 'takingAmount'],
  ['makerAsset', 'makerAmount', 'takerAsset', 'takerAmount'],
  ['maker_token', 'maker_amount', 'taker_token', 'taker_amount'],
  ['inputToken', 'inputAmount', 'outputToken', 'outputAmount'],
  ['fromToken', 'fromAmount', 'toToken', 'toAmount'],
] as const;

const orders: readonly Shape[] = orderMembers.map(
  ([token, amount, otherToken, otherAmount]): Shape =>
    ({ address, whole, words }) => {
      const [one, units, other, otherUnits] = [
        address(token),
        whole(amount),
        address(otherToken),
        whole(otherAmount),
      ];
      if (one === undefined || units === undefined || other === undefined || otherUnits === undefined) {
        return undefined;
      }
      const receiver = address('receiver');
      const to = receiver === undefined ? '' : `, paid to ${words.account(receiver)}`;
      // CoW Protocol takes its fee in what is sold, besides the amount.
      const all = units + (whole('feeAmount') ?? 0n);
      return described(
        `Trade ${words.amount(all, one)} against ${words.amount(otherUnits, other)}${to}`,
        orderWarning,
      );
    },
);

/** Safe. */
const safeTransaction: Shape = ({ address, whole, bytes, words, coins }) => {
  const [to, value, data, operation] = [address('to'), whole('value'), bytes('data'), whole('operation')];
  if (to === undefined || value === undefined || data === undefined || operation === undefined) {
    return undefined;
  }
  const inner: Words = { ...words, contract: to, sender: words.contract };
  const call = readStandardCall(data);
  const paying = value > 0n ? `, paying ${coins(value)}` : '';
  const title =
    data.length === 0
      ? `Send ${coins(value)} to ${words.account(to)}`
      : `${(call && titleOfCall(call, inner)) ?? `Call ${call === undefined ? 'the contract' : `${call.name} of`} ${words.account(to)}`}${paying}`;
  return described(
    `As the Safe ${words.contract}: ${operation === 0n ? title : `run the code of ${words.account(to)} as its own`}`,
    'It moves what the Safe owns, once enough owners have signed.',
    ...(operation === 0n ? [] : ['The code can spend all that the Safe owns.']),
    ...(call === undefined ? [] : warningsOfCall(call, inner)),
    ...(data.length > 0 && call?.args === undefined ? ['This vault cannot read the data of the call.'] : []),
    ...((whole('gasPrice') ?? 0n) > 0n
      ? ['The Safe also pays for the gas, to an account that the message names.']
      : []),
  );
};

/** ERC-4337. */
const userOperation: Shape = ({ address, bytes, words }) => {
  const [sender, data] = [address('sender'), bytes('callData')];
  if (sender === undefined || data === undefined) return undefined;
  return described(
    `Let ${words.account(sender)} execute a call, as a smart account`,
    'It can move what the smart account owns. This vault does not read the call inside.',
  );
};

/** ERC-2771 and its likes: another sends the transaction, and the contract takes it as yours. */
const forwarded: Shape = ({ address, bytes, words }) => {
  const [from, data] = [address('from'), bytes('data') ?? bytes('functionSignature')];
  if (from === undefined || data === undefined) return undefined;
  const to = address('to');
  return described(
    `Let another call ${to === undefined ? words.account(words.contract) : words.account(to)} in the name of ${words.account(from)}`,
    'The contract takes the call as yours. This vault does not read the call inside.',
  );
};

/** ERC-20 with votes. */
const votes: Shape = ({ address, whole, words }) => {
  const delegatee = address('delegatee');
  if (delegatee === undefined || whole('nonce') === undefined) return undefined;
  return described(
    `Let ${words.account(delegatee)} vote with your tokens of ${words.account(words.contract)}`,
  );
};

const shapes: readonly Shape[] = [
  permit,
  daiPermit,
  permit2,
  authorizedTransfer,
  offer,
  bulkOffer,
  ...orders,
  safeTransaction,
  userOperation,
  forwarded,
  votes,
];

/** Risks that the names of a type and its members suggest, for an unknown shape. */
const namedRisks: readonly (readonly [RegExp, string])[] = [
  [
    /permit|approv|allow|spend|operator|delegat|grant|session|agent/i,
    'By its names it may let another spend or move what you own.',
  ],
  [
    /transfer|withdraw|send|pay|order|offer|sell|buy|swap|bid|amount|value|recipient|receiver|destination|bridge/i,
    'By its names it may move money.',
  ],
  [/data|call|execut|payload|operation/i, 'By its names it may carry calls, which this vault does not read.'],
];

function namedWarnings(primaryType: string, message: TypedObject): readonly string[] {
  const names = [primaryType, ...[message, ...structsIn(Object.values(message))].flatMap(Object.keys)];
  return namedRisks.flatMap(([form, warning]) => (names.some((name) => form.test(name)) ? [warning] : []));
}

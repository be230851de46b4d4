/** Solana's transactions in plain language. */
import { Unknown } from '../../policy/language/types.ts';
import { decimal } from '../amounts.ts';
import type { ArgumentValue } from '../arguments.ts';
import type { Context } from '../chain.ts';
import { line, Writer, type Description, type Line } from '../description.ts';
import { ownWords, strangerWords } from '../known.ts';
import { leavesOf } from '../ethereum/listed.ts';
import { tokenAmount, tokenAt } from '../tokens.ts';
import { ownAddressOf, type SolanaAction, type SolanaMoney, type SolanaReading } from './actions.ts';
import type { CalledInstruction } from './idl.ts';
import { sol, type KnownInstruction, type NamedAccount, type Naming, type Pricing } from './instructions.ts';
import { programName } from './programs.ts';
import { signersOf, type LookupReference, type SolanaAccount, type SolanaMessage } from './read.ts';

const exactly = (lamports: bigint): string => `${sol(lamports)} (${String(lamports)} lamports)`;

/** More deeds, or receivers, than a title names. */
const mostDeeds = 10;

interface Words {
  readonly name: Naming;
  readonly price: Pricing;
}

export function describeSolana(
  { message, actions, money, refusals }: SolanaReading,
  context: Context,
): Description {
  const writer = new Writer();
  const words = { name: namingOf(context, writer), price: priceOf };
  warnOf(message, actions, money, words, writer);
  writer.warn(...refusals.map((refusal) => `The network refuses this transaction: ${refusal}.`));
  const deeds = actions.map((action) => ({ action, title: deedOf(action, words, writer) }));
  return {
    title: `${titleOf(deeds, words)}${feeTitle(message, money, context)}`,
    lines: linesOf(message, money, words),
    parts: deeds.map(({ action, title }) => ({ title, lines: actionLines(action, words, writer) })),
    warnings: writer.warnings,
    digests: [],
  };
}

const namingOf = (context: Context, writer: Writer): Naming => {
  const signer = ownAddressOf(context);
  return (account) => {
    const { key = '', lookup } = typeof account === 'string' ? { key: account } : account;
    if (lookup !== undefined) return `an account that is looked up (${lookupText(lookup)})`;
    const own = context.ours(key);
    if (own !== undefined) return ownWords(own, key, writer);
    if (key === signer) return `your account ${key}`;
    const program = programName(key);
    return program === undefined ? strangerWords(key, context, writer) : `${program} (${key})`;
  };
};

const lookupText = ({ table, index }: LookupReference): string =>
  `number ${String(index)} of the table ${table}`;

/** The decimals of a mint that an instruction names are checked by its program, and those of a known token are known. */
const priceOf: Pricing = (amount, mint, decimals) => {
  const token = tokenAt('solana', mint?.key ?? '');
  if (token !== undefined && [undefined, token.decimals].includes(decimals)) {
    return tokenAmount(token, amount);
  }
  const name =
    mint === undefined
      ? 'a token that is not named'
      : mint.lookup === undefined
        ? `the token ${mint.key ?? ''}`
        : `a token that is looked up (${lookupText(mint.lookup)})`;
  return decimals === undefined
    ? `${String(amount)} smallest units of ${name}`
    : `${decimal(amount, decimals)} of ${name}`;
};

interface Deed {
  readonly action: SolanaAction;
  readonly title: string;
}

function deedOf(
  { known, called, problem, program }: SolanaAction,
  { name, price }: Words,
  writer: Writer,
): string {
  if (known !== undefined) return known.effect.title(name, price);
  const target = name(program);
  if (problem !== undefined) return `Call ${target} with an instruction that this vault cannot read`;
  return `Call “${writer.text(called?.name ?? '')}” of ${target}`;
}

function titleOf(deeds: readonly Deed[], { price }: Words): string {
  const telling = deeds.filter(({ action }) => action.known?.effect.quiet !== true);
  const shown = telling.length > 0 ? telling : deeds.slice(0, 1);
  if (shown.length === 0) return 'Do nothing';
  return shown.length > mostDeeds
    ? sumOf(telling, price)
    : shown.map(({ title }, index) => joined(title, index)).join('; ');
}

const joined = (title: string, index: number): string =>
  index === 0 ? title : `${title.slice(0, 1).toLowerCase()}${title.slice(1)}`;

/** Sums up many instructions: payments and transfers by their totals, all else by its own title. */
function sumOf(deeds: readonly Deed[], price: Pricing): string {
  const effects = deeds.flatMap(({ action: { known } }) => (known === undefined ? [] : [known.effect]));
  const paid = effects.flatMap(({ out }) =>
    out?.lamports === undefined ? [] : [{ to: out.to, amount: out.lamports }],
  );
  const sent = Map.groupBy(
    effects.flatMap(({ tokens }) => tokens ?? []),
    ({ from, mint, decimals }) => `${String((mint ?? from).at)}/${String(decimals)}`,
  );
  const unread = deeds.filter(({ action }) => action.known === undefined).length;
  const others = deeds.filter(
    ({ action: { known } }) =>
      known !== undefined && known.effect.out?.lamports === undefined && known.effect.tokens === undefined,
  );
  // A deed that is warned of stands before those that may be there to hide it.
  const warned = ({ action: { known } }: Deed): number => (known?.effect.warnings === undefined ? 0 : 1);
  const named = others.toSorted((one, other) => warned(other) - warned(one)).slice(0, mostDeeds);
  return [
    `Do ${String(deeds.length)} things`,
    ...(paid.length === 0 ? [] : [`move ${sol(total(paid))} in all to ${receivers(paid)}`]),
    ...[...sent.values()].map((tokens) => {
      const [first] = tokens;
      return `send ${price(total(tokens), first?.mint, first?.decimals)} in all to ${receivers(tokens)}`;
    }),
    ...(unread === 0 ? [] : [`call programs ${counted(unread, 'time')}`]),
    ...named.map(({ title }) => joined(title, 1)),
    ...(named.length === others.length ? [] : [`${String(others.length - named.length)} more`]),
  ].join('; ');
}

interface Sending {
  readonly to?: SolanaAccount | undefined;
  readonly amount: bigint;
}

const total = (sendings: readonly Sending[]): bigint =>
  sendings.reduce((sum, { amount }) => sum + amount, 0n);

const receivers = (sendings: readonly Sending[]): string =>
  counted(new Set(sendings.map(({ to }) => to?.at)).size, 'account');

const counted = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

/** Leaves out a fee that another account pays. */
function feeTitle({ accounts: [payer] }: SolanaMessage, { maxFee }: SolanaMoney, context: Context): string {
  const own = ownAddressOf(context);
  if (own !== undefined && payer?.key !== own) return '';
  return maxFee instanceof Unknown
    ? ', with a fee that nothing bounds'
    : `, with a fee of at most ${sol(maxFee)}`;
}

function linesOf(message: SolanaMessage, { maxFee, outflow }: SolanaMoney, { name }: Words): readonly Line[] {
  const { version, accounts, lookedUp, recentBlockhash } = message;
  const amount = (lamports: bigint | Unknown): string =>
    lamports instanceof Unknown ? `Not bounded: ${lamports.reason}` : exactly(lamports);
  return [
    line('Network', 'Solana: it does not say which'),
    line('Pays the fee', accounts[0] === undefined ? 'None' : name(accounts[0])),
    line('Fee at most', amount(maxFee)),
    line('Leaves your account at most', amount(outflow)),
    line('Version', version),
    line('Recent blockhash', recentBlockhash),
    ...[...accounts, ...lookedUp].map((account) =>
      line(`Account ${String(account.at + 1)}`, roleOf(account, name)),
    ),
    ...message.lookups.map(({ table }, index) => line(`Table ${String(index + 1)}`, table)),
  ];
}

const roleOf = (account: SolanaAccount, name: Naming): string =>
  [
    name(account),
    ...(account.signer ? ['signs'] : []),
    account.writable ? 'may be changed' : 'is only read',
  ].join(', ');

function actionLines(action: SolanaAction, words: Words, writer: Writer): readonly Line[] {
  const { known, called, problem, program, data, accounts } = action;
  const named = known?.accounts ?? called?.accounts ?? [];
  const foreign = known === undefined;
  return [
    line('Program', words.name(program)),
    ...(known === undefined ? [] : knownLines(known, words, writer)),
    ...(problem === undefined
      ? []
      : [line('Not read', `This vault cannot read all of it: ${writer.text(problem)}`)]),
    ...(foreign && called !== undefined ? calledLines(called, writer) : []),
    ...(problem === undefined ? [] : [line('Data', writer.bytes(data))]),
    ...accounts.map((account, index) =>
      line(accountLabel(index, named, foreign, writer), words.name(account)),
    ),
  ];
}

/** A name of an interface stands after the account’s number. */
function accountLabel(
  index: number,
  named: readonly NamedAccount[],
  foreign: boolean,
  writer: Writer,
): string {
  const name = named[index]?.name;
  const label = `Account ${String(index + 1)}`;
  return name === undefined
    ? label
    : `${label} (${foreign ? writer.text(name) : labelOf(name).toLowerCase()})`;
}

/** `New authority` of `new_authority`. */
const labelOf = (name: string): string =>
  `${name.slice(0, 1).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;

const knownLines = (
  { name: called, discriminator, args, excess }: KnownInstruction,
  { name }: Words,
  writer: Writer,
): readonly Line[] => [
  line('Instruction', discriminator === '' ? called : `${called} (${discriminator})`),
  ...args.map(({ name: label, value, unit }) =>
    line(
      labelOf(label),
      unit === 'lamports' && typeof value === 'bigint'
        ? exactly(value)
        : value === null
          ? 'None'
          : typeof value === 'bigint'
            ? String(value)
            : unit === 'key'
              ? name(value)
              : writer.text(value),
    ),
  ),
  ...(excess.length === 0 ? [] : [line('Bytes after the end', writer.bytes(excess))]),
];

const calledLines = ({ name, args }: CalledInstruction, writer: Writer): readonly Line[] => [
  line('Instruction by the interface', writer.text(name)),
  ...(args.ok
    ? args.value.flatMap((argument) =>
        leavesOf(quoted(argument.value), `Argument ${writer.text(argument.name)}`, writer),
      )
    : []),
];

/** An option that is not taken is written as null: a text that looks like it, or like a quoted one, is quoted. */
function quoted(value: ArgumentValue): ArgumentValue {
  if (typeof value === 'string')
    return value === 'null' || value.startsWith('"') ? JSON.stringify(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly ArgumentValue[]).map(quoted);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, quoted(each)]));
}

function warnOf(
  message: SolanaMessage,
  actions: readonly SolanaAction[],
  { maxFee, outflow }: SolanaMoney,
  { name }: Words,
  writer: Writer,
): void {
  if (actions.some(({ problem }) => problem !== undefined)) {
    writer.warn(
      'This vault cannot read all of it. It does not know what a program that is called does with the accounts.',
    );
  }
  if (actions[0]?.known?.name === 'AdvanceNonceAccount') {
    writer.warn(
      'It never expires: it names a durable nonce in place of a recent block. Anyone who has it signed can send it at any time.',
    );
  }
  if (maxFee instanceof Unknown) writer.warn(`Nothing bounds the fee: ${maxFee.reason}.`);
  else if (outflow instanceof Unknown)
    writer.warn(`Nothing bounds what leaves your account: ${outflow.reason}.`);
  if (message.lookedUp.length > 0) {
    writer.warn(
      'Some accounts are looked up in tables on the chain. This vault does not know which they are.',
    );
  }
  const others = signersOf(message).length - 1;
  if (others > 0) writer.warn(`${counted(others, 'other key')} must sign it as well.`);
  for (const { known } of actions) {
    if (known === undefined) continue;
    writer.warn(...(known.effect.warnings?.(name) ?? []));
    if (known.excess.length > 0) {
      writer.warn('An instruction has bytes after its end. The program passes over them.');
    }
  }
}

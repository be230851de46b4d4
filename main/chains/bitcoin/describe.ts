/** Bitcoin's transactions in plain language. */
import { joinBytes } from '../../crypto/bytes.ts';
import { toHex } from '../../crypto/encodings.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { Unknown } from '../../policy/language/types.ts';
import { decimal } from '../amounts.ts';
import { line, mostParts, timeOf, Writer, type Description, type Line, type Part } from '../description.ts';
import { changeOf, worth, type Money, type Owner, type OwnedOutput, type Source } from './money.ts';
import { firstTime, type BitcoinTransaction } from './read.ts';
import { isData } from './scripts.ts';
import { finalSequence, inputBytes, outputBytes, txIdOf, type Output } from './wire.ts';

/** Receivers that a title names at most. */
const mostReceivers = 10;

const btcOf = (satoshis: bigint): string => `${decimal(satoshis, 8)} BTC`;

const exactly = (satoshis: bigint): string => `${btcOf(satoshis)} (${String(satoshis)} satoshis)`;

const counted = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

/** @param faults The reasons why the key does not sign. */
export function describeBitcoin(money: Money, faults: readonly string[]): Description {
  const writer = new Writer();
  const { transaction, inputs, outputs } = money;
  const change = changeOf(money);
  writer.warn(
    ...faults.map((fault) => `It is not signed as it is: ${fault}.`),
    ...moneyWarnings(money, change),
    ...hiddenWarnings('input', inputs.length),
    ...hiddenWarnings('output', outputs.length),
  );
  const hiddenInputs = transaction.inputs.slice(mostParts).map((input) => inputBytes(input));
  const hiddenOutputs = outputs.slice(mostParts);
  return {
    title: titleOf(money, change),
    lines: [
      line('Leaves its wallet or key', amountOf(money.outflow, 'the fee included')),
      line('Fee', amountOf(money.fee)),
      line('Network', 'Bitcoin, or a test network of it'),
      line('Version', transaction.version),
      ...timeLines(transaction),
      ...inputs
        .slice(0, mostParts)
        .map((source, index) => line(`Input ${String(index + 1)}`, inputText(source, transaction.version))),
      ...hiddenLines('More inputs', hiddenInputs),
      ...hiddenLines(
        'More outputs',
        hiddenOutputs.map(outputBytes),
        `, worth ${btcOf(worth(hiddenOutputs))}`,
      ),
    ],
    parts: outputs.slice(0, mostParts).map((output) => partOf(output, change.has(output), writer)),
    warnings: writer.warnings,
    digests: [],
  };
}

const amountOf = (amount: bigint | Unknown, note?: string): string =>
  amount instanceof Unknown
    ? `Not known: ${amount.reason}`
    : `${exactly(amount)}${note === undefined ? '' : `, ${note}`}`;

type Change = ReturnType<typeof changeOf>;

/** Names every receiver but those who pay, and the total that leaves these. */
function titleOf({ outputs, outflow }: Money, change: Change): string {
  const sent = outputs.filter((output) => !change.has(output) && !isData(output.script));
  const data = outputs.filter(({ script }) => isData(script));
  const burned = worth(data);
  const deeds = [
    ...(sent.length === 0 ? [] : [`send ${receiversOf(sent)}`]),
    ...(burned === 0n ? [] : [`burn ${btcOf(burned)}`]),
    ...(change.size > 0 && sent.length === 0
      ? [`send back to your own ${[...change].some(isImported) ? 'and imported ' : ''}addresses`]
      : []),
    ...(data.length === 0 ? [] : ['write data into the chain']),
  ];
  const total =
    outflow instanceof Unknown
      ? 'how much leaves its wallet or key is not known'
      : `${btcOf(outflow)} leave their wallet or key, the fee included`;
  return `${capitalized(listed(deeds.length === 0 ? ['send nothing'] : deeds))}: ${total}`;
}

const isImported = ({ owner }: OwnedOutput): boolean =>
  owner !== undefined && owner !== 'unlisted' && owner.isImported;

const receiversOf = (sent: readonly OwnedOutput[]): string =>
  sent.length > mostReceivers
    ? `${btcOf(worth(sent))} to ${String(sent.length)} outputs that do not come back`
    : listed(sent.map((output) => `${btcOf(output.value)} to ${receiverOf(output)}`));

const listed = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1) ?? ''}`;

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

function addressOrScript({ address, known }: OwnedOutput): string {
  if (address === '') return 'a script without an address';
  return known === undefined ? address : `“${visibleName(known)}” (${address})`;
}

const receiverOf = (output: OwnedOutput): string =>
  output.owner === undefined
    ? addressOrScript(output)
    : `${ownerName(output.owner)} (${addressOrScript(output)})`;

const ownerName = (owner: Owner): string =>
  owner === 'unlisted' ? 'this key' : `your ${owner.isImported ? 'imported ' : ''}${visibleName(owner.name)}`;

function partOf(output: OwnedOutput, isChange: boolean, writer: Writer): Part {
  const { value, script, kind, owner } = output;
  const data = isData(script);
  const burned = value === 0n ? '' : `Burn ${btcOf(value)}, and write`;
  return {
    title: data
      ? `${burned === '' ? 'Write' : burned} data into the chain`
      : isChange && owner !== undefined
        ? `Send ${btcOf(value)} back to ${ownerName(owner)}, ${addressOrScript(output)}`
        : `Send ${btcOf(value)} to ${receiverOf(output)}`,
    lines: kind === '' ? [line(data ? 'Data' : 'Script', writer.bytes(script))] : [],
  };
}

function inputText({ input, signed, spent }: Source, version: number): string {
  return [
    sourceText(spent, input.spent),
    ...(signed ? ['this key signs it'] : []),
    `output ${String(input.vout)} of ${txIdOf(input)}`,
    ...sequenceTexts(input.sequence, version),
  ].join(', ');
}

/** @param claimed The output that the input spends, as the PSBT claims it. */
function sourceText(spent: OwnedOutput | Unknown, claimed: Output | undefined): string {
  if (spent instanceof Unknown) {
    return claimed === undefined ? 'Not known' : `Claims ${btcOf(claimed.value)}, which nothing proves`;
  }
  const owner = spent.owner === undefined ? 'not yours' : ownerName(spent.owner);
  return `${btcOf(spent.value)} from ${addressOrScript(spent)} (${owner})`;
}

/** BIP-68: sequences without this bit wait for a while after the output was confirmed, from version 2 on. */
const noWait = 0x8000_0000;
const waitsForTime = 0x0040_0000;
const waitUnits = 0xffff;
const secondsOfUnit = 512;

function sequenceTexts(sequence: number, version: number): string[] {
  if (sequence === finalSequence) return [];
  const units = sequence & waitUnits;
  const waits = sequence < noWait && version >= 2 && units > 0;
  const wait =
    (sequence & waitsForTime) === 0 ? counted(units, 'block') : counted(units * secondsOfUnit, 'second');
  return [
    `sequence ${String(sequence)}${sequence < finalSequence - 1 ? ' (can be replaced until it is confirmed)' : ''}`,
    ...(waits ? [`not within ${wait} of its confirmation`] : []),
  ];
}

function timeLines({ lockTime, inputs }: BitcoinTransaction): Line[] {
  if (lockTime === 0) return [];
  const time = lockTime < firstTime ? `block ${String(lockTime)}` : timeOf(BigInt(lockTime) * 1000n);
  const applies = inputs.some(({ sequence }) => sequence !== finalSequence);
  return [line('Only after', applies ? time : `${time}; it has no effect, because all inputs are final`)];
}

const isForeign = ({ owner }: OwnedOutput): boolean => owner === undefined;

const when = (applies: boolean, text: string): string[] => (applies ? [text] : []);

function moneyWarnings({ inputs, outputs, fee, outflow }: Money, change: Change): string[] {
  const spentOutputs = inputs.flatMap(({ spent }) => (spent instanceof Unknown ? [] : [spent]));
  const foreign = spentOutputs.filter(isForeign);
  const strange = outputs.filter(isForeign);
  const burned = worth(outputs.filter(({ script }) => isData(script)));
  const unusual = strange.filter(({ kind, script }) => kind === '' && !isData(script)).length;
  const unproven = inputs.length - spentOutputs.length;
  const gone = outputs.filter((output) => !change.has(output));
  const sent = worth(gone.length > 0 ? gone : outputs);
  const lost = worth(spentOutputs) - worth(foreign) - (worth(outputs) - worth(strange));
  const kept = outflow instanceof Unknown ? 0n : outflow - (lost > 0n ? lost : 0n);
  return [
    ...when(
      unproven > 0,
      `Nothing proves what is spent by ${counted(unproven, 'input')}. The fee and the total are not known.`,
    ),
    ...when(
      foreign.length > 0,
      `Not yours: ${counted(foreign.length, 'input')}, worth ${btcOf(worth(foreign))}.`,
    ),
    ...when(!(fee instanceof Unknown) && fee * 4n > sent, 'The fee is more than a quarter of what is sent.'),
    ...when(burned > 0n, `${btcOf(burned)} are burned: no key can ever spend them.`),
    ...when(
      unusual > 0,
      `Scripts of a kind that this vault does not know get ${counted(unusual, 'output')}. It does not know who can spend that.`,
    ),
    ...when(
      kept > 0n,
      `${btcOf(kept)} stay with your keys, and still count as leaving: they do not come back to the wallet or key that pays.`,
    ),
  ];
}

const hiddenWarnings = (noun: string, count: number): string[] =>
  when(
    count > mostParts,
    `Not shown one by one: ${counted(count - mostParts, `more ${noun}`)}. The totals count them.`,
  );

/** Identifies the rest of a list by its hash, so that no other list looks the same. */
const hiddenLines = (label: string, hidden: readonly Uint8Array[], note = ''): Line[] =>
  hidden.length === 0
    ? []
    : [line(label, `${String(hidden.length)}${note}, SHA-256 ${toHex(sha256(joinBytes(hidden)))}`)];

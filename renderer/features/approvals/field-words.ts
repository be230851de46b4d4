/** Words for the values of a request's fields that the API writes in capitals, as the rest of the window says them. */
import { transactionTypes } from '../../../main/lib/text/transaction-types.ts';
import { addressFormats, curves } from '../accounts/chains.ts';
import { hashFunctions } from '../sign/payload.ts';
import { effectWords } from '../policies/draft.ts';

const curveWords = new Map(
  Object.entries(curves).flatMap(([name, { label }]) => [
    [name, label] as const,
    [`API_KEY_${name}`, label] as const,
  ]),
);

/** By the end of a field's name: a text that a person chose stays as it is, also where it is written like a value of another field. */
const kinds: readonly (readonly [name: RegExp, words: ReadonlyMap<string, string>])[] = [
  [/\bcurve(?: type)?$/i, curveWords],
  [
    /\baddress format(?:s(?:, \d+)?)?$/i,
    new Map(addressFormats.map(({ format, label }) => [format, label] as const)),
  ],
  [/\beffect$/i, effectWords],
  [/\bhash function$/i, new Map(hashFunctions.map(({ id, label }) => [id, label] as const))],
  [/\btype$/i, new Map(Object.entries(transactionTypes).map(([name, { chain }]) => [name, chain] as const))],
];

/** @returns the value as the service has it, where the window has no word for it. */
export const fieldWords = (label: string, value: string): string =>
  kinds.find(([name]) => name.test(label))?.[1].get(value) ?? value;

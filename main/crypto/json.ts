/** JSON that callers send inside a payload to be signed. */
import { countValues, repeatsName } from '../lib/plain-json.ts';
import { requestLimits } from '../lib/published-limits.ts';
import { invalid } from './encodings.ts';

/** @throws KeyhearthError INVALID_ARGUMENT for texts that have more values together than is read of one request. */
export function checkPayloadValues(field: string, texts: readonly string[]): void {
  const values = texts.reduce((sum, text) => sum + countValues(Buffer.from(text, 'utf8')), 0);
  if (values <= requestLimits.payloadValues) return;
  throw invalid(
    field,
    `expected JSON of at most ${requestLimits.payloadValues.toLocaleString('en')} values, those in lists and objects counted each, got ${values.toLocaleString('en')}`,
  );
}

/**
 * Reads JSON text. A whole number that a double would round comes as a bigint, to the last digit. An object that has a name twice
 * is refused: another reader would take it for something else.
 * @throws KeyhearthError INVALID_ARGUMENT naming the field, never the text itself.
 */
export function parseJson(field: string, text: string): unknown {
  const value = parseExact(field, text);
  if (repeatsName(text)) throw invalid(field, 'expected each name once in a JSON object, got one twice');
  return value;
}

function parseExact(field: string, text: string): unknown {
  try {
    return JSON.parse(text, exactNumbers);
  } catch {
    // Its message would quote the text. Nesting deeper than the stack ends here as well.
    throw invalid(field, 'expected JSON, got text that is none');
  }
}

function exactNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?[0-9]{1,80}$/.test(source) ? BigInt(source) : value;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names the kind of a value for errors, never its content. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'bigint' ? 'a number' : `a ${typeof value}`;
}

/** The functions of the language: where each may be called, and what compiling makes of a call. */
import { checkArity, constant, folded, total, type Compiled, type Of } from './compiled.ts';
import type { Counter, Evaluation, Reservation, Run } from './evaluation.ts';
import { print } from './printer.ts';
import { inCronSpan, maxSpan, parseCron, parseDuration, parseTimestamp, timeZone } from './schedule.ts';
import type { PolicyField } from './schema.ts';
import { ExpressionError, type Node } from './syntax.ts';
import { bool, caseless, int, isWhole, join, text, timestamp, Unknown, type Type } from './types.ts';
import { exact, unknown } from './values.ts';

/** The counter of a rolling function, and what an allowed activity adds to it. */
export interface Reserve {
  /** Its amount and what it is kept by, as a text that is the same for functions that add the same. */
  readonly counter: string;
  /** @returns undefined for a fault. */
  readonly run: (evaluation: Evaluation) => Reservation | undefined;
}

/** The functions that a call may use of the expression around it. */
export interface CallScope {
  readonly source: string;
  /** Compiles what must be of a type. */
  wanted(type: Type, node: Node): Compiled;
  isIterating(): boolean;
  reserves(reserve: Reserve): void;
}

interface CalledFunction {
  readonly fields: readonly PolicyField[];
  readonly usage: string;
  readonly compile: (scope: CallScope, node: Of<'call'>) => Compiled;
}

/** `RollingSum` and `RollingCount` are ours, and so documented. */
export const functions: Readonly<Record<string, CalledFunction>> = {
  Timestamp: {
    fields: ['time'],
    usage: "Timestamp('2026-03-01T00:00:00Z')",
    compile: timestampOf,
  },
  CronSpan: {
    fields: ['time'],
    usage: "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')",
    compile: cronSpan,
  },
  CaseInsensitiveString: {
    fields: ['condition', 'consensus'],
    usage: "CaseInsensitiveString('0xAb…')",
    compile: caseInsensitive,
  },
  RollingSum: {
    fields: ['condition'],
    usage: "RollingSum(eth.tx.outflow, '24h', signing_key.public_key)",
    compile: (scope, node) => rolling(scope, node, node.args[0]),
  },
  RollingCount: {
    fields: ['condition'],
    usage: "RollingCount('1h', submitter.id)",
    compile: (scope, node) => rolling(scope, node, undefined),
  },
};

/** By name: where each may be called, and how. */
export const calledFunctions: readonly (Pick<CalledFunction, 'fields' | 'usage'> & {
  readonly name: string;
})[] = Object.entries(functions).map(([name, { fields, usage }]) => ({ name, fields, usage }));

/** The longest window of a rolling function: a year and a day. */
export const maxRolling = 366 * 24 * 60 * 60 * 1000;

function timestampOf(scope: CallScope, node: Of<'call'>): Compiled {
  const [argument] = literals(scope, node, 1);
  const at = argument === undefined ? undefined : parseTimestamp(argument.value);
  if (at !== undefined) return constant(timestamp, at);
  throw wrongArgument(scope, node, 0, "an RFC 3339 time at offset zero, as '2026-03-01T00:00:00Z'");
}

function cronSpan(scope: CallScope, node: Of<'call'>): Compiled {
  const [cron, length, zone] = literals(scope, node, 3).map(({ value }) => value);
  const schedule = parseCron(cron ?? '');
  if (typeof schedule === 'string') throw wrongArgument(scope, node, 0, schedule);
  const duration = parseDuration(length ?? '');
  if (duration === undefined || duration > maxSpan) {
    throw wrongArgument(scope, node, 1, "a duration of at most 7 days in whole d, h and m, as '1d12h'");
  }
  const offset = timeZone(zone ?? '');
  if (offset === undefined) throw wrongArgument(scope, node, 2, "an IANA time zone, as 'America/New_York'");
  return { type: bool, size: 1, run: ({ now }) => inCronSpan(schedule, duration, offset, now) };
}

function caseInsensitive(scope: CallScope, node: Of<'call'>): Compiled {
  checkArity(scope.source, node, 1, functions['CaseInsensitiveString']?.usage ?? '');
  const [argument] = node.args;
  if (argument === undefined) throw new Error('its arity was checked');
  const of = scope.wanted(text, argument);
  return folded(of, join(of.type, caseless) ?? caseless, node);
}

/**
 * The total of a counter over the last while, this activity's amount included; see `Counters`.
 * @param amount What is added up; undefined where signatures are counted.
 */
function rolling(scope: CallScope, node: Of<'call'>, amount: Node | undefined): Compiled {
  const usage = functions[node.name]?.usage ?? '';
  const [window, ...by] = node.name === 'RollingSum' ? node.args.slice(1) : node.args;
  if (scope.isIterating()) {
    throw new ExpressionError(scope.source, node, `${node.name} outside of .all, .any, .filter and .sum`);
  }
  const duration = window?.kind === 'text' ? parseDuration(window.value) : undefined;
  if (duration === undefined || duration > maxRolling) {
    throw new ExpressionError(
      scope.source,
      window ?? node.nameAt,
      "a duration of at most 366 days in whole d, h and m, as '24h'",
      `write ${usage}`,
    );
  }
  const added = amount === undefined ? signatures(node) : scope.wanted(int, amount);
  const measure = amount === undefined ? '' : print(amount);
  const parts = by.map((part) => ({
    node: part,
    source: print(part),
    ofKey: namesKey(part),
    ...scope.wanted(text, part),
  }));

  /** @param written Whether to look at what the counter is kept by as it is written, also where its key stands for it. */
  const count = (evaluation: Evaluation, written: boolean): Reservation | undefined => {
    const value = added.run(evaluation);
    const pairs = parts.map((part): readonly [string, unknown] => {
      const key = part.ofKey ? optional(evaluation, 'signing_key', 'public_key') : undefined;
      const found = key === undefined || written ? part.run(evaluation) : '';
      if (key === undefined || found === undefined) return [part.source, found];
      if (key instanceof Unknown) return [part.source, unknown(evaluation, part.node, key)];
      return [keyName, typeof key === 'string' ? key.toLowerCase() : key];
    });
    if (!isWhole(value) || pairs.some(([, found]) => found === undefined)) return undefined;
    if (value < 0) {
      evaluation.fail('invalid', node, 'an amount below 0');
      return undefined;
    }
    return { measure, by: JSON.stringify(pairs), amount: BigInt(value) };
  };
  const run: Run = (evaluation) => {
    const own = count(evaluation, true);
    if (own === undefined) return undefined;
    const { counters, now } = evaluation;
    if (counters === undefined) return evaluation.fail('invalid', node, 'nothing is counted here');
    const counter: Counter = { measure: own.measure, by: own.by };
    return exact(counters.total(counter, now - duration) + own.amount);
  };
  scope.reserves({
    counter: JSON.stringify([measure, ...parts.map(({ source }) => source)]),
    run: (evaluation) => count(evaluation, false),
  });
  return { type: int, size: added.size + total(parts) + 1, run };
}

/** Number of signatures of an activity; an activity of another kind counts as one. */
const signatures = (node: Node): Compiled => ({
  type: int,
  size: 1,
  run(evaluation) {
    const found = optional(evaluation, 'activity', 'signatures') ?? 1;
    if (found instanceof Unknown) return unknown(evaluation, node, found);
    return isWhole(found) ? found : evaluation.fail('invalid', node, 'not a number of signatures');
  },
});

/** A field of a fact, where there are both. */
function optional(evaluation: Evaluation, keyword: string, field: string): unknown {
  const fact = evaluation.load(keyword);
  if (fact instanceof Unknown || typeof fact !== 'object' || fact === null) {
    return fact instanceof Unknown ? fact : undefined;
  }
  return (fact as Readonly<Record<string, unknown>>)[field];
}

/** The key of a counter whose policy names the signing key by one of its names. */
export const keyName = 'signing_key.public_key';
const namesOfKeys: readonly string[] = [
  'wallet_account.address',
  'private_key.id',
  'activity.params.sign_with',
];

/**
 * True for a name of the key that signs. A key has several, one for each format of its address, and a request
 * may use any. All of them share one counter.
 */
const namesKey = (node: Node): boolean =>
  node.kind === 'call' && node.name === 'CaseInsensitiveString'
    ? node.args.every(namesKey)
    : namesOfKeys.includes(print(node));

function literals(scope: CallScope, node: Of<'call'>, count: number): readonly Of<'text'>[] {
  checkArity(scope.source, node, count, functions[node.name]?.usage ?? '');
  return node.args.map((argument, index) => {
    if (argument.kind === 'text') return argument;
    throw wrongArgument(scope, node, index, "a string written out in '…'");
  });
}

function wrongArgument(
  { source }: CallScope,
  node: Of<'call'>,
  index: number,
  expected: string,
): ExpressionError {
  return new ExpressionError(source, node.args[index] ?? node, expected);
}

/**
 * Type-checks an expression and makes it a function, once. Evaluating it does no input or output, has no clock of its own,
 * takes a bounded number of steps and throws nothing. As in the real engine nothing is cut short: a fault in any part is a
 * fault of the whole.
 */
import { assertNever } from '../lib/errors.ts';
import type { Counter, Evaluation, Reservation, Run } from './evaluation.ts';
import { isIteration, parse } from './parser.ts';
import { print } from './printer.ts';
import { inCronSpan, maxSpan, parseCron, parseDuration, parseTimestamp, timeZone } from './schedule.ts';
import { keywords, type Place } from './schema.ts';
import { suggest } from './suggest.ts';
import { ExpressionError, iterations, type Node, type Span } from './syntax.ts';
import {
  article,
  bool,
  caseless,
  dynamic,
  fits,
  int,
  isCaseless,
  isComparable,
  isWhole,
  join,
  list,
  nothing,
  text,
  timestamp,
  type Type,
  type Whole,
} from './types.ts';
import {
  asList,
  both,
  checked,
  element,
  exact,
  gather,
  identical,
  loosely,
  lowered,
  orders,
  part,
  sameWhole,
  whole,
  type Equal,
} from './values.ts';

/** Called with what a node came to, each time; undefined for a fault. */
export type Trace = (node: Node, value: unknown) => void;

export interface Program {
  readonly source: string;
  readonly run: Run;
  /** For each rolling function in it, what an allowed activity adds; undefined where that has a fault. */
  readonly reservations: readonly ((evaluation: Evaluation) => Reservation | undefined)[];
}

/**
 * @param place The field of a policy that the expression stands in, which decides what it may speak of.
 * @returns a program whose value is a boolean.
 * @throws ExpressionError where it does not parse, or its types do not fit.
 */
export function compile(source: string, place: Place, trace?: Trace): Program {
  const compiler = new Compiler(source, place, trace);
  return { source, ...compiler.whole(parse(source)) };
}

interface Compiled {
  readonly type: Type;
  readonly run: Run;
  /** Nodes in it: what it costs to run it once, but for its iterations. */
  readonly size: number;
  /** What it always is, where that is written out. */
  readonly fixed?: { readonly value: unknown };
}

interface Variable {
  readonly name: string;
  readonly type: Type;
}

type Of<Kind extends Node['kind']> = Extract<Node, { readonly kind: Kind }>;

interface CalledFunction {
  readonly places: readonly Place[];
  readonly usage: string;
  readonly compile: (compiler: Compiler, node: Of<'call'>) => Compiled;
}

/** `RollingSum` and `RollingCount` are ours, and so documented. */
const functions: Readonly<Record<string, CalledFunction>> = {
  Timestamp: {
    places: ['time'],
    usage: "Timestamp('2026-03-01T00:00:00Z')",
    compile: (compiler, node) => compiler.timestamp(node),
  },
  CronSpan: {
    places: ['time'],
    usage: "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')",
    compile: (compiler, node) => compiler.cronSpan(node),
  },
  CaseInsensitiveString: {
    places: ['condition', 'consensus'],
    usage: "CaseInsensitiveString('0xAb…')",
    compile: (compiler, node) => compiler.caseInsensitive(node),
  },
  RollingSum: {
    places: ['condition'],
    usage: "RollingSum(eth.tx.value, '24h', wallet_account.address)",
    compile: (compiler, node) => compiler.rolling(node, node.args[0]),
  },
  RollingCount: {
    places: ['condition'],
    usage: "RollingCount('1h', submitter.id)",
    compile: (compiler, node) => compiler.rolling(node, undefined),
  },
};

/** By name: where each may be called, and how. */
export const calledFunctions: readonly (Pick<CalledFunction, 'places' | 'usage'> & {
  readonly name: string;
})[] = Object.entries(functions).map(([name, { places, usage }]) => ({ name, places, usage }));

const methods: readonly string[] = [...iterations, 'contains', 'count'];

/** The longest window of a rolling function: a year and a day. */
export const maxRolling = 366 * 24 * 60 * 60 * 1000;

class Compiler {
  readonly #source: string;
  readonly #place: Place;
  readonly #trace: Trace | undefined;
  readonly #known: Readonly<Record<string, Type>>;
  readonly #variables: Variable[] = [];
  readonly #reservations: ((evaluation: Evaluation) => Reservation | undefined)[] = [];

  constructor(source: string, place: Place, trace: Trace | undefined) {
    this.#source = source;
    this.#place = place;
    this.#trace = trace;
    this.#known = keywords[place];
  }

  whole(node: Node): Omit<Program, 'source'> {
    const { run } = this.#wanted(bool, node);
    return { run, reservations: this.#reservations };
  }

  #compile(node: Node): Compiled {
    const compiled = this.#dispatch(node);
    const trace = this.#trace;
    if (trace === undefined) return compiled;
    const { run } = compiled;
    return {
      ...compiled,
      run: (evaluation) => {
        const value = run(evaluation);
        trace(node, value);
        return value;
      },
    };
  }

  #dispatch(node: Node): Compiled {
    switch (node.kind) {
      case 'bool':
        return constant(bool, node.value);
      case 'int':
        return constant(int, exact(node.value));
      case 'text':
        return constant(text, node.value);
      case 'list':
        return this.#list(node);
      case 'name':
        return this.#name(node);
      case 'field':
        return this.#field(node);
      case 'index':
        return this.#index(node);
      case 'slice':
        return this.#slice(node);
      case 'method':
        return this.#method(node);
      case 'each':
        return this.#each(node);
      case 'call':
        return this.#call(node);
      case 'not':
        return this.#not(node);
      case 'compare':
        return this.#compare(node);
      case 'logic':
        return this.#logic(node);
      default:
        return assertNever(node);
    }
  }

  /** Compiles what must be of a type; a value of the request may be, and is looked at when it is there. */
  #wanted(type: Type, node: Node): Compiled {
    const compiled = this.#compile(node);
    if (compiled.type.kind === type.kind) return compiled;
    if (compiled.type.kind !== 'dynamic') throw this.#mismatch(node, article(type), compiled.type);
    return { ...compiled, run: checked(compiled.run, type, node), type };
  }

  #list(node: Of<'list'>): Compiled {
    const items = node.items.map((item) => this.#compile(item));
    let of: Type = nothing;
    for (const [index, item] of items.entries()) {
      const joined = join(of, item.type);
      if (joined === undefined) {
        const wrong = node.items[index] ?? node;
        throw this.#mismatch(wrong, `${article(of)} like the elements before it`, item.type);
      }
      of = joined;
    }
    const runs = items.map((item) => (isCaseless(of) ? folded(item, node).run : item.run));
    const size = total(items);
    if (node.items.every(({ kind }) => isLiteral(kind))) {
      const values = node.items.map((item) => {
        const value = literal(item);
        return isCaseless(of) && typeof value === 'string' ? value.toLowerCase() : value;
      });
      return { type: list(of), size, run: () => values };
    }
    return { type: list(of), size, run: (evaluation) => gather(runs, evaluation) };
  }

  #name(node: Of<'name'>): Compiled {
    const slot = this.#variables.findLastIndex(({ name }) => name === node.name);
    const variable = this.#variables[slot];
    if (variable !== undefined) {
      return { type: variable.type, size: 1, run: ({ variables }) => variables[slot] };
    }
    const type = Object.hasOwn(this.#known, node.name) ? this.#known[node.name] : undefined;
    if (type !== undefined) return this.#keyword(node.name, type, node);
    throw this.#unknownName(node.name, node);
  }

  #keyword(keyword: string, type: Type, node: Node): Compiled {
    const fitting = fits(type);
    const missing = `this activity has no ${keyword}`;
    const invalid = `not ${article(type)}`;
    return {
      type,
      size: 1,
      run: (evaluation) => {
        const value = evaluation.load(keyword);
        if (value === undefined || value === null) return evaluation.fail('missing', node, missing);
        return fitting(value) ? value : evaluation.fail('invalid', node, invalid);
      },
    };
  }

  /** `eth.tx` is one name; a variable called `eth` would win over it. */
  #namespaced(node: Of<'field'>): Compiled | undefined {
    if (node.of.kind !== 'name') return undefined;
    const { name } = node.of;
    if (this.#variables.some((variable) => variable.name === name)) return undefined;
    const keyword = `${name}.${node.name}`;
    const type = Object.hasOwn(this.#known, keyword) ? this.#known[keyword] : undefined;
    if (type !== undefined) return this.#keyword(keyword, type, node);
    const within = Object.keys(this.#known).filter((known) => known.startsWith(`${name}.`));
    if (within.length === 0) return undefined;
    throw this.#unknown(node.name, node.nameAt, `one of ${within.join(', ')}`, within, `${name}.`);
  }

  #field(node: Of<'field'>): Compiled {
    const namespaced = this.#namespaced(node);
    if (namespaced !== undefined) return namespaced;
    const of = this.#compile(node.of);
    const { name } = node;
    switch (of.type.kind) {
      case 'struct': {
        const { fields } = of.type;
        const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (type !== undefined) return this.#member(node, of, name, type);
        const names = Object.keys(fields);
        throw this.#unknown(name, node.nameAt, `a field of ${of.type.name}: ${names.join(', ')}`, names);
      }
      case 'list':
      case 'dynamic':
        // The vendor's examples write `.count` without its parentheses too.
        if (name === 'count') return this.#count(node, of);
        if (of.type.kind === 'dynamic') {
          throw new ExpressionError(this.#source, node.nameAt, 'an index', `write ['${name}']`);
        }
        throw this.#unknown(name, node.nameAt, `a method: ${methods.join(', ')}`, methods);
      case 'map':
        throw new ExpressionError(this.#source, node.nameAt, 'an index', `write ['${name}']`);
      default:
        throw this.#mismatch(node.of, 'something with fields', of.type);
    }
  }

  #member(node: Node, of: Compiled, name: string, type: Type): Compiled {
    const fitting = fits(type);
    const absent = type.kind === 'text' ? type.absent : undefined;
    const missing = `MissingField: ${name}`;
    const invalid = `not ${article(type)}`;
    const run: Run = (evaluation) => {
      const holder = of.run(evaluation);
      if (holder === undefined) return undefined;
      const value = (holder as Readonly<Record<string, unknown>>)[name] ?? absent;
      if (value === undefined) return evaluation.fail('missing', node, missing);
      return fitting(value) ? value : evaluation.fail('invalid', node, invalid);
    };
    return { type, size: of.size + 1, run: isCaseless(type) ? lowered(run, node) : run };
  }

  #index(node: Of<'index'>): Compiled {
    const of = this.#compile(node.of);
    const key = this.#compile(node.index);
    const size = of.size + key.size + 1;
    switch (of.type.kind) {
      case 'list':
      case 'text': {
        this.#checkPosition(node.index, key);
        const type: Type = of.type.kind === 'list' ? of.type.of : of.type;
        const run = both(of.run, key.run, (evaluation, holder, at) => element(evaluation, node, holder, at));
        return { type, size, run: of.type.kind === 'list' ? checked(run, type, node) : run };
      }
      case 'map':
      case 'dynamic': {
        if (of.type.kind === 'map' && key.type.kind !== 'text' && key.type.kind !== 'dynamic') {
          throw this.#mismatch(node.index, "a string, as in ['name']", key.type);
        }
        if (!['text', 'int', 'dynamic'].includes(key.type.kind)) {
          throw this.#mismatch(node.index, "a string, as in ['name'], or an int", key.type);
        }
        const type = of.type.kind === 'map' ? of.type.of : dynamic;
        const run = both(of.run, key.run, (evaluation, holder, at) => element(evaluation, node, holder, at));
        return { type, size, run: checked(run, type, node) };
      }
      default:
        throw this.#mismatch(node.of, 'a list, a string or a map', of.type);
    }
  }

  #slice(node: Of<'slice'>): Compiled {
    const of = this.#compile(node.of);
    if (!['list', 'text', 'dynamic'].includes(of.type.kind)) {
      throw this.#mismatch(node.of, 'a list or a string', of.type);
    }
    const start = this.#compile(node.start);
    const end = this.#compile(node.end);
    this.#checkPosition(node.start, start);
    this.#checkPosition(node.end, end);
    if (node.start.kind === 'int' && node.end.kind === 'int' && node.start.value > node.end.value) {
      throw new ExpressionError(this.#source, node.end, `an end of at least ${node.start.value}`);
    }
    const run: Run = (evaluation) => {
      const holder = of.run(evaluation);
      const first = start.run(evaluation);
      const last = end.run(evaluation);
      if (holder === undefined || first === undefined || last === undefined) return undefined;
      return part(evaluation, node, holder, first, last);
    };
    return { type: of.type, size: of.size + start.size + end.size + 1, run };
  }

  #checkPosition(node: Node, { type }: Compiled): void {
    if (type.kind !== 'int' && type.kind !== 'dynamic') throw this.#mismatch(node, 'an int', type);
    if (node.kind === 'int' && node.value < 0n) {
      throw new ExpressionError(this.#source, node, 'a position from 0');
    }
  }

  #method(node: Of<'method'>): Compiled {
    const of = this.#compile(node.of);
    if (of.type.kind !== 'list' && of.type.kind !== 'dynamic') {
      throw this.#mismatch(node.of, `a list before .${node.name}(…)`, of.type);
    }
    switch (node.name) {
      case 'count':
        this.#arity(node, 0, '.count()');
        return this.#count(node, of);
      case 'contains': {
        this.#arity(node, 1, '.contains(value)');
        const [value] = node.args;
        if (value === undefined) throw new Error('its arity was checked');
        return this.#membership(node, { node: value, ...this.#compile(value) }, { node: node.of, ...of });
      }
      default:
        throw this.#unknown(node.name, node.nameAt, `a method: ${methods.join(', ')}`, methods);
    }
  }

  #count(node: Node, of: Compiled): Compiled {
    const items = asList(of.run, node);
    return {
      type: int,
      size: of.size + 1,
      run: (evaluation) => items(evaluation)?.length,
    };
  }

  #arity(node: Of<'method'> | Of<'call'>, count: number, usage: string): void {
    if (node.args.length === count) return;
    throw new ExpressionError(this.#source, node.nameAt, usage, `it takes ${argumentsOf(count)}`);
  }

  #each(node: Of<'each'>): Compiled {
    const of = this.#compile(node.of);
    if (of.type.kind !== 'list' && of.type.kind !== 'dynamic') {
      throw this.#mismatch(node.of, `a list before .${node.name}(…)`, of.type);
    }
    const element = of.type.kind === 'list' ? of.type.of : dynamic;
    const slot = this.#variables.length;
    this.#variables.push({ name: node.variable, type: element });
    const body = this.#wanted(node.name === 'sum' ? int : bool, node.body);
    this.#variables.pop();
    const items = asList(of.run, node);
    const fitting = fits(element);
    const fold = isCaseless(element);
    const invalid = `not ${article(element)}`;
    /** What the body comes to for an element; undefined where it has a fault. */
    const visit = (evaluation: Evaluation, found: unknown): unknown => {
      if (!evaluation.step(body.size, node)) return undefined;
      if (found === undefined || !fitting(found)) return evaluation.fail('invalid', node, invalid);
      evaluation.variables[slot] = fold && typeof found === 'string' ? found.toLowerCase() : found;
      return body.run(evaluation);
    };
    const size = of.size + 1;
    const { name } = node;
    switch (name) {
      case 'all':
      case 'any': {
        const start = name === 'all';
        const run: Run = (evaluation) => {
          const elements = items(evaluation);
          if (elements === undefined) return undefined;
          let value = start;
          for (const found of elements) {
            const result = visit(evaluation, found);
            if (result === undefined) return undefined;
            if (result !== start) value = !start;
          }
          return value;
        };
        return { type: bool, size, run };
      }
      case 'filter': {
        const run: Run = (evaluation) => {
          const elements = items(evaluation);
          if (elements === undefined) return undefined;
          const kept: unknown[] = [];
          for (const found of elements) {
            const result = visit(evaluation, found);
            if (result === undefined) return undefined;
            if (result === true) kept.push(found);
          }
          return kept;
        };
        return { type: of.type, size, run };
      }
      case 'sum': {
        const run: Run = (evaluation) => {
          const elements = items(evaluation);
          if (elements === undefined) return undefined;
          let sum = 0n;
          for (const found of elements) {
            const result = visit(evaluation, found);
            if (!isWhole(result)) return undefined;
            sum += BigInt(result);
          }
          return exact(sum);
        };
        return { type: int, size, run };
      }
      default:
        return assertNever(name);
    }
  }

  #call(node: Of<'call'>): Compiled {
    const found = Object.hasOwn(functions, node.name) ? functions[node.name] : undefined;
    const here = Object.keys(functions).filter((name) => functions[name]?.places.includes(this.#place));
    if (found === undefined) {
      const hint = isIteration(node.name) ? `write list.${node.name}(x, …)` : undefined;
      throw this.#unknown(node.name, node.nameAt, `a function: ${here.join(', ')}`, here, '', hint);
    }
    if (!found.places.includes(this.#place)) {
      throw new ExpressionError(
        this.#source,
        node.nameAt,
        `a function of ${this.#place}: ${here.join(', ')}`,
        `${node.name} is known in ${found.places.join(' and ')}`,
      );
    }
    return found.compile(this, node);
  }

  timestamp(node: Of<'call'>): Compiled {
    const [argument] = this.#literals(node, 1);
    const at = argument === undefined ? undefined : parseTimestamp(argument.value);
    if (at !== undefined) return constant(timestamp, at);
    throw this.#argument(node, 0, "an RFC 3339 time at offset zero, as '2026-03-01T00:00:00Z'");
  }

  cronSpan(node: Of<'call'>): Compiled {
    const [cron, length, zone] = this.#literals(node, 3).map(({ value }) => value);
    const schedule = parseCron(cron ?? '');
    if (typeof schedule === 'string') throw this.#argument(node, 0, schedule);
    const duration = parseDuration(length ?? '');
    if (duration === undefined || duration > maxSpan) {
      throw this.#argument(node, 1, "a duration of at most 7 days in whole d, h and m, as '1d12h'");
    }
    const offset = timeZone(zone ?? '');
    if (offset === undefined) throw this.#argument(node, 2, "an IANA time zone, as 'America/New_York'");
    return { type: bool, size: 1, run: ({ now }) => inCronSpan(schedule, duration, offset, now) };
  }

  caseInsensitive(node: Of<'call'>): Compiled {
    this.#arity(node, 1, functions['CaseInsensitiveString']?.usage ?? '');
    const [argument] = node.args;
    if (argument === undefined) throw new Error('its arity was checked');
    return { ...folded(this.#wanted(text, argument), node), type: caseless };
  }

  /**
   * The total of a counter over the last while, this activity's amount included; see `Counters`.
   * @param amount What is added up; undefined where activities are counted.
   */
  rolling(node: Of<'call'>, amount: Node | undefined): Compiled {
    const usage = functions[node.name]?.usage ?? '';
    const [window, ...by] = node.name === 'RollingSum' ? node.args.slice(1) : node.args;
    if (this.#variables.length > 0) {
      throw new ExpressionError(this.#source, node, `${node.name} outside of .all, .any, .filter and .sum`);
    }
    const duration = window?.kind === 'text' ? parseDuration(window.value) : undefined;
    if (duration === undefined || duration > maxRolling) {
      throw new ExpressionError(
        this.#source,
        window ?? node.nameAt,
        "a duration of at most 366 days in whole d, h and m, as '24h'",
        `write ${usage}`,
      );
    }
    const added = amount === undefined ? constant(int, 1) : this.#wanted(int, amount);
    const measure = amount === undefined ? '' : print(amount);
    const parts = by.map((node) => ({ source: print(node), node, ...this.#wanted(text, node) }));
    const keys = parts.map(({ run }) => run);

    const reserve = (evaluation: Evaluation): Reservation | undefined => {
      const value = added.run(evaluation);
      const values = gather(keys, evaluation);
      if (!isWhole(value) || values === undefined) return undefined;
      if (value < 0) {
        evaluation.fail('invalid', node, 'an amount below 0');
        return undefined;
      }
      const pairs = values.map((key, index) => [parts[index]?.source, key]);
      return { measure, by: JSON.stringify(pairs), amount: BigInt(value) };
    };
    const run: Run = (evaluation) => {
      const own = reserve(evaluation);
      if (own === undefined) return undefined;
      const { counters, now } = evaluation;
      if (counters === undefined) return evaluation.fail('invalid', node, 'nothing is counted here');
      const counter: Counter = { measure: own.measure, by: own.by };
      return exact(counters.total(counter, now - duration) + own.amount);
    };
    this.#reservations.push(reserve);
    return { type: int, size: added.size + total(parts) + 1, run };
  }

  #literals(node: Of<'call'>, count: number): readonly Of<'text'>[] {
    this.#arity(node, count, functions[node.name]?.usage ?? '');
    return node.args.map((argument, index) => {
      if (argument.kind === 'text') return argument;
      throw this.#argument(node, index, "a string written out in '…'");
    });
  }

  #argument(node: Of<'call'>, index: number, expected: string): ExpressionError {
    return new ExpressionError(this.#source, node.args[index] ?? node, expected);
  }

  #not(node: Of<'not'>): Compiled {
    const of = this.#wanted(bool, node.of);
    return {
      type: bool,
      size: of.size + 1,
      run: (evaluation) => {
        const value = of.run(evaluation);
        return value === undefined ? undefined : value !== true;
      },
    };
  }

  #logic(node: Of<'logic'>): Compiled {
    const operands = node.operands.map((operand) => this.#wanted(bool, operand));
    const runs = operands.map(({ run }) => run);
    const start = node.operator === '&&';
    return {
      type: bool,
      size: total(operands),
      run: (evaluation) => {
        const { lenient } = evaluation;
        let value: boolean | undefined = start;
        let decided = false;
        for (const run of runs) {
          const operand = lenient ? evaluation.leniently(run) : run(evaluation);
          if (operand === undefined) value = undefined;
          else if (operand !== start) decided = true;
        }
        if (decided && (value !== undefined || lenient)) return !start;
        return value;
      },
    };
  }

  #compare(node: Of<'compare'>): Compiled {
    const left = { node: node.left, ...this.#compile(node.left) };
    const right = { node: node.right, ...this.#compile(node.right) };
    const { operator } = node;
    if (operator === 'in') return this.#membership(node, left, right);
    const size = left.size + right.size + 1;
    if (operator === '==' || operator === '!=') {
      const wanted = operator === '==';
      const same = this.#equality(node, left, right);
      return { type: bool, size, run: comparing(same.left, same.right, same.equal, wanted) };
    }
    const ordered = (type: Type): boolean => ['int', 'timestamp', 'dynamic'].includes(type.kind);
    if (!ordered(left.type)) throw this.#mismatch(left.node, `an int before "${operator}"`, left.type);
    if (join(left.type, right.type) === undefined || !ordered(right.type)) {
      throw this.#mismatch(right.node, `${article(left.type)} after "${operator}"`, right.type);
    }
    const order = orders[operator];
    if (left.type.kind !== 'dynamic' && right.type.kind !== 'dynamic') {
      // What has a type has been looked at.
      const run = both(left.run, right.run, (_, a, b) => order(a as Whole, b as Whole));
      return { type: bool, size, run };
    }
    const run = both(left.run, right.run, (evaluation, a, b) => {
      const x = typeof a === 'string' ? whole(a) : a;
      const y = typeof b === 'string' ? whole(b) : b;
      if (isWhole(x) && isWhole(y)) return order(x, y);
      return evaluation.fail('invalid', node, 'what is compared by size is not a number');
    });
    return { type: bool, size, run };
  }

  /** How two operands are compared: by what runs, and with what. */
  #equality(
    node: Node,
    left: Compiled & { readonly node: Node },
    right: Compiled & { readonly node: Node },
  ): { readonly left: Compiled; readonly right: Compiled; readonly equal: Equal } {
    const type = join(left.type, right.type);
    if (type === undefined || !isComparable(left.type)) {
      const wrong = isComparable(left.type) ? right : left;
      throw this.#mismatch(
        wrong.node,
        wrong === right ? `${article(left.type)} to compare with` : 'a bool, an int, a string or a timestamp',
        wrong.type,
      );
    }
    if (!isComparable(type)) throw this.#mismatch(right.node, article(left.type), right.type);
    const fold = isCaseless(type);
    return {
      left: fold ? folded(left, node) : left,
      right: fold ? folded(right, node) : right,
      equal:
        type.kind === 'dynamic' || left.type.kind === 'dynamic' || right.type.kind === 'dynamic'
          ? loosely(node)
          : type.kind === 'int'
            ? sameWhole
            : identical,
    };
  }

  /** `value in list` and `list.contains(value)`. */
  #membership(
    node: Node,
    value: Compiled & { readonly node: Node },
    holder: Compiled & { readonly node: Node },
  ): Compiled {
    const size = value.size + holder.size + 1;
    const { type } = holder;
    if (type.kind !== 'list' && type.kind !== 'dynamic') throw this.#mismatch(holder.node, 'a list', type);
    const of = type.kind === 'list' ? type.of : dynamic;
    if (of.kind === 'nothing') return { type: bool, size, run: both(value.run, holder.run, () => false) };
    const { left, equal } = this.#equality(
      node,
      value,
      // The elements of a caseless list are folded where they are taken out.
      { ...holder, type: of },
    );
    const known = literalTexts(holder.node, value.type, of);
    if (known !== undefined) {
      return { type: bool, size, run: both(left.run, holder.run, (_, found) => known.has(found)) };
    }
    const fold = isCaseless(join(value.type, of) ?? of);
    const run = both(left.run, asList(holder.run, node), (evaluation, wanted, items) => {
      if (!Array.isArray(items) || !evaluation.step(items.length, node)) return undefined;
      let within: boolean | undefined = false;
      for (const item of items) {
        const same = equal(evaluation, wanted, fold && typeof item === 'string' ? item.toLowerCase() : item);
        if (same === undefined) within = undefined;
        else if (within !== undefined && same) within = true;
      }
      return within;
    });
    return { type: bool, size, run };
  }

  #mismatch(node: Node, expected: string, type: Type): ExpressionError {
    return new ExpressionError(this.#source, node, expected, `it is ${article(type)}`);
  }

  #unknownName(name: string, at: Span): ExpressionError {
    const known = Object.keys(this.#known);
    const elsewhere = (Object.keys(keywords) as Place[]).filter(
      (place) =>
        Object.hasOwn(keywords[place], name) ||
        Object.keys(keywords[place]).some((keyword) => keyword.startsWith(`${name}.`)),
    );
    const names = [...known, ...this.#variables.map((variable) => variable.name)];
    const within = known.filter((keyword) => keyword.startsWith(`${name}.`));
    const hint =
      within.length > 0
        ? `write ${within.join(' or ')}`
        : elsewhere.length > 0
          ? `${name} is known in ${elsewhere.join(' and ')}`
          : undefined;
    return this.#unknown(name, at, `a keyword of ${this.#place}: ${names.join(', ')}`, names, '', hint);
  }

  #unknown(
    name: string,
    at: Span,
    expected: string,
    names: readonly string[],
    prefix = '',
    hint?: string,
  ): ExpressionError {
    const meant = suggest(`${prefix}${name}`, names);
    return new ExpressionError(
      this.#source,
      at,
      expected,
      hint ?? (meant === undefined ? undefined : `did you mean ${meant}?`),
    );
  }
}

const constant = (type: Type, value: unknown): Compiled => ({
  type,
  size: 1,
  run: () => value,
  fixed: { value },
});

const total = (parts: readonly Compiled[]): number => parts.reduce((sum, { size }) => sum + size, 1);

const isLiteral = (kind: Node['kind']): boolean => kind === 'bool' || kind === 'int' || kind === 'text';

const argumentsOf = (count: number): string =>
  count === 0 ? 'no arguments' : count === 1 ? 'one argument' : `${count} arguments`;

function literal(node: Node): unknown {
  if (node.kind === 'int') return exact(node.value);
  return node.kind === 'bool' || node.kind === 'text' ? node.value : undefined;
}

/** What is compared without regard to case is compared in lower case. */
function folded(compiled: Compiled, node: Node): Compiled {
  if (isCaseless(compiled.type)) return compiled;
  const { fixed, run } = compiled;
  if (typeof fixed?.value === 'string') return constant(caseless, fixed.value.toLowerCase());
  return { type: caseless, size: compiled.size, run: lowered(run, node) };
}

/** Most comparisons are of a fact with what is written out. */
function comparing(left: Compiled, right: Compiled, equal: Equal, wanted: boolean): Run {
  if (equal === identical && right.fixed !== undefined) {
    const { run } = left;
    const { value } = right.fixed;
    return (evaluation) => {
      const found = run(evaluation);
      return found === undefined ? undefined : (found === value) === wanted;
    };
  }
  return both(left.run, right.run, (evaluation, a, b) => {
    const same = equal(evaluation, a, b);
    return same === undefined ? undefined : same === wanted;
  });
}

/** The elements of a list of texts that is written out, for one look instead of many. */
function literalTexts(holder: Node, value: Type, of: Type): ReadonlySet<unknown> | undefined {
  if (holder.kind !== 'list' || value.kind !== 'text' || of.kind !== 'text') return undefined;
  const fold = isCaseless(value) || isCaseless(of);
  const texts = new Set<unknown>();
  for (const item of holder.items) {
    if (item.kind !== 'text') return undefined;
    texts.add(fold ? item.value.toLowerCase() : item.value);
  }
  return texts;
}

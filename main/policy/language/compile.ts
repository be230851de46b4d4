/**
 * Type-checks an expression and makes it a function, once. Evaluating it does no input or output, has no clock of its own,
 * takes a bounded number of steps and throws nothing. As in the real engine nothing is cut short: a fault in any part is a
 * fault of the whole.
 */
import { assertNever } from '../../lib/errors.ts';
import { comparison, membership, type Operand } from './comparison.ts';
import { checkArity, constant, folded, mismatch, total, type Compiled, type Of } from './compiled.ts';
import type { Evaluation, Run } from './evaluation.ts';
import { functions, type CallScope, type Reserve } from './functions.ts';
import { isIteration, parse } from './parser.ts';
import { keywords, type PolicyField } from './schema.ts';
import { suggest } from './suggest.ts';
import { ExpressionError, iterations, type Node, type Span } from './syntax.ts';
import {
  article,
  bool,
  dynamic,
  fits,
  foldOf,
  int,
  isCaseless,
  isWhole,
  join,
  list,
  lowerCase,
  nothing,
  partOf,
  text,
  Unknown,
  type Type,
} from './types.ts';
import { asList, both, checked, element, exact, folding, gather, part, unknown } from './values.ts';

/** Called with what a node came to, each time; undefined for a fault. */
export type Trace = (node: Node, value: unknown) => void;

/** Called with each text that is written out and compared, and what it is compared with. */
export type Comparing = (text: Of<'text'>, other: Type) => void;

export interface Program {
  readonly source: string;
  readonly run: Run;
  /** For each rolling function in it, what an allowed activity adds. */
  readonly reservations: readonly Reserve[];
}

/**
 * @param field The field of a policy that the expression stands in, which decides what it may speak of.
 * @returns a program whose value is a boolean.
 * @throws ExpressionError where it does not parse, or its types do not fit.
 */
export function compile(source: string, field: PolicyField, trace?: Trace, comparing?: Comparing): Program {
  const compiler = new Compiler(source, field, trace, comparing);
  return { source, ...compiler.whole(parse(source)) };
}

interface Variable {
  readonly name: string;
  readonly type: Type;
}

const methods: readonly string[] = [...iterations, 'contains', 'count'];

class Compiler {
  readonly #source: string;
  readonly #policyField: PolicyField;
  readonly #trace: Trace | undefined;
  readonly #comparing: Comparing | undefined;
  readonly #known: Readonly<Record<string, Type>>;
  readonly #variables: Variable[] = [];
  readonly #reservations: Reserve[] = [];
  readonly #calls: CallScope;

  constructor(
    source: string,
    field: PolicyField,
    trace: Trace | undefined,
    comparing: Comparing | undefined,
  ) {
    this.#source = source;
    this.#policyField = field;
    this.#trace = trace;
    this.#comparing = comparing;
    this.#known = keywords[field];
    this.#calls = {
      source,
      wanted: (type, node) => this.#wanted(type, node),
      isIterating: () => this.#variables.length > 0,
      reserves: (reserve) => this.#reservations.push(reserve),
    };
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
    if (compiled.type.kind !== 'dynamic') throw mismatch(this.#source, node, article(type), compiled.type);
    return { ...compiled, run: checked(compiled.run, type, node), type };
  }

  #operand(node: Node): Operand {
    return { node, ...this.#compile(node) };
  }

  #compare(node: Of<'compare'>): Compiled {
    const [left, right] = [this.#operand(node.left), this.#operand(node.right)];
    this.#noteTexts(left, right);
    return comparison(this.#source, node, left, right);
  }

  #noteTexts(left: Operand, right: Operand): void {
    for (const [{ node }, { type }] of [
      [left, right],
      [right, left],
    ] as const) {
      const texts = node.kind === 'list' ? node.items : [node];
      const other = type.kind === 'list' ? type.of : type;
      for (const each of texts) if (each.kind === 'text') this.#comparing?.(each, other);
    }
  }

  #list(node: Of<'list'>): Compiled {
    const items = node.items.map((item) => this.#compile(item));
    let of: Type = nothing;
    for (const [index, item] of items.entries()) {
      const joined = join(of, item.type);
      if (joined === undefined) {
        const wrong = node.items[index] ?? node;
        throw mismatch(this.#source, wrong, `${article(of)} like the elements before it`, item.type);
      }
      of = joined;
    }
    const fold = foldOf(of);
    const runs = items.map((item) => folded(item, of, node).run);
    const size = total(items);
    if (node.items.every(({ kind }) => isLiteral(kind))) {
      const values = node.items.map((item) => {
        const value = literal(item);
        return fold !== undefined && typeof value === 'string' ? fold(value) : value;
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
        if (value instanceof Unknown) return unknown(evaluation, node, value);
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
        throw mismatch(this.#source, node.of, 'something with fields', of.type);
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
      if (value instanceof Unknown) return unknown(evaluation, node, value);
      if (value === undefined) return evaluation.fail('missing', node, missing);
      return fitting(value) ? value : evaluation.fail('invalid', node, invalid);
    };
    return { type, size: of.size + 1, run: isCaseless(type) ? folding(run, lowerCase, node) : run };
  }

  #index(node: Of<'index'>): Compiled {
    const of = this.#compile(node.of);
    const key = this.#compile(node.index);
    const size = of.size + key.size + 1;
    switch (of.type.kind) {
      case 'list':
      case 'text': {
        this.#checkPosition(node.index, key);
        const type: Type = of.type.kind === 'list' ? of.type.of : partOf(of.type);
        const run = both(of.run, key.run, (evaluation, holder, at) => element(evaluation, node, holder, at));
        return { type, size, run: of.type.kind === 'list' ? checked(run, type, node) : run };
      }
      case 'map':
      case 'dynamic': {
        if (of.type.kind === 'map' && key.type.kind !== 'text' && key.type.kind !== 'dynamic') {
          throw mismatch(this.#source, node.index, "a string, as in ['name']", key.type);
        }
        if (!['text', 'int', 'dynamic'].includes(key.type.kind)) {
          throw mismatch(this.#source, node.index, "a string, as in ['name'], or an int", key.type);
        }
        const type = of.type.kind === 'map' ? of.type.of : dynamic;
        const run = both(of.run, key.run, (evaluation, holder, at) => element(evaluation, node, holder, at));
        return { type, size, run: checked(run, type, node) };
      }
      default:
        throw mismatch(this.#source, node.of, 'a list, a string or a map', of.type);
    }
  }

  #slice(node: Of<'slice'>): Compiled {
    const of = this.#compile(node.of);
    if (!['list', 'text', 'dynamic'].includes(of.type.kind)) {
      throw mismatch(this.#source, node.of, 'a list or a string', of.type);
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
    return { type: partOf(of.type), size: of.size + start.size + end.size + 1, run };
  }

  #checkPosition(node: Node, { type }: Compiled): void {
    if (type.kind !== 'int' && type.kind !== 'dynamic') throw mismatch(this.#source, node, 'an int', type);
    if (node.kind === 'int' && node.value < 0n) {
      throw new ExpressionError(this.#source, node, 'a position from 0');
    }
  }

  #method(node: Of<'method'>): Compiled {
    const of = this.#compile(node.of);
    if (of.type.kind !== 'list' && of.type.kind !== 'dynamic') {
      throw mismatch(this.#source, node.of, `a list before .${node.name}(…)`, of.type);
    }
    switch (node.name) {
      case 'count':
        checkArity(this.#source, node, 0, '.count()');
        return this.#count(node, of);
      case 'contains': {
        checkArity(this.#source, node, 1, '.contains(value)');
        const [value] = node.args;
        if (value === undefined) throw new Error('its arity was checked');
        const [wanted, holder] = [this.#operand(value), { node: node.of, ...of }];
        this.#noteTexts(wanted, holder);
        return membership(this.#source, node, wanted, holder);
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

  #each(node: Of<'each'>): Compiled {
    const of = this.#compile(node.of);
    if (of.type.kind !== 'list' && of.type.kind !== 'dynamic') {
      throw mismatch(this.#source, node.of, `a list before .${node.name}(…)`, of.type);
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
    const { name } = node;
    /** Evaluates the body for an element; undefined if it has a fault. */
    const visit = (evaluation: Evaluation, found: unknown): unknown => {
      if (!evaluation.step(body.size, node)) return undefined;
      if (found instanceof Unknown) return unknown(evaluation, node.of, found, 'an element of ');
      if (found === undefined || !fitting(found)) return evaluation.fail('invalid', node, invalid);
      evaluation.variables[slot] = fold && typeof found === 'string' ? found.toLowerCase() : found;
      const before = evaluation.missing;
      const value = evaluation.lenient
        ? evaluation.leniently(body.run, name === 'sum' ? 0 : false)
        : body.run(evaluation);
      evaluation.elementLacks ||= evaluation.missing > before;
      return value;
    };
    const size = of.size + 1;
    switch (name) {
      case 'all':
      case 'any': {
        const start = name === 'all';
        const run: Run = (evaluation) => {
          const elements = items(evaluation);
          if (elements === undefined) return undefined;
          let value: boolean | undefined = start;
          let decided = false;
          for (const found of elements) {
            const result = visit(evaluation, found);
            if (result === undefined) value = undefined;
            else if (result !== start) decided = true;
            if (evaluation.lenient ? evaluation.exhausted : value === undefined) break;
          }
          return joined(evaluation, start, value, decided);
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
    const here = Object.keys(functions).filter((name) => functions[name]?.fields.includes(this.#policyField));
    if (found === undefined) {
      const hint = isIteration(node.name) ? `write list.${node.name}(x, …)` : undefined;
      throw this.#unknown(node.name, node.nameAt, `a function: ${here.join(', ')}`, here, '', hint);
    }
    if (!found.fields.includes(this.#policyField)) {
      throw new ExpressionError(
        this.#source,
        node.nameAt,
        `a function of ${this.#policyField}: ${here.join(', ')}`,
        `${node.name} is known in ${found.fields.join(' and ')}`,
      );
    }
    return found.compile(this.#calls, node);
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
        let value: boolean | undefined = start;
        let decided = false;
        for (const run of runs) {
          const operand = evaluation.lenient ? evaluation.leniently(run) : run(evaluation);
          if (operand === undefined) value = undefined;
          else if (operand !== start) decided = true;
        }
        return joined(evaluation, start, value, decided);
      },
    };
  }

  #unknownName(name: string, at: Span): ExpressionError {
    const known = Object.keys(this.#known);
    const elsewhere = (Object.keys(keywords) as PolicyField[]).filter(
      (field) =>
        Object.hasOwn(keywords[field], name) ||
        Object.keys(keywords[field]).some((keyword) => keyword.startsWith(`${name}.`)),
    );
    const names = [...known, ...this.#variables.map((variable) => variable.name)];
    const within = known.filter((keyword) => keyword.startsWith(`${name}.`));
    const hint =
      within.length > 0
        ? `write ${within.join(' or ')}`
        : elsewhere.length > 0
          ? `${name} is known in ${elsewhere.join(' and ')}`
          : undefined;
    return this.#unknown(name, at, `a keyword of ${this.#policyField}: ${names.join(', ')}`, names, '', hint);
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

/**
 * The value of `&&` and `.all`, which start from true, or of `||` and `.any`, which start from false.
 * @param value `start`, or undefined if a part has a fault.
 * @param decided True if a part is the contrary of `start`. In a lenient evaluation, no fault changes that.
 */
function joined(
  { lenient }: Evaluation,
  start: boolean,
  value: boolean | undefined,
  decided: boolean,
): boolean | undefined {
  return decided && (lenient || value !== undefined) ? !start : value;
}

const isLiteral = (kind: Node['kind']): boolean => kind === 'bool' || kind === 'int' || kind === 'text';

function literal(node: Node): unknown {
  if (node.kind === 'int') return exact(node.value);
  return node.kind === 'bool' || node.kind === 'text' ? node.value : undefined;
}

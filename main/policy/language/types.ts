/** The types of the policy language, and of the facts that the engine gives for them. */
import { withoutVersion } from '../../lib/text/activity-types.ts';
import { writtenAddress, type AddressOf } from './addresses.ts';

interface Bool {
  readonly kind: 'bool';
}
interface Int {
  readonly kind: 'int';
}
/**
 * A caseless text is compared without regard to case, as the hexadecimal of an Ethereum transaction is; a versioned one
 * without regard to its version, `_V2` at its end, as the types of activities are; an address without regard to its spelling.
 * `absent` stands for a fact that is not there; without it, asking for one is an error.
 */
interface Text {
  readonly kind: 'text';
  readonly caseless: boolean;
  readonly versioned: boolean;
  readonly address: AddressOf | undefined;
  readonly absent?: string;
}
interface Timestamp {
  readonly kind: 'timestamp';
}
/**
 * A value whose type only the request decides: an argument of a contract call, a part of a typed message.
 * Checked when it is used.
 */
interface Dynamic {
  readonly kind: 'dynamic';
}
interface List<Of> {
  readonly kind: 'list';
  readonly of: Of;
}
interface MapOf<Of> {
  readonly kind: 'map';
  readonly of: Of;
}
interface Struct<Fields> {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: Fields;
}
/** The element of `[]`. */
interface Nothing {
  readonly kind: 'nothing';
}

export type Type =
  | Bool
  | Int
  | Text
  | Timestamp
  | Dynamic
  | List<Type>
  | MapOf<Type>
  | Struct<Readonly<Record<string, Type>>>
  | Nothing;

export const bool: Bool = { kind: 'bool' };
export const int: Int = { kind: 'int' };
export const text: Text = { kind: 'text', caseless: false, versioned: false, address: undefined };
export const caseless: Text = { ...text, caseless: true };
export const versioned: Text = { ...text, versioned: true };
/** Facts of Ethereum have their hex in lower case. */
export const address = (of: AddressOf): Text => ({ ...text, caseless: of === 'ethereum', address: of });
/** A text that is empty where there is none. */
export const optionalText: Text = { ...text, absent: '' };
export const timestamp: Timestamp = { kind: 'timestamp' };
export const dynamic: Dynamic = { kind: 'dynamic' };
export const nothing: Nothing = { kind: 'nothing' };

export const list = <T extends Type>(of: T): List<T> => ({ kind: 'list', of });
export const map = <T extends Type>(of: T): MapOf<T> => ({ kind: 'map', of });
export const struct = <Fields extends Readonly<Record<string, Type>>>(
  name: string,
  fields: Fields,
): Struct<Fields> => ({ kind: 'struct', name, fields });

/** Whole numbers of any size: a bigint, or a number where it is exact. */
export type Whole = number | bigint;

/**
 * A fact that exists and has no known value: the bytes are unreadable, or beyond a bound. It is neither
 * missing nor any value. So a policy that reads it does not allow, and does not let through what it may deny.
 */
export class Unknown {
  declare protected readonly brand: 'Unknown';
  /** Why, in a sentence without its end: `the call cannot be read: …`. */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * The JavaScript value that a fact of a type has. What it leaves out does not apply, and is missing to a policy. A field,
 * an element and a value of a map may each be `Unknown`, and so may the whole.
 */
export type Fact<T> = T extends Bool
  ? boolean
  : T extends Int
    ? Whole
    : T extends Text
      ? string
      : T extends List<infer Element>
        ? readonly (Fact<Element> | Unknown)[]
        : T extends MapOf<infer Element>
          ? Readonly<Record<string, Fact<Element> | Unknown>>
          : T extends Struct<infer Fields>
            ? { readonly [Name in keyof Fields]?: Fact<Fields[Name]> | Unknown | undefined }
            : unknown;

export function describe(type: Type): string {
  switch (type.kind) {
    case 'text':
      return 'string';
    case 'list':
      return `list<${describe(type.of)}>`;
    case 'map':
      return `map<string, ${describe(type.of)}>`;
    case 'struct':
      return type.name;
    case 'dynamic':
      return 'value of the request';
    default:
      return type.kind;
  }
}

/** True if a value may be used as its type, without a check of its contents. */
export function fits(type: Type): (value: unknown) => boolean {
  switch (type.kind) {
    case 'bool':
      return (value) => typeof value === 'boolean';
    case 'int':
      return isWhole;
    case 'text':
      return (value) => typeof value === 'string';
    case 'list':
      return Array.isArray;
    case 'map':
    case 'struct':
      return (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'timestamp':
      return (value) => typeof value === 'number';
    case 'dynamic':
    case 'nothing':
      return () => true;
  }
}

export const isWhole = (value: unknown): value is Whole =>
  typeof value === 'bigint' || Number.isSafeInteger(value);

export const isCaseless = (type: Type): boolean => type.kind === 'text' && type.caseless;

export const isVersioned = (type: Type): boolean => type.kind === 'text' && type.versioned;

export const isAddress = (type: Type): boolean => type.kind === 'text' && type.address !== undefined;

/** Of a part of a text: no part of an address is one. */
export const partOf = (type: Type): Type => (type.kind === 'text' ? { ...type, address: undefined } : type);

/** Makes of a text what it is compared as; undefined for a type that is compared as it is. */
export function foldOf(type: Type): ((text: string) => string) | undefined {
  if (type.kind !== 'text') return undefined;
  const folds = [
    ...(type.address === undefined ? [] : [writtenAddress]),
    ...(type.caseless ? [lowerCase] : []),
    ...(type.versioned ? [withoutVersion] : []),
  ];
  return folds.length === 0 ? undefined : (value) => folds.reduce((folded, fold) => fold(folded), value);
}

export const lowerCase = (value: string): string => value.toLowerCase();

export const isComparable = (type: Type): boolean =>
  ['bool', 'int', 'text', 'timestamp', 'dynamic'].includes(type.kind);

export const article = (type: Type): string => {
  const name = describe(type);
  return `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${name}`;
};

/** The type that both are, or undefined. */
export function join(a: Type, b: Type): Type | undefined {
  if (a.kind === 'nothing') return b;
  if (b.kind === 'nothing') return a;
  if (a.kind === 'text' && b.kind === 'text') {
    return {
      ...text,
      caseless: a.caseless || b.caseless,
      versioned: a.versioned || b.versioned,
      address: a.address ?? b.address,
    };
  }
  if (a.kind === 'list' && b.kind === 'list') {
    const of = join(a.of, b.of);
    return of === undefined ? undefined : list(of);
  }
  if (a.kind === 'dynamic' || b.kind === 'dynamic') {
    const other = a.kind === 'dynamic' ? b : a;
    return isComparable(other) ? (foldOf(other) ? other : dynamic) : undefined;
  }
  if (a.kind === 'struct' || b.kind === 'struct' || a.kind === 'map' || b.kind === 'map') return undefined;
  return a.kind === b.kind ? a : undefined;
}

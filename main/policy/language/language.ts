/** The policy language described, for who writes policies with a tool: what may stand where, and of which type it is. */
import { calledFunctions } from './functions.ts';
import { policyFields } from './check.ts';
import { keywords, type PolicyField } from './schema.ts';
import { describe, type Type } from './types.ts';

interface Named {
  readonly name: string;
  /** As errors call it: `string`, `list<User>`, `EthereumTransaction`. */
  readonly type: string;
}

export interface LanguageDescription {
  readonly places: readonly {
    readonly field: PolicyField;
    readonly keywords: readonly Named[];
    readonly functions: readonly { readonly name: string; readonly usage: string }[];
  }[];
  /** The structures that keywords and fields are of. */
  readonly types: readonly { readonly name: string; readonly fields: readonly Named[] }[];
  readonly methods: readonly { readonly name: string; readonly usage: string; readonly about: string }[];
}

const methods = [
  { name: 'all', usage: '.all(item, condition)', about: 'whether it holds for every item' },
  { name: 'any', usage: '.any(item, condition)', about: 'whether it holds for one item at least' },
  { name: 'contains', usage: '.contains(value)', about: 'whether the value is one of the items' },
  { name: 'count', usage: '.count()', about: 'how many items there are' },
  { name: 'filter', usage: '.filter(item, condition)', about: 'the items for which it holds' },
  { name: 'sum', usage: '.sum(item, number)', about: 'the sum over the items; Keyhearth’s own' },
];

export function describeLanguage(): LanguageDescription {
  const structs = new Map<string, readonly Named[]>();
  const named = (fields: Readonly<Record<string, Type>>): readonly Named[] =>
    Object.entries(fields).map(([name, type]) => {
      note(type);
      return { name, type: describe(type) };
    });
  const note = (type: Type): void => {
    if (type.kind === 'list' || type.kind === 'map') note(type.of);
    if (type.kind !== 'struct' || structs.has(type.name)) return;
    structs.set(type.name, []);
    structs.set(type.name, named(type.fields));
  };
  const described = policyFields.map((field) => ({
    field,
    keywords: named(keywords[field]),
    functions: calledFunctions
      .filter(({ fields: where }) => where.includes(field))
      .map(({ name, usage }) => ({ name, usage })),
  }));
  return {
    places: described,
    types: [...structs].map(([name, fields]) => ({ name, fields })),
    methods,
  };
}

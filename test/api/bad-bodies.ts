/**
 * Bad request bodies, built from the operations' own schemas: a valid body with one to three faults. The
 * faults are known from the construction, never from asking the schema afterwards.
 */
import fc from 'fast-check';
import { z } from 'zod';
import { requestLimits } from '../../main/lib/published-limits.ts';
import { operations } from '../../main/operations/index.ts';
import type { Json } from '../support/support.ts';

// ---- What is posted to -------------------------------------------------------------------------------------------

/** One accepted type of an activity, or a query. */
export interface Target {
  /** The path after `/public/v1/`. */
  readonly path: string;
  readonly name: string;
  /** Of an activity. */
  readonly type: string | undefined;
  /** Of the parameters: of an activity's `parameters`, of a query's whole body but its organization. */
  readonly params: z.ZodType;
  /** All types that the path accepts. */
  readonly types: readonly string[];
}

export const targets: readonly Target[] = [...operations.byPath].flatMap(([path, operation]): Target[] =>
  operation.kind === 'query'
    ? [{ path, name: path, type: undefined, params: operation.params, types: [] }]
    : operation.versions.map(({ type, params }) => ({
        path,
        name: `${path} ${type}`,
        type,
        params,
        types: operation.versions.map((version) => version.type),
      })),
);

const allTypes = targets.flatMap(({ type }) => type ?? []);

// ---- Schemas -----------------------------------------------------------------------------------------------------

/** The part of JSON Schema that is used. */
interface Schema {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  /** Texts that the schema takes, of those that are known here. */
  readonly examples?: readonly unknown[];
}

const uuid = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70';
const point = '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296';
const compressed = `03${point}`;
const uncompressed = `04${point}4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5`;

/** A text for every kind of field. A new kind of field that takes none of these needs one more. */
const samples: readonly string[] = [
  'Ann',
  uuid,
  '10',
  '123456',
  '3600',
  "m/44'/60'/0'/0/0",
  "m/44'/60'/0'/0/{i}",
  compressed,
  uncompressed,
  point,
  'ann@example.com',
  '+15551234567',
  'aGVsbG8',
  'https://example.com',
  'ACTIVITY_TYPE_CREATE_WALLET',
  JSON.stringify({ encappedPublic: uncompressed, ciphertext: 'ab'.repeat(40) }),
  'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIn0.aGVsbG8',
  `sha256:${'ab'.repeat(32)}`,
  'activity.type',
  'https://example.com/%s',
  'Your code is {{.OtpCode}}',
  '{}',
  '',
];

/** The schema as JSON Schema, with texts that it takes beside what it says of texts. */
function described(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema }) => {
      if (jsonSchema.type !== 'string') return;
      jsonSchema.examples = samples.filter((sample) => z.safeParse(zodSchema, sample).success).slice(0, 3);
    },
  }) as Schema;
}

/** The whole body of a request, as a schema. */
function bodySchema({ type, types, params }: Target, organizationId: string): Schema {
  const organization: Schema = { type: 'string', pattern: uuidPattern, examples: [organizationId] };
  const parameters = described(params);
  if (type === undefined) {
    return {
      type: 'object',
      properties: { organizationId: organization, ...parameters.properties },
      required: ['organizationId', ...(parameters.required ?? [])],
    };
  }
  return {
    type: 'object',
    properties: {
      type: { type: 'string', enum: types, examples: [type] },
      timestampMs: { type: 'string', pattern: '^[0-9]{1,15}$', examples: [String(Date.now())] },
      organizationId: organization,
      parameters,
    },
    required: ['type', 'timestampMs', 'organizationId', 'parameters'],
  };
}

const uuidPattern = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

const options = ({ anyOf, oneOf }: Schema): readonly Schema[] | undefined => anyOf ?? oneOf;

const jsonTypes = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;
type JsonType = (typeof jsonTypes)[number];

function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
}

/** The JSON types that a schema takes. */
function typesOf(schema: Schema): ReadonlySet<JsonType> {
  const alternatives = options(schema);
  if (alternatives) return new Set(alternatives.flatMap((option) => [...typesOf(option)]));
  if (schema.enum) return new Set(schema.enum.map(jsonTypeOf));
  if (schema.const !== undefined) return new Set([jsonTypeOf(schema.const)]);
  if (schema.type === 'integer') return new Set(['number']);
  return new Set(schema.type === undefined ? jsonTypes : [schema.type]);
}

/** True if the schema accepts this text. */
function takesText(schema: Schema, text: string): boolean {
  const alternatives = options(schema);
  if (alternatives) return alternatives.some((option) => takesText(option, text));
  if (schema.allOf && !schema.allOf.every((part) => takesText(part, text))) return false;
  if (schema.enum) return schema.enum.includes(text);
  if (schema.const !== undefined) return schema.const === text;
  if (!typesOf(schema).has('string')) return false;
  const { minLength = 0, maxLength = Infinity, pattern = '' } = schema;
  return text.length >= minLength && text.length <= maxLength && new RegExp(pattern, 'u').test(text);
}

function takesNumber(schema: Schema, number: number): boolean {
  const alternatives = options(schema);
  if (alternatives) return alternatives.some((option) => takesNumber(option, number));
  if (schema.enum) return schema.enum.includes(number);
  if (schema.const !== undefined) return schema.const === number;
  if (!typesOf(schema).has('number') || !Number.isFinite(number)) return false;
  if (schema.type === 'integer' && !Number.isSafeInteger(number)) return false;
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  return number >= minimum && number <= maximum && number > exclusiveMinimum && number < exclusiveMaximum;
}

/** The most characters that the schema takes; undefined where it does not say. */
function mostCharacters(schema: Schema): number | undefined {
  const texts = (options(schema) ?? [schema]).filter((option) => typesOf(option).has('string'));
  const lengths = texts.map(({ maxLength, const: only }) =>
    typeof only === 'string' ? only.length : maxLength,
  );
  return lengths.every((length) => length !== undefined) ? Math.max(...lengths) : undefined;
}

// ---- Bodies that fit ---------------------------------------------------------------------------------------------

/** Values of the form that a schema describes; what it checks beyond its description may still be against them. */
function formed(schema: Schema, at: string): fc.Arbitrary<unknown> {
  const alternatives = options(schema);
  if (alternatives) return fc.oneof(...alternatives.map((option) => formed(option, at)));
  if (schema.examples && schema.examples.length > 0) return fc.constantFrom(...schema.examples);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  switch (schema.type) {
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([key, value]) => [key, formed(value, `${at}.${key}`)]),
        ),
        { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true },
      );
    case 'array': {
      const { items = {}, minItems = 0, maxItems = Infinity } = schema;
      const maxLength = Math.max(minItems, Math.min(maxItems, 3));
      return fc.array(formed(items, `${at}[]`), { minLength: minItems, maxLength });
    }
    case 'number':
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 100 });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      throw new Error(`no sample fits ${at}, ${JSON.stringify(schema)}: add one to test/api/bad-bodies.ts`);
    default:
      return fc.constant('anything');
  }
}

/** Bodies that their schemas take, parameters and all. They name nothing that is there. */
export function goodBodies(target: Target, organizationId: string): readonly Json[] {
  const form = formed(bodySchema(target, organizationId), 'body') as fc.Arbitrary<Json>;
  const parametersOf = (body: Json): unknown => (target.type === undefined ? body : body['parameters']);
  const tried = fc.sample(form, { seed: 1, numRuns: 300 });
  // A field that only says it is a list may still have to be empty; two fields may exclude one another.
  const good = tried.filter((body) => z.safeParse(target.params, parametersOf(body)).success).slice(0, 40);
  if (good.length > 0) return good;
  const { error } = z.safeParse(target.params, parametersOf(tried[0] ?? {}));
  throw new Error(`cannot make a body that fits ${target.name}: ${String(error)}`);
}

// ---- JSON as it is written ---------------------------------------------------------------------------------------

/** JSON text in parts: members have an order and may come twice, and a part may be what no value is written as. */
type Tree =
  | { readonly text: string }
  | { readonly items: readonly Tree[] }
  | { readonly members: readonly Member[] };

type Member = readonly [key: string, value: Tree];

function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value) };
  return { members: Object.entries(value).map(([key, member]) => [key, treeOf(member)]) };
}

function textOf(tree: Tree): string {
  if ('text' in tree) return tree.text;
  if ('items' in tree) return `[${tree.items.map(textOf).join(',')}]`;
  return `{${tree.members.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(',')}}`;
}

type Path = readonly (string | number)[];

/** The tree with another part at a path; what is not there yet becomes a member. */
function replaced(tree: Tree, [key, ...rest]: Path, change: (part: Tree | undefined) => Tree): Tree {
  if (key === undefined) return change(tree);
  if ('items' in tree) {
    return { items: tree.items.map((item, index) => (index === key ? replaced(item, rest, change) : item)) };
  }
  const members = 'members' in tree ? tree.members : [];
  if (!members.some(([name]) => name === key)) {
    return { members: [...members, [String(key), change(undefined)]] };
  }
  return {
    members: members.map(([name, value]) => [name, name === key ? replaced(value, rest, change) : value]),
  };
}

// ---- What can be wrong -------------------------------------------------------------------------------------------

/** A place in a body where a value is, or may be. */
interface Site {
  readonly path: Path;
  readonly schema: Schema;
  readonly required: boolean;
  readonly value: unknown;
}

/** Every place that the schema describes. Of long lists the first two elements will do. */
function sitesOf(schema: Schema, value: unknown, path: Path, required: boolean): Site[] {
  const own: Site = { path, schema, required, value };
  const alternatives = options(schema) ?? [schema];
  if (Array.isArray(value)) {
    const list = alternatives.find(({ type }) => type === 'array');
    const elements = value.slice(0, 2).map((element, index) => ({ element: element as unknown, index }));
    return [
      own,
      ...elements.flatMap(({ element, index }) =>
        sitesOf(list?.items ?? {}, element, [...path, index], true),
      ),
    ];
  }
  if (typeof value !== 'object' || value === null) return [own];
  const forms = alternatives.filter(({ type }) => type === 'object');
  const [form] = forms;
  // With several forms, a fault in one may be valid in another.
  if (form === undefined || forms.length > 1) return [own];
  return [
    own,
    ...Object.entries(form.properties ?? {}).flatMap(([key, inner]) =>
      sitesOf(inner, (value as Json)[key], [...path, key], form.required?.includes(key) ?? false),
    ),
  ];
}

const isElement = ({ path }: Site): boolean => typeof path.at(-1) === 'number';
const isText = ({ schema }: Site): boolean => typesOf(schema).has('string');
const isName = ({ path, schema }: Site): boolean =>
  /(^n|N)ame$/.test(String(path.at(-1))) && schema.type === 'string' && schema.enum === undefined;
/** True if only certain texts are valid. */
const isChoice = ({ schema }: Site): boolean =>
  (options(schema) ?? [schema]).every(({ enum: values, const: only }) => (values ?? only) !== undefined);

const json = (value: unknown): Tree => ({ text: JSON.stringify(value) });

/** For what is long: it is written where it is used. */
const written = (write: () => string): Tree => ({
  get text() {
    return write();
  },
});

/** Texts that are too much for many a field: of numbers, of paths, of things that are something else elsewhere. */
const hostileTexts = [
  ...[
    '',
    ' ',
    '-1',
    '-0',
    '1.5',
    'NaN',
    'Infinity',
    '1e3',
    '0x10',
    '٣٣',
    '１２',
    '99999999999999999999',
    '0',
  ],
  ...['null', 'undefined', 'true', '{}', '[]', '../../etc/passwd', "' OR 1=1 --", '%00', '${7*7}'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'],
  ...[`${uuid} `, `${uuid}\n`, `{${uuid}}`, uuid.replaceAll('-', ''), uuid.replace('8', 'g'), `${uuid}\0`],
  ...[compressed.slice(1), `${compressed}00`, `0x${compressed}`, `05${point}`, `${uncompressed}\n`],
  ...['\0', '\n', '\ud800', '\udfff\ud800', '\u202e', '\u2028', '\ufeff', '\u001b[2J', '\u009b2J', '🔑'],
];

/** Characters that a name must not have: invisible ones, and those that change the direction of text. */
const unprintables = [
  '\0',
  '\n',
  '\r',
  '\t',
  '\u007f',
  '\u009b',
  '\ud800',
  '\udc00',
  '\u202e',
  '\u2066',
  '\ufeff',
];

const nested = (depth: number, [open, close]: readonly [string, string]): Tree =>
  written(() => `${open.repeat(depth)}0${close.repeat(depth)}`);

/** Objects that answer to what a library asks of a text, a list or a promise: with what cannot even be compared. */
const posing: readonly unknown[] = [
  { length: 1 },
  { length: { toString: 1 } },
  { length: [{ toString: 1 }] },
  { size: { valueOf: 1, toString: 1 } },
  { toString: 1 },
  { toJSON: 1, then: 1, constructor: 1 },
  { constructor: { prototype: { length: 1 } } },
];

/** Values of a wrong type for the position. */
const ofWrongType = ({ schema }: Site): Tree[] =>
  [7, -1, 0, true, false, 'text', '', [], [[]], [{}], {}, { a: 1 }, ...posing]
    .filter((value) => !typesOf(schema).has(jsonTypeOf(value)))
    .map(json);

/**
 * The kinds of things wrong with one place: what may stand there instead, and is bad. Rules of the whole API that no
 * schema has to say are here too: a text has at most 20,000 characters where nothing else is said, a list 1,000 elements,
 * and names are printable.
 */
const replacements: Readonly<Record<string, (site: Site) => readonly Tree[]>> = {
  'a wrong type': ofWrongType,

  'a null that is not nothing': (site) => {
    const types = typesOf(site.schema);
    const emptyList = types.has('array') && (site.schema.minItems ?? 0) === 0 && !isElement(site);
    return (site.required || isElement(site)) && !types.has('null') && !emptyList ? [json(null)] : [];
  },

  'a value as text, or a text as a value': ({ schema, value }) =>
    [
      JSON.stringify(value ?? 1),
      Number(typeof value === 'string' ? value : 1),
      [value ?? 1],
      { value },
      'true',
    ]
      .filter((other) => !typesOf(schema).has(jsonTypeOf(other)) && !Number.isNaN(other))
      .map(json),

  'an unknown choice': (site) => {
    if (!isText(site) || !isChoice(site)) return [];
    const known = typeof site.value === 'string' ? site.value : 'X';
    return [
      '',
      ' ',
      'UNKNOWN',
      known.toLowerCase(),
      `${known} `,
      `${known}\0`,
      `${known},${known}`,
      `${known}_V9`,
      `${known}\u2028`,
      `\u009b${known}`,
    ]
      .concat('__proto__', 'constructor', 'toString', 'hasOwnProperty')
      .filter((text) => !takesText(site.schema, text))
      .map(json);
  },

  'a type of another operation': ({ path, schema }) =>
    path.join('.') === 'type' ? allTypes.filter((type) => !takesText(schema, type)).map(json) : [],

  'too many characters': (site) =>
    isText(site) && !isChoice(site)
      ? ['x', 'a', '0', '😀', ' '].map((fill) =>
          written(() => JSON.stringify(fill.repeat((mostCharacters(site.schema) ?? 20_000) + 1))),
        )
      : [],

  'too many elements': ({ schema, value }) => {
    if (!typesOf(schema).has('array')) return [];
    const first: unknown = Array.isArray(value) ? value[0] : undefined;
    const item = treeOf(first ?? schema.items?.examples?.[0] ?? schema.items?.enum?.[0] ?? {});
    return [{ items: new Array<Tree>((schema.maxItems ?? 1000) + 1).fill(item) }];
  },

  'too little': ({ schema }) => [
    ...((schema.minItems ?? 0) > 0 ? [json([])] : []),
    ...((schema.minLength ?? 0) > 0 ? [json('')] : []),
  ],

  'a text of another form': (site) =>
    isText(site) && !isChoice(site)
      ? hostileTexts.filter((text) => !takesText(site.schema, text)).map(json)
      : [],

  'an unprintable name': (site) =>
    isName(site)
      ? [
          ...unprintables.flatMap((character) => [`Ann${character}`, `${character}Ann`, `A${character}n`]),
          ...[' Ann', 'Ann ', '\u00a0Ann', 'Ann\u3000', ' '],
        ].map(json)
      : [],

  'a number out of range': ({ schema }) =>
    typesOf(schema).has('number')
      ? [
          '-1',
          '0',
          '1.5',
          '-0.5',
          '1e308',
          '-1e308',
          '1e999',
          '-1e999',
          '9007199254740993',
          '2147483648',
          '13',
        ]
          .filter((number) => !takesNumber(schema, Number(number)))
          .map((text) => ({ text }))
      : [],

  nesting: ({ schema }) => {
    const types = typesOf(schema);
    if (types.has('array') && types.has('object')) return [];
    const brackets = types.has('array') ? (['{"a":', '}'] as const) : (['[', ']'] as const);
    return [1, 3, 60, 200, 10_000].map((depth) => nested(depth, brackets));
  },

  'an elusive time': ({ path }) =>
    path.join('.') === 'timestampMs'
      ? [0, 1, Date.now() - 3_600_001, Date.now() + 3_600_000, 999_999_999_999_999].map((time) =>
          json(String(time)),
        )
      : [],

  'an organization that is not there': ({ path }) =>
    path.join('.') === 'organizationId' ? [json(uuid), json('00000000-0000-0000-0000-000000000000')] : [],
};

/** Something wrong with one place of a body. */
interface Fault {
  readonly kind: string;
  readonly site: Site;
  readonly apply: (tree: Tree) => Tree;
}

/** The members of an object, changed. */
const withMembers =
  (change: (members: readonly Member[]) => readonly Member[]) =>
  (part: Tree | undefined): Tree => ({ members: change(part && 'members' in part ? part.members : []) });

/** Everything that can be wrong with a place. */
function faultsAt(site: Site): Fault[] {
  const { path, schema, required, value } = site;
  if (path.length === 0) return [];
  const parent = path.slice(0, -1);
  const key = String(path.at(-1));
  const inParent = (kind: string, change: (members: readonly Member[]) => readonly Member[]): Fault => ({
    kind,
    site,
    apply: (tree) => replaced(tree, parent, withMembers(change)),
  });
  const without = (members: readonly Member[]): Member[] => members.filter(([name]) => name !== key);
  const missing = isElement(site) || !required ? [] : [inParent('a missing field', without)];
  const inherited =
    isElement(site) || !required
      ? []
      : ['__proto__', 'constructor', 'prototype'].map((from) =>
          inParent('a field only inherited', (members) => [
            ...without(members),
            [from, { members: [[key, treeOf(value)]] }],
          ]),
        );
  const twice =
    isElement(site) || value === undefined
      ? []
      : ofWrongType({ ...site, schema }).map((bad) =>
          inParent('a field twice, the last one bad', (members) => [...members, [key, bad]]),
        );
  const replacing = Object.entries(replacements).flatMap(([kind, make]) =>
    make(site).map((bad): Fault => ({ kind, site, apply: (tree) => replaced(tree, path, () => bad) })),
  );
  return [...missing, ...inherited, ...twice, ...replacing];
}

/** Faults of the whole body: bytes that are not a JSON object. */
const wholeFaults: Readonly<Record<string, (text: string) => readonly (string | Buffer)[]>> = {
  'a body cut short': (text) =>
    [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => text.slice(0, Math.floor((text.length - 1) * share))),
  'a body that is not UTF-8': (text) =>
    ['ff', 'c080', 'eda080', 'f5808080', 'fe'].flatMap((hex) => {
      const bad = Buffer.from(hex, 'hex');
      const bytes = Buffer.from(text);
      return [2, Math.floor(bytes.length / 2), bytes.length - 2, bytes.length].map((at) =>
        Buffer.concat([bytes.subarray(0, at), bad, bytes.subarray(at)]),
      );
    }),
  'a body that is no object': (text) => [
    ...['', ' ', 'null', 'true', '7', '-', '""', '[]', '[{}]', 'undefined', 'NaN', 'x'],
    ...[`[${text}]`, JSON.stringify(text), `${text}${text}`, `${text}\n${text}`, `"${text}"`],
  ],
  'a body of too many values': (text) =>
    ['[', '{"a":', '0,', '"",', '[],'].map((value) => {
      const more = value.repeat(requestLimits.values);
      return text.replace('{', `{"more":${value.endsWith(',') ? `[${more}0],` : more}`);
    }),
  'a body that is almost JSON': (text) => [
    ...[
      `${text},`,
      `${text}}`,
      `{${text}`,
      `\ufeff${text}`,
      `/**/${text}`,
      `${text}//`,
      `${text}\0`,
      `\0${text}`,
    ],
    ...[text.replaceAll('"', "'"), text.replace('"', '"\n'), text.replace(':', '=')],
    ...[text.replace(/}$/, ',}'), text.replace('{', '{,'), text.replace(/"(\w+)"/, '$1')],
    ...[
      text.replace('{', '{"a":0x1,'),
      text.replace('{', '{"a":01,'),
      text.replace('{', '{"a":\'\','),
      text.replace('{', '{"a":NaN,'),
    ],
    Buffer.from(text, 'utf16le'),
  ],
};

export const faultKinds: readonly string[] = [
  'a missing field',
  'a field only inherited',
  'a field twice, the last one bad',
  ...Object.keys(replacements),
  ...Object.keys(wholeFaults),
];

// ---- Bad bodies --------------------------------------------------------------------------------------------------

/** A body that must be refused. */
export class BadBody {
  readonly bytes: Buffer;
  readonly kinds: readonly string[];
  /** The refusal must name one of these. */
  readonly names: readonly string[];

  constructor(body: string | Buffer, kinds: readonly string[], names: readonly string[]) {
    this.bytes = Buffer.from(body);
    this.kinds = kinds;
    this.names = names;
  }

  [fc.toStringMethod](): string {
    const shown = this.bytes.toString('latin1');
    const excerpt =
      shown.length <= 2000 ? shown : `${shown.slice(0, 2000)}... (${String(shown.length)} bytes)`;
    return `${this.kinds.join(' and ')} at ${this.names.join(', ')}: ${excerpt}`;
  }
}

const nameOf = (path: Path): string =>
  path.reduce<string>(
    (name, key) =>
      typeof key === 'number' ? `${name}[${String(key)}]` : name === '' ? key : `${name}.${key}`,
    '',
  );

/** Faults that may be refused before the position itself is checked. */
const refusedBefore: Readonly<Record<string, readonly string[]>> = {
  'an organization that is not there': ['could not find public key in organization'],
  // A vote is about an activity, and is late or early for one that is there.
  'an elusive time': ['No activity found with fingerprint'],
};

const overlap = (a: Path, b: Path): boolean =>
  Array.from({ length: Math.min(a.length, b.length) }, (_, index) => a[index] === b[index]).every(Boolean);

// Plain numbers of the whole range: fast-check would rather give the small ones.
const pick = fc.noBias(fc.nat());
const among = <T>(values: readonly T[], index: number): T | undefined => values[index % values.length];

/** Bodies with one to three things wrong, of every kind alike. */
export function badBody(target: Target, organizationId: string): fc.Arbitrary<BadBody> {
  const schema = bodySchema(target, organizationId);
  const good = goodBodies(target, organizationId).map((body) => ({ body, tree: treeOf(body) }));
  const known = new Map<Json, readonly Fault[]>();
  const faultsOf = (body: Json): readonly Fault[] => {
    const faults = known.get(body) ?? sitesOf(schema, body, [], true).flatMap(faultsAt);
    known.set(body, faults);
    return faults;
  };
  const choices = fc.array(fc.tuple(pick, pick), { minLength: 1, maxLength: 3 });
  return fc.tuple(fc.constantFrom(...good), choices).map(([{ body, tree }, chosen]) => {
    const faults = faultsOf(body);
    const kinds = [...new Set(faults.map(({ kind }) => kind))];
    const applied: Fault[] = [];
    for (const [index, [which, form]] of chosen.entries()) {
      const kind = among(index === 0 ? [...kinds, ...Object.keys(wholeFaults)] : kinds, which) ?? '';
      const spoil = wholeFaults[kind];
      if (spoil) return new BadBody(among(spoil(textOf(tree)), form) ?? '', [kind], ['request body']);
      const candidates = faults.filter((fault) => fault.kind === kind);
      // A place first, then what to do there: places are many or few as the schema has it, forms as the kind has.
      const places = [...new Set(candidates.map(({ site }) => site))];
      const place = among(places, form);
      const fault = among(
        candidates.filter(({ site }) => site === place),
        Math.floor(form / Math.max(places.length, 1)),
      );
      if (fault && !applied.some(({ site }) => overlap(site.path, fault.site.path))) applied.push(fault);
    }
    const spoiled = applied.reduce((text, fault) => fault.apply(text), tree);
    return new BadBody(
      textOf(spoiled),
      applied.map(({ kind }) => kind),
      applied.flatMap(({ kind, site }) => [nameOf(site.path), ...(refusedBefore[kind] ?? [])]),
    );
  });
}

// ---- Hostile bodies ----------------------------------------------------------------------------------------------

/** The names of all fields that a body may have, at any depth. */
export function fieldNames(target: Target): readonly string[] {
  const names = (schema: Schema): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [name, ...names(inner)]),
    ...[schema.items, ...(options(schema) ?? []), ...(schema.allOf ?? [])].flatMap((inner) =>
      inner === undefined ? [] : names(inner),
    ),
  ];
  return names(bodySchema(target, uuid));
}

/** Every place of a body, with each of the objects that pose as something else in it. */
export function posingBodies(target: Target, organizationId: string): readonly Buffer[] {
  const schema = bodySchema(target, organizationId);
  return goodBodies(target, organizationId)
    .slice(0, 5)
    .flatMap((body) =>
      sitesOf(schema, body, [], true).flatMap(({ path }) =>
        posing.map((value) => Buffer.from(textOf(replaced(treeOf(body), path, () => json(value))))),
      ),
    );
}

/** Bodies of the right form whose texts are as strange as their fields allow, which may or may not be good ones. */
export function hostileBody(target: Target, organizationId: string): fc.Arbitrary<string> {
  const schema = bodySchema(target, organizationId);
  const text = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: 'binary', maxLength: 60 }));
  const changes = fc.array(fc.tuple(pick, text), { minLength: 1, maxLength: 4 });
  return fc.tuple(fc.constantFrom(...goodBodies(target, organizationId)), changes).map(([body, chosen]) => {
    const sites = sitesOf(schema, body, [], true).filter(
      (site) =>
        isText(site) && !isChoice(site) && !['timestampMs', 'organizationId'].includes(nameOf(site.path)),
    );
    const changed = chosen.reduce((tree, [which, strange]) => {
      const site = among(sites, which);
      if (site === undefined || !takesText(site.schema, strange)) return tree;
      return replaced(tree, site.path, () => json(strange));
    }, treeOf(body));
    return textOf(changed);
  });
}

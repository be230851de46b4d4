/**
 * Finding things by what people have of them: a name, an id, an address, a key, or the beginning of one.
 *
 * Of what there may be few (`operations/shared/limits.ts`) every name is looked at, wherever the text stands in it. Accounts,
 * sub-organizations and activities are many: of those an index finds what begins with the text.
 */
import type { Reader, Value } from './connection.ts';

export type FoundKind =
  | 'WALLET'
  | 'WALLET_ACCOUNT'
  | 'PRIVATE_KEY'
  | 'SECRET'
  | 'USER'
  | 'API_KEY'
  | 'POLICY'
  | 'USER_TAG'
  | 'PRIVATE_KEY_TAG'
  | 'KNOWN_ADDRESS'
  | 'SUB_ORGANIZATION'
  | 'ACTIVITY';

export interface Found {
  readonly kind: FoundKind;
  readonly id: string;
  /** The name; the address of an account without a name, the type of an activity. */
  readonly name: string;
  /**
   * Distinguishes it from others of its name: an address, a curve, an email address. Null if nothing does.
   */
  readonly detail: string | null;
  /** The wallet of an account, the user of an API key; null for what stands alone. */
  readonly within: string | null;
}

type Row = Omit<Found, 'kind'>;

/** A condition with `?` for its values. */
type Condition = readonly [sql: string, ...values: Value[]];

/** The largest code point: what begins with a text lies between it and the text with this after it. */
const last = '\u{10FFFF}';

/** The fewest characters that ids, addresses and keys are looked for by: with fewer, any would be found. */
const shortestBeginning = 3;
/** With fewer digits, a number or a word would be looked for as an address too. */
const fewestHex = 6;

/** At most `limit` of each kind; of one kind, names that begin with the text are first. */
export function search(tx: Reader, organizationId: string, text: string, limit: number): Found[] {
  const like = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const contains = (column: string): Condition => [`${column} LIKE ? ESCAPE '\\'`, like];
  // Ids, keys and fingerprints are kept in lowercase.
  const low = text.toLowerCase();
  const begins = (column: string): Condition => [`${column} >= ? AND ${column} < ?`, low, low + last];
  const beginsInAnyCase = (column: string, beginning = text): Condition => [
    `${column} COLLATE NOCASE >= ? AND ${column} COLLATE NOCASE < ?`,
    beginning,
    beginning + last,
  ];
  /** Hex is copied with its 0x and without it. */
  const otherHex = text.length >= fewestHex && /^(?:0x)?[0-9a-f]+$/i.test(text);
  const otherText = /^0x/i.test(text) ? text.slice(2) : `0x${text}`;
  const long = text.length >= shortestBeginning;

  /** Looks at every row of a table that has few in an organization. */
  const among = (
    kind: FoundKind,
    table: string,
    { detail = 'NULL', within = 'NULL', only = 'TRUE' }: { detail?: string; within?: string; only?: string },
    ...others: readonly Condition[]
  ): Found[] => {
    const conditions = [contains('name'), ...(long ? [begins('id'), ...others] : [])];
    const rows = tx.all<Row>(
      `SELECT id, name, ${detail} AS detail, ${within} AS within FROM ${table}
       WHERE organization_id = ? AND ${only} AND (${conditions.map(([sql]) => `(${sql})`).join(' OR ')})
       ORDER BY instr(lower(name), lower(?)) = 1 DESC, name COLLATE NOCASE LIMIT ?`,
      organizationId,
      ...conditions.flatMap(([, ...values]) => values),
      text,
      limit,
    );
    return rows.map((row) => ({ kind, ...row }));
  };

  /** Asks an index for each condition, so that none makes the others look at every row. */
  const byIndex = (kind: FoundKind, select: string, conditions: readonly Condition[]): Found[] => {
    const found = new Map<string, Found>();
    for (const [sql, ...values] of conditions) {
      for (const row of tx.all<Row>(`${select} WHERE ${sql} LIMIT ?`, ...values, limit)) {
        found.set(row.id, { kind, ...row });
      }
    }
    return [...found.values()].slice(0, limit);
  };
  const inside = (column: string, [sql, ...values]: Condition): Condition => [
    `${column} = ? AND ${sql}`,
    organizationId,
    ...values,
  ];
  // The index of an organization's rows would be taken for ids, and all of them looked at: the plus keeps it out.
  const byId = (column: string): Condition => inside(`+${column}`, begins('id'));

  return [
    ...among('WALLET', 'wallets', {}),
    ...byIndex(
      'WALLET_ACCOUNT',
      'SELECT id, coalesce(name, address) AS name, address AS detail, wallet_id AS within FROM wallet_accounts',
      long
        ? [
            inside('name IS NOT NULL AND organization_id', beginsInAnyCase('name')),
            inside('organization_id', beginsInAnyCase('address')),
            ...(otherHex ? [inside('organization_id', beginsInAnyCase('address', otherText))] : []),
            inside('organization_id', begins('public_key')),
            byId('organization_id'),
          ]
        : [],
    ),
    ...among(
      'PRIVATE_KEY',
      'private_keys',
      { detail: 'curve' },
      begins('public_key'),
      ...[text, ...(otherHex ? [otherText] : [])].map((beginning): Condition => {
        const [sql, ...values] = beginsInAnyCase('a.address', beginning);
        return [
          `EXISTS (SELECT 1 FROM private_key_addresses AS a WHERE a.private_key_id = private_keys.id AND ${sql})`,
          ...values,
        ];
      }),
    ),
    ...among('SECRET', 'secrets', { only: 'name IS NOT NULL' }),
    ...among('USER', 'users', { detail: 'email' }, contains('email'), contains('phone_number')),
    ...among('API_KEY', 'api_keys', { detail: 'public_key', within: 'user_id' }, begins('public_key')),
    ...among('POLICY', 'policies', { detail: 'effect' }),
    ...among('USER_TAG', 'tags', { only: `type = 'TAG_TYPE_USER'` }),
    ...among('PRIVATE_KEY_TAG', 'tags', { only: `type = 'TAG_TYPE_PRIVATE_KEY'` }),
    ...among(
      'KNOWN_ADDRESS',
      'known_addresses',
      { detail: 'address' },
      ...[text, ...(otherHex ? [otherText] : [])].map((beginning) => beginsInAnyCase('address', beginning)),
    ),
    ...byIndex('SUB_ORGANIZATION', 'SELECT id, name, NULL AS detail, NULL AS within FROM organizations', [
      inside('parent_id', beginsInAnyCase('name')),
      ...(long ? [byId('parent_id')] : []),
    ]),
    // One that went on in revisions is found once.
    ...byIndex(
      'ACTIVITY',
      'SELECT id, type AS name, status AS detail, NULL AS within FROM activities',
      !long
        ? []
        : low.startsWith('sha256:')
          ? [inside('revision = 1 AND organization_id', begins('fingerprint'))]
          : [inside('revision = 1 AND +organization_id', begins('id'))],
    ),
  ];
}

import type { Value, Writer } from './connection.ts';

/** The type of a column's values. It exists for the types alone: SQLite knows its own. */
class Column<Held extends Value> {
  declare readonly value: Held;

  get orNull(): Column<Held | null> {
    return new Column();
  }

  /** The same, where only some values are meant. */
  of<Some extends Held>(): Column<Some> {
    return new Column();
  }
}

export const text = new Column<string>();
/** Also for numbers that are not integers. */
export const number = new Column<number>();
export const blob = new Column<Uint8Array>();

type Columns = Readonly<Record<string, { readonly value: Value }>>;

/** A table as its rows are written and read whole. What is asked of it otherwise is SQL, beside it. */
export interface Table<Row> {
  /** For SELECT: every column under the name of its member. */
  readonly columns: string;
  readonly insert: (tx: Writer, row: Row) => void;
}

type RowWith<Given extends Columns> = { readonly [Member in keyof Given]: Given[Member]['value'] };

/** A row of a table, as one reads and writes it. */
export type RowOf<Of> = Of extends Table<infer Row> ? Row : never;

const columnOf = (member: string): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** @param columns By the members of a row: a column has its member's name, in snake case. */
export function table<Given extends Columns>(name: string, columns: Given): Table<RowWith<Given>> {
  const members = Object.keys(columns);
  const names = members.map(columnOf);
  const insertion = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  return {
    columns: members
      .map((member, at) => (names[at] === member ? member : `${names[at] ?? ''} AS ${member}`))
      .join(', '),
    insert: (tx, row) => {
      tx.run(insertion, ...members.map((member) => row[member] as Value));
    },
  };
}

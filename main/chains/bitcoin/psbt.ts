/**
 * Partially signed transactions (BIP-174, BIP-370, BIP-371): maps of fields, one for the whole and one for each input and
 * output. A field may not stand twice, have another form than the standard gives it, or be of another version. Nothing may
 * follow the end.
 */
import { joinBytes } from '../../crypto/bytes.ts';
import { toHex } from '../../crypto/encodings.ts';
import { Cursor, unreadable } from '../reading.ts';
import { readEach, readSize, readSized, readUnsigned, sized, type WireTransaction } from './wire.ts';

/** A field's value by its whole key in hex: its type, and more where there may be several of a type. */
export type Fields = ReadonlyMap<string, Uint8Array>;

interface Frame {
  readonly global: Fields;
  readonly inputs: readonly Fields[];
  readonly outputs: readonly Fields[];
}

export type Psbt =
  | (Frame & { readonly version: 0; readonly unsigned: WireTransaction })
  | (Frame & { readonly version: 2 });

/** The keys of the fields that are read or written here. */
export const globals = {
  unsigned: '00',
  transactionVersion: '02',
  fallbackLockTime: '03',
  inputCount: '04',
  outputCount: '05',
  modifiable: '06',
  version: 'fb',
} as const;

export const inputFields = {
  previous: '00',
  spent: '01',
  signature: '02',
  sighashType: '03',
  redeemScript: '04',
  witnessScript: '05',
  finalScript: '07',
  finalWitness: '08',
  txId: '0e',
  vout: '0f',
  sequence: '10',
  lockTime: '11',
  lockHeight: '12',
  taprootSignature: '13',
  taprootKey: '17',
  taprootScripts: '18',
} as const;

export const outputFields = { value: '03', script: '04' } as const;

/** The form that the standards give a field. */
interface Shape {
  /** The lengths that the key may have after its type. */
  readonly key: readonly number[];
  /** The lengths that the value may have; any where this is left out. */
  readonly value?: readonly number[];
  readonly version?: 0 | 2;
}

const alone = [0];
const publicKey = [33, 65];
const xOnly = [32];
const schnorr = [64, 65];

/** By type. Fields of other types belong to other programs, and stay as they are. */
type Shapes = Readonly<Record<number, Shape>>;

const globalShapes: Shapes = {
  0x00: { key: alone, version: 0 },
  0x01: { key: [78] },
  0x02: { key: alone, value: [4], version: 2 },
  0x03: { key: alone, value: [4], version: 2 },
  0x04: { key: alone, version: 2 },
  0x05: { key: alone, version: 2 },
  0x06: { key: alone, value: [1], version: 2 },
  0xfb: { key: alone, value: [4] },
};

const inputShapes: Shapes = {
  0x00: { key: alone },
  0x01: { key: alone },
  0x02: { key: publicKey },
  0x03: { key: alone, value: [4] },
  0x04: { key: alone },
  0x05: { key: alone },
  0x06: { key: publicKey },
  0x07: { key: alone },
  0x08: { key: alone },
  0x09: { key: alone },
  0x0a: { key: [20] },
  0x0b: { key: [32] },
  0x0c: { key: [20] },
  0x0d: { key: [32] },
  0x0e: { key: alone, value: [32], version: 2 },
  0x0f: { key: alone, value: [4], version: 2 },
  0x10: { key: alone, value: [4], version: 2 },
  0x11: { key: alone, value: [4], version: 2 },
  0x12: { key: alone, value: [4], version: 2 },
  0x13: { key: alone, value: schnorr },
  0x14: { key: [64], value: schnorr },
  0x16: { key: xOnly },
  0x17: { key: alone, value: xOnly },
  0x18: { key: alone, value: [32] },
};

const outputShapes: Shapes = {
  0x00: { key: alone },
  0x01: { key: alone },
  0x02: { key: publicKey },
  0x03: { key: alone, value: [8], version: 2 },
  0x04: { key: alone, version: 2 },
  0x05: { key: alone, value: xOnly },
  0x06: { key: alone },
  0x07: { key: xOnly },
};

const magic = '70736274ff';

/** Throws Unreadable for bytes that are not a PSBT of version 0 or 2. */
export function readPsbt(bytes: Uint8Array): Psbt {
  const cursor = new Cursor(bytes, 'the PSBT');
  if (toHex(cursor.take(Math.min(5, cursor.left))) !== magic) unreadable('it does not begin like a PSBT');
  const global = readFields(cursor, 'the PSBT');
  const version = versionOf(global);
  const maps = (count: number, what: string): Fields[] =>
    readEach(count, () => readFields(cursor, `an ${what} of the PSBT`));
  const framed = (inputCount: number, outputCount: number): Frame => {
    const inputs = maps(inputCount, 'input');
    const outputs = maps(outputCount, 'output');
    cursor.end();
    checkShapes(global, globalShapes, version);
    for (const fields of inputs) checkShapes(fields, inputShapes, version);
    for (const fields of outputs) checkShapes(fields, outputShapes, version);
    return { global, inputs, outputs };
  };
  if (version === 0) {
    const unsigned = readUnsigned(required(global, globals.unsigned, 'unsigned transaction'));
    return { ...framed(unsigned.inputs.length, unsigned.outputs.length), version, unsigned };
  }
  const count = (key: string, what: string): number => readField(global, key, what, readSize);
  return {
    ...framed(count(globals.inputCount, 'count of inputs'), count(globals.outputCount, 'count of outputs')),
    version,
  };
}

/** Writes fields in the order in which they were read, and new ones last. */
export const psbtBytes = ({ global, inputs, outputs }: Frame): Uint8Array =>
  joinBytes([
    Buffer.from(magic, 'hex'),
    ...[global, ...inputs, ...outputs].flatMap((fields) => [
      ...Array.from(fields).flatMap(([key, value]) => [sized(Buffer.from(key, 'hex')), sized(value)]),
      Uint8Array.of(0),
    ]),
  ]);

/** Reads a field's value from its beginning to its end. */
export function readField<T>(fields: Fields, key: string, what: string, read: (cursor: Cursor) => T): T {
  const cursor = new Cursor(required(fields, key, what), `the ${what}`);
  const value = read(cursor);
  cursor.end();
  return value;
}

const required = (fields: Fields, key: string, what: string): Uint8Array =>
  fields.get(key) ?? unreadable(`the PSBT has no ${what}`);

function versionOf(global: Fields): 0 | 2 {
  const bytes = global.get(globals.version);
  const version = bytes === undefined ? '00000000' : toHex(bytes);
  if (version === '00000000') return 0;
  return version === '02000000' ? 2 : unreadable('expected a PSBT of version 0 or 2, got another version');
}

function readFields(cursor: Cursor, what: string): Fields {
  const fields = new Map<string, Uint8Array>();
  for (;;) {
    const key = readSized(cursor);
    if (key.length === 0) return fields;
    const name = toHex(key);
    if (fields.has(name)) unreadable(`${what} has the field ${name} twice`);
    fields.set(name, readSized(cursor));
  }
}

function checkShapes(fields: Fields, shapes: Shapes, version: 0 | 2): void {
  for (const [name, value] of fields) {
    const cursor = new Cursor(Buffer.from(name, 'hex'), 'a key of the PSBT');
    const shape = shapes[readSize(cursor)];
    if (shape === undefined) continue;
    if (!shape.key.includes(cursor.left) || shape.value?.includes(value.length) === false) {
      unreadable(`the field ${name} of the PSBT has another form than the standard gives it`);
    }
    if (shape.version !== undefined && shape.version !== version) {
      unreadable(`the field ${name} is not of a PSBT of version ${String(version)}`);
    }
  }
}

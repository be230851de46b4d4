/** Tron's transactions: `raw_data` in Protocol Buffers, as its nodes write it, to one model. */
import { concatBytes } from '../../crypto/bytes.ts';
import type { Signature } from '../../crypto/keys/curves.ts';
import { sha256 } from '../../crypto/hashes.ts';
import { attempt, unreadable, type Read } from '../reading.ts';
import { contractTypeOf, contractTypes, type KnownContract } from './contracts.ts';
import { bytesField, fieldNumbers, readProtobuf, type MessageOf, type Schema } from './protobuf.ts';

/** Of `Transaction.raw` in java-tron, without `auths` and `scripts`, which nodes pass over. */
const rawSchema = {
  ref_block_bytes: [1, 'bytes'],
  ref_block_num: [3, 'whole'],
  ref_block_hash: [4, 'bytes'],
  expiration: [8, 'time'],
  data: [10, 'name'],
  contract: [
    11,
    {
      type: [1, 'whole32'],
      parameter: [2, { type_url: [1, 'text'], value: [2, 'bytes'] }],
      Permission_id: [5, 'whole32'],
    },
    'many',
  ],
  timestamp: [14, 'time'],
  fee_limit: [18, 'sun'],
} as const satisfies Schema;

const contractField = 11;

export interface TronTransaction {
  /** By Tron's own names. */
  readonly raw: Omit<MessageOf<typeof rawSchema>, 'contract'>;
  readonly contracts: readonly TronContract[];
}

export interface TronContract {
  /** `TransferContract` and others, as Tron calls them. */
  readonly type: string;
  readonly permissionId: bigint;
  /** The type that the contract’s parameter names. */
  readonly typeUrl: string;
  /** The bytes that the chain reads by the type. */
  readonly value: Uint8Array;
  /** Or why it cannot be read. */
  readonly known: Read<KnownContract>;
}

export interface ReadTron {
  readonly bytes: Uint8Array;
  /** Or why it cannot be read to its last byte, though nodes may take it. */
  readonly transaction: Read<TronTransaction>;
}

/**
 * @param bytes `raw_data`, which nodes show as `raw_data_hex`.
 * @returns a problem where the bytes hold no contract at all.
 */
export function readTron(bytes: Uint8Array): Read<ReadTron> {
  if (bytes.length === 0) {
    return { ok: false, problem: 'expected the raw_data of a Tron transaction, got no bytes' };
  }
  const fields = fieldNumbers(bytes, 'raw_data');
  if (!fields.ok) return fields;
  if (!fields.value.includes(contractField)) {
    return {
      ok: false,
      problem:
        'expected raw_data with a contract, got none: a whole transaction is not taken, only its raw_data',
    };
  }
  const read = readProtobuf(rawSchema, bytes, 'raw_data');
  return {
    ok: true,
    value: { bytes, transaction: read.ok ? attempt(() => transactionOf(read.value)) : read },
  };
}

function transactionOf({ contract, ...raw }: MessageOf<typeof rawSchema>): TronTransaction {
  return {
    raw,
    contracts: contract.map(({ type: number, parameter, Permission_id: permissionId }) => {
      const type =
        contractTypeOf(Number(number)) ??
        unreadable(`expected a contract of a type that Tron has, got number ${String(number)}`);
      const typeUrl = parameter?.type_url ?? '';
      const value = new Uint8Array(Buffer.from(parameter?.value ?? '', 'hex'));
      // Nodes look at what comes after the last slash.
      const known: Read<KnownContract> | undefined =
        typeUrl === `type.googleapis.com/protocol.${type}`
          ? contractTypes[type]?.read(value, type)
          : {
              ok: false,
              problem: `the contract is a ${type}, and its parameter says that it is of another type`,
            };
      return {
        type,
        permissionId,
        typeUrl,
        value,
        known: known ?? { ok: false, problem: `contracts of the type ${type} are not read here` },
      };
    }),
  };
}

/** Hashes the bytes: the hash is signed, and is the transaction’s id. */
export const digestOf = ({ bytes }: ReadTron): Uint8Array => sha256(bytes);

/** @returns the transaction with its signature, in Protocol Buffers, as nodes take it in. */
export const signedTron = ({ bytes }: ReadTron, { r, s, v }: Signature): Uint8Array =>
  concatBytes(
    bytesField(1, bytes),
    // Tron's tools write the recovery id as Bitcoin's do, from 27.
    bytesField(2, Buffer.concat([Buffer.from(r + s, 'hex'), Buffer.of(27 + Number.parseInt(v, 16))])),
  );

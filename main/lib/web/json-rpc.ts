/** Errors of JSON-RPC 2.0, as EIP-1193 and EIP-1474 number them, and JSON that keeps whole numbers whole. */
import { ExplainedError } from '../errors.ts';

export const rpcCodes = {
  parse: -32700,
  request: -32600,
  params: -32602,
  internal: -32603,
  /** The same request again may be answered. */
  notYet: -32002,
  limit: -32005,
  rejected: 4001,
  unauthorized: 4100,
  unsupported: 4200,
  disconnected: 4901,
} as const;

export class RpcError extends ExplainedError {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Writes whole numbers that a double would round to the last digit, as `parseJson` reads them. */
export const writeJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? (JSON as unknown as RawJson).rawJSON(String(member)) : member,
  );

interface RawJson {
  readonly rawJSON: (text: string) => unknown;
}

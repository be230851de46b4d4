/** A call that was refused: its message is for a person. */
export class RpcError extends Error {
  declare protected readonly brand: 'RpcError';
  override readonly name = 'RpcError';
}

/** @returns the message of an error, or a thrown value of another type as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A call that was refused: its message is for a person. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
}

/** @returns the message of something that was thrown; the thing as text where it is no error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A call that was refused: its message is for a person. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
}

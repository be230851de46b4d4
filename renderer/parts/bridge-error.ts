/** A call that was refused: its message is for a person. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError';
}

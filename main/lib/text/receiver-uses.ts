/** Earlier signatures for addresses, as the window and the command ask for them: a question at a time, back to the log's beginning. */

interface Found<Use> {
  readonly receiverUses: readonly Use[];
  /** `before` of the next question. */
  readonly next?: number | undefined;
}

export interface ReceiverUses<Use> {
  /** The newest, by address. */
  readonly uses: ReadonlyMap<string, Use>;
  /** False where the log is longer than what was read of it. */
  readonly isWhole: boolean;
}

/** Each question reads the log as far as a few milliseconds go. */
const mostQuestions = 50;

/** @param ask Makes one query `list_receiver_uses`. */
export async function findReceiverUses<Use extends { readonly address: string }>(
  addresses: readonly string[],
  ask: (question: { readonly addresses: string[]; readonly before?: number }) => Promise<Found<Use>>,
): Promise<ReceiverUses<Use>> {
  const uses = new Map<string, Use>();
  let before: number | undefined;
  for (let asked = 0; asked < mostQuestions; asked += 1) {
    const left = addresses.filter((address) => !uses.has(address));
    const answer = await ask({ addresses: left, ...(before !== undefined && { before }) });
    for (const use of answer.receiverUses) uses.set(use.address, use);
    before = answer.next;
    if (before === undefined || uses.size === addresses.length) return { uses, isWhole: true };
  }
  return { uses, isWhole: false };
}

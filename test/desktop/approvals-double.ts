/** Waiting activities, as a test sets them. */
import type { Approvals, WaitingActivity } from '../../main/desktop/approvals.ts';

/** The payload that each of them signs. */
const payload = {
  payload: '42',
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
};

const signing = (id: string): WaitingActivity => ({
  id,
  requester: 'Ben',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  intent: { signRawPayloadIntentV2: { ...payload, signWith: 'key' } },
});

export class ApprovalsDouble implements Approvals {
  waiting: Approvals['waiting'] = { activities: [], areMore: false };
  readonly #changed = new Set<() => void>();
  readonly #begun = new Set<(activities: readonly WaitingActivity[]) => void>();

  onChange(listener: () => void): () => void {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }

  onNew(listener: (activities: readonly WaitingActivity[]) => void): () => void {
    this.#begun.add(listener);
    return () => this.#begun.delete(listener);
  }

  /** These wait from now on, and no others. */
  set(...ids: readonly string[]): void {
    const news = ids.filter((id) => this.waiting.activities.every((activity) => activity.id !== id));
    this.waiting = { activities: ids.map(signing), areMore: false };
    for (const listener of this.#changed) listener();
    if (news.length > 0) for (const listener of this.#begun) listener(news.map(signing));
  }

  get listeners(): number {
    return this.#changed.size + this.#begun.size;
  }

  [Symbol.dispose](): void {
    this.#changed.clear();
    this.#begun.clear();
  }
}

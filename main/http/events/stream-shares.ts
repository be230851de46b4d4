/** Streams stay open, so their number is shared out: no caller, and no organization, holds them all. */
import { KeyhearthError } from '../../lib/errors.ts';

/** Streams that may be open at once: of all, of all sub-organizations, of an organization, of a user. */
export const mostStreams = { ofAll: 100, ofSubOrganizations: 80, ofOrganization: 20, ofUser: 5 } as const;

export interface StreamHolder {
  readonly organizationId: string;
  readonly userId: string;
  /** True for a sub-organization. Sub-organizations leave some streams to the vault's own organization. */
  readonly isBelow: boolean;
}

export class StreamShares {
  readonly #open = new Map<string, number>();

  /**
   * Counts a stream in.
   * @returns what counts it out, once.
   * @throws KeyhearthError RESOURCE_EXHAUSTED naming the share that is used up.
   */
  open({ organizationId, userId, isBelow }: StreamHolder): () => void {
    const shares = [
      { key: `user ${organizationId} ${userId}`, most: mostStreams.ofUser, whose: 'you have' },
      {
        key: `organization ${organizationId}`,
        most: mostStreams.ofOrganization,
        whose: 'your organization has',
      },
      ...(isBelow
        ? [{ key: 'below', most: mostStreams.ofSubOrganizations, whose: 'the sub-organizations have' }]
        : []),
      { key: 'all', most: mostStreams.ofAll, whose: 'this vault has' },
    ];
    const full = shares.find(({ key, most }) => this.#count(key) >= most);
    if (full !== undefined) {
      throw new KeyhearthError(
        'RESOURCE_EXHAUSTED',
        `too many streams: ${full.whose} ${String(full.most)} open, the most there may be; close one first`,
      );
    }
    for (const { key } of shares) this.#add(key, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const { key } of shares) this.#add(key, -1);
    };
  }

  #count(key: string): number {
    return this.#open.get(key) ?? 0;
  }

  #add(key: string, by: number): void {
    const count = this.#count(key) + by;
    if (count === 0) this.#open.delete(key);
    else this.#open.set(key, count);
  }
}

/** Limits on streams and waiting requests, which stay open: no caller and no organization holds them all. */

/** The user and organization whose shares an open stream or request counts in. */
export interface ShareHolder {
  readonly organizationId: string;
  readonly userId: string;
  /** True for a sub-organization: together they leave some to the vault's own organization. */
  readonly isBelow: boolean;
}

/** How much may be open at once: of all, of all sub-organizations, of an organization, of a user. */
export interface ShareLimits {
  readonly ofAll: number;
  readonly ofSubOrganizations: number;
  readonly ofOrganization: number;
  readonly ofUser: number;
}

/** A share that has no room for more: who has it, as in `you have`, and how much there may be. */
export interface FullShare {
  readonly whose: string;
  readonly most: number;
}

export class Shares {
  readonly #limits: ShareLimits;
  readonly #open = new Map<string, number>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /**
   * Counts something in.
   * @param weight How much of the shares it takes.
   * @returns what counts it out, once; or the share that is full.
   */
  open({ organizationId, userId, isBelow }: ShareHolder, weight = 1): (() => void) | FullShare {
    const { ofAll, ofSubOrganizations, ofOrganization, ofUser } = this.#limits;
    const shares = [
      { key: `user ${organizationId} ${userId}`, most: ofUser, whose: 'you have' },
      { key: `organization ${organizationId}`, most: ofOrganization, whose: 'your organization has' },
      ...(isBelow ? [{ key: 'below', most: ofSubOrganizations, whose: 'the sub-organizations have' }] : []),
      { key: 'all', most: ofAll, whose: 'this vault has' },
    ];
    const full = shares.find(({ key, most }) => this.#count(key) + weight > most);
    if (full !== undefined) return full;
    for (const { key } of shares) this.#add(key, weight);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const { key } of shares) this.#add(key, -weight);
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

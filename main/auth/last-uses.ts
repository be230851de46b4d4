/**
 * When each credential last proved a request. It is known in memory at once, and written now and then, many together: a
 * write with each request would cost more than most of what they ask for.
 */
import type { Reader } from '../storage/connection.ts';
import { listCredentialUses, noteCredentialUse } from '../storage/tables/credential-uses.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import type { Caller } from '../lib/caller.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { every } from '../lib/concurrency/every.ts';

interface Use {
  readonly organizationId: string;
  /** Milliseconds. */
  readonly usedAt: number;
}

export interface LastUsesParts {
  readonly units: UnitOfWork;
  readonly keys: { readonly unlocked: boolean };
  readonly onFault: (error: unknown) => void;
}

export class LastUses {
  readonly #parts: LastUsesParts;
  /** Uses that are not written yet, by credential. */
  readonly #waiting = new Map<string, Use>();
  /** Ends the writing, and forgets what waits. */
  readonly stop: () => void;

  constructor(parts: LastUsesParts, everyMs = 10_000) {
    this.#parts = parts;
    this.stop = every(everyMs, () => this.#tryToWrite(), parts.onFault);
  }

  /** @param now Milliseconds. */
  note({ organizationId, credentialId }: Caller, now: number): void {
    if (credentialId !== undefined) this.#waiting.set(credentialId, { organizationId, usedAt: now });
  }

  /** @returns milliseconds, by the credential's id; what was never used is not in it. */
  of(tx: Reader, organizationId: string): ReadonlyMap<string, number> {
    const written = listCredentialUses(tx, organizationId);
    const uses = new Map(written.map(({ credentialId, usedAt }) => [credentialId, usedAt]));
    for (const [credentialId, use] of this.#waiting) {
      if (use.organizationId === organizationId) uses.set(credentialId, use.usedAt);
    }
    return uses;
  }

  /** Writes what waits. A locked vault answers queries too, which are written once it is open. */
  async #write(): Promise<void> {
    if (this.#waiting.size === 0 || !this.#parts.keys.unlocked) return;
    const uses = [...this.#waiting];
    await this.#parts.units.write((tx) => {
      for (const [credentialId, use] of uses) noteCredentialUse(tx, { credentialId, ...use });
    });
    for (const [credentialId, use] of uses) {
      if (this.#waiting.get(credentialId) === use) this.#waiting.delete(credentialId);
    }
  }

  /** Ends the writing; what waits is written first, where it can be. */
  async close(): Promise<void> {
    this.stop();
    await this.#tryToWrite();
  }

  async #tryToWrite(): Promise<void> {
    try {
      await this.#write();
    } catch (error) {
      // A file that is refused is reported elsewhere.
      if (!(error instanceof KeyhearthError)) this.#parts.onFault(error);
    }
  }
}

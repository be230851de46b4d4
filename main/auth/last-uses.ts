/**
 * When each credential last proved a request, or each key last signed. It is known in memory at once, and written now and then,
 * many together: a write with each request would cost more than most of what they ask for.
 */
import type { Reader, Writer } from '../storage/connection.ts';
import { listCredentialUses, noteCredentialUse } from '../storage/tables/credential-uses.ts';
import { listKeyUses, noteKeyUse } from '../storage/tables/key-uses.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { every } from '../lib/concurrency/every.ts';

export interface Use {
  readonly organizationId: string;
  /** Milliseconds. */
  readonly usedAt: number;
}

/** The table that keeps the uses. */
export interface UseTable {
  readonly list: (tx: Reader, organizationId: string) => readonly (readonly [id: string, usedAt: number])[];
  readonly note: (tx: Writer, id: string, use: Use) => void;
}

export const credentialUses: UseTable = {
  list: (tx, organizationId) =>
    listCredentialUses(tx, organizationId).map(({ credentialId, usedAt }) => [credentialId, usedAt]),
  note: (tx, credentialId, use) => {
    noteCredentialUse(tx, { credentialId, ...use });
  },
};

export const keyUses: UseTable = {
  list: (tx, organizationId) => listKeyUses(tx, organizationId).map(({ keyId, usedAt }) => [keyId, usedAt]),
  note: (tx, keyId, use) => {
    noteKeyUse(tx, { keyId, ...use });
  },
};

export interface LastUsesParts {
  readonly table: UseTable;
  readonly units: UnitOfWork;
  readonly keys: { readonly unlocked: boolean };
  readonly onFault: (error: unknown) => void;
}

export class LastUses {
  readonly #parts: LastUsesParts;
  /** Uses that are not written yet, by the id of what was used. */
  readonly #waiting = new Map<string, Use>();
  /** Ends the writing, and forgets what waits. */
  readonly stop: () => void;

  constructor(parts: LastUsesParts, everyMs = 10_000) {
    this.#parts = parts;
    this.stop = every(everyMs, () => this.#tryToWrite(), parts.onFault);
  }

  note(id: string, use: Use): void {
    this.#waiting.set(id, use);
  }

  /** @returns milliseconds, by id; what was never used is not in it. */
  of(tx: Reader, organizationId: string): ReadonlyMap<string, number> {
    const uses = new Map(this.#parts.table.list(tx, organizationId));
    for (const [id, use] of this.#waiting) {
      if (use.organizationId === organizationId) uses.set(id, use.usedAt);
    }
    return uses;
  }

  /** Writes what waits. A locked vault answers queries too, which are written once it is open. */
  async #write(): Promise<void> {
    if (this.#waiting.size === 0 || !this.#parts.keys.unlocked) return;
    const uses = [...this.#waiting];
    await this.#parts.units.write((tx) => {
      for (const [id, use] of uses) this.#parts.table.note(tx, id, use);
    });
    for (const [id, use] of uses) {
      if (this.#waiting.get(id) === use) this.#waiting.delete(id);
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

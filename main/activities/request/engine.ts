/** What activities and queries are executed with. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import type { VerifyIdToken } from '../../lib/web/id-tokens.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import type { Random } from '../../lib/random.ts';
import type { Keys } from '../../crypto/sealing.ts';
import type { Operations } from '../define.ts';
import type { Rejections } from './reject-waiting.ts';

/** Made once, by the vault. */
export interface Engine {
  /** By path, `submit/create_wallet`. */
  readonly operations: Operations;
  readonly units: UnitOfWork;
  readonly keys: Keys;
  readonly random: Random;
  readonly clock: Clock;
  /** The relying party that passkeys are made for: a host name. */
  readonly rpId: string;
  readonly verifyIdToken: VerifyIdToken;
  /** Whether the contacts that the real API has for tests are honoured: in `keyhearth dev` alone. */
  readonly sandbox: boolean;
  /** Puts a message into the outbox. @throws KeyhearthError FAILED_PRECONDITION where nothing could send it. */
  readonly post: (tx: Writer, organizationId: string, message: OutgoingMessage) => void;
  /** When the credentials of an organization last proved a request: milliseconds, by their ids. */
  readonly lastUses: (tx: Reader, organizationId: string) => ReadonlyMap<string, number>;
  /** Called in the transaction, after each row that is appended to the log. @param by Whose request made it; null for none's. */
  readonly onAppended: (tx: Writer, row: ActivityRow, by: Caller | null) => void;
  /** What a freeze rejects, before its row says so. */
  readonly rejections: Rejections;
}

/** Who a request proves to be from. */
export interface Claim {
  /**
   * Who made it, as of a transaction: asked again in the one that writes, since a key may have gone in between.
   * @throws KeyhearthError when the key is nobody's, or no longer.
   */
  readonly identify: (tx: Reader) => Caller;
  /**
   * Notes that the proof was used, where it may not be used for something else again.
   * @throws KeyhearthError as `identify`.
   */
  readonly spend?: (tx: Writer) => void;
}

export interface SubmitRequest extends Claim {
  /** The bytes that were signed. */
  readonly raw: Uint8Array;
  /** The same, parsed. */
  readonly body: unknown;
  /** Called with the milliseconds that its part of a transaction took. */
  readonly meter: (ms: number) => void;
}

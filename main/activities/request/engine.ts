/** The dependencies of activities and queries. */
import type { ActivityRow } from '../../storage/tables/activities.ts';
import type { Reader, Writer } from '../../storage/connection.ts';
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import type { Caller } from '../../lib/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import type { VerifyIdToken } from '../../lib/web/id-tokens.ts';
import type { AskPreview } from '../../lib/web/previews.ts';
import type { OutgoingMessage } from '../../lib/messages.ts';
import type { Random } from '../../lib/random.ts';
import type { Keys } from '../../crypto/sealing.ts';
import type { Operations } from '../define.ts';
import type { SigningCounts } from '../answer/signing-counts.ts';
import type { Rejections } from './reject-waiting.ts';

/** Made once, by the vault. */
export interface Engine {
  /** By path, `submit/create_wallet`. */
  readonly operations: Operations;
  readonly units: UnitOfWork;
  readonly keys: Keys;
  readonly random: Random;
  readonly clock: Clock;
  /** The relying party of passkeys: a host name. */
  readonly rpId: string;
  readonly verifyIdToken: VerifyIdToken;
  readonly preview: AskPreview;
  /** True if the real API's test contacts work: in `keyhearth dev` alone. */
  readonly sandbox: boolean;
  /** Puts a message into the outbox. @throws KeyhearthError FAILED_PRECONDITION where nothing could send it. */
  readonly post: (tx: Writer, organizationId: string, message: OutgoingMessage) => void;
  /** When the credentials of an organization last proved a request: milliseconds, by their ids. */
  readonly lastUses: (tx: Reader, organizationId: string) => ReadonlyMap<string, number>;
  /** When the wallets and private keys of an organization last signed: milliseconds, by their ids. */
  readonly keyUses: (tx: Reader, organizationId: string) => ReadonlyMap<string, number>;
  /** Called for each use of a wallet or private key. The transaction may still be undone. */
  readonly onKeyUse: (
    keyId: string,
    use: { readonly organizationId: string; readonly usedAt: number },
  ) => void;
  readonly signingCounts: SigningCounts;
  /** Called in the transaction, after each row that is appended to the log. @param by Whose request made it; null for none's. */
  readonly onAppended: (tx: Writer, row: ActivityRow, by: Caller | null) => void;
  /** Waits until what waits for votes is known, or the vault is locked: soon after an unlock. */
  readonly logFollowed: () => Promise<void>;
  /** Activities that a freeze rejects, before their rows say so. */
  readonly rejections: Rejections;
}

/** The sender that a request proves. */
export interface Claim {
  /**
   * Identifies the caller in a transaction. The transaction that writes identifies the caller again, since
   * the key may have been deleted in between.
   * @throws KeyhearthError if the key belongs to no user, or does no longer.
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

/** The activity that a request made or voted on. */
export interface Submitted {
  readonly row: ActivityRow;
  /** True where the log had this body with a stamp of its user already: every reader of the log could send both again. */
  readonly isRepeat: boolean;
}

/**
 * The type of an operation. An operation is one exported value: its names on the wire, its schema, and a handler that
 * sees neither HTTP nor the connection nor another operation.
 */
import { z } from 'zod';
import type { Place } from '../crypto/sealing.ts';
import type { ActivityRow } from '../db/activities.ts';
import type { Reader, Writer } from '../db/connection.ts';
import type { Caller } from '../lib/caller.ts';
import type { VerifyIdToken } from '../lib/id-tokens.ts';
import type { Message } from '../lib/messages.ts';
import type { Paced } from '../lib/paced.ts';
import type { Random } from '../lib/random.ts';
import type { Facts } from '../policy/facts.ts';
import type { Case } from '../policy/replay.ts';
import type { ConditionFacts } from '../policy/schema.ts';
import { withoutVersion, type Unknown, type Whole } from '../policy/types.ts';
import type { Selection } from './votes.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a handler may answer where a schema describes it: read-only, and texts from the file where it names a few. */
export type Shown<T> = T extends string
  ? string
  : T extends readonly (infer Element)[]
    ? readonly Shown<Element>[]
    : T extends object
      ? { readonly [Key in keyof T]: Shown<T[Key]> }
      : T;

/** What the unlocked vault does with secrets. Every function throws VAULT_LOCKED while the vault is locked. */
export interface Keys {
  readonly unlocked: boolean;
  checkUnlocked(): void;
  seal(place: Place, secret: Uint8Array): Uint8Array;
  /** @returns a copy that the caller wipes. */
  open(place: Place, sealed: Uint8Array): Uint8Array;
  /** An opened or derived secret by name, made when it is not at hand; the bytes are lent, not given. */
  cached(name: string, make: () => Uint8Array): Uint8Array;
}

interface Context<Parameters> {
  /** The organization that the request names. */
  readonly organizationId: string;
  readonly params: Parameters;
  readonly caller: Caller;
  /** The time of the request, in milliseconds. */
  readonly now: number;
}

export interface QueryContext<Parameters> extends Context<Parameters> {
  readonly tx: Reader;
  /** An activity as the API shows one. */
  readonly showActivity: (row: ActivityRow) => Json;
  /** Every operation there is, by path: `submit/create_wallet`. */
  readonly operations: ReadonlyMap<string, Operation>;
  /** When the organization's credentials last proved a request: milliseconds, by their ids. */
  readonly lastUses: () => ReadonlyMap<string, number>;
  /** Activities of the organization as policies see them; made when asked for. */
  readonly cases: () => Cases;
}

/** What there is to know of a request that was made: an activity's row has it, or what was noted of a refusal. */
export type PastRequest = Pick<ActivityRow, 'type' | 'intent' | 'createdAt' | 'votes'>;

/** Makes of an activity what policies decide from. */
export interface Cases {
  /** @returns undefined for a type that no operation has any more. */
  readonly ofActivity: (row: PastRequest) => Case | undefined;
  /**
   * An activity that nobody has submitted: one user's, now.
   * @param request The JSON of its body.
   * @throws LatchkeyError as submitting it would.
   */
  readonly ofRequest: (request: {
    readonly body: string;
    readonly userId: string;
  }) => Case & Pick<Facts, 'counters'>;
}

export interface ActivityContext<Parameters, Prepared = undefined> extends Context<Parameters> {
  readonly tx: Writer;
  readonly keys: Keys;
  readonly random: Random;
  readonly prepared: Prepared;
  /** Whether the contacts that the real API has for tests are honoured. */
  readonly sandbox: boolean;
  /**
   * Has a message sent once this transaction is committed.
   * @throws LatchkeyError FAILED_PRECONDITION where nothing is set up that could send it.
   */
  readonly post: (message: Message) => void;
}

/** What is read before anything is awaited. */
export interface GatherContext<Parameters> extends Context<Parameters> {
  readonly tx: Reader;
  readonly keys: Keys;
  /** The relying party that passkeys are made for: a host name. */
  readonly rpId: string;
}

/** What is awaited before the transaction: nothing of the file, which may change meanwhile. */
export interface PrepareContext<Parameters, Gathered = undefined> extends Context<Parameters> {
  readonly gathered: Gathered;
  readonly random: Random;
  readonly verifyIdToken: VerifyIdToken;
}

/** The specification's own intent, where its name or shape is not the real API's. */
interface Specified<Parameters> {
  readonly intent: string;
  /** @param result What the activity answered; undefined for one that is not completed. */
  readonly describe: (
    params: Parameters,
    result: Json | undefined,
    where: { readonly tx: Reader; readonly organizationId: string },
  ) => Json;
}

/** One accepted type of an activity: what its callers send and what they are shown. */
export interface ActivityVersion {
  readonly type: string;
  /** The key of the intent, with its version: `createUsersIntentV3`. */
  readonly intent: string;
  readonly result: string;
  readonly params: z.ZodType;
  /** Turns this version's parameters into the newest version's. */
  readonly upgrade: (params: unknown) => unknown;
  readonly specified?: Specified<never>;
}

/** What `activity.resource` of policies may be. */
export const resources = [
  'ORGANIZATION',
  'POLICY',
  'WALLET',
  'PRIVATE_KEY',
  'USER',
  'CREDENTIAL',
  'AUTH',
  'OTP',
  'RECOVERY',
  'WEBHOOK_ENDPOINT',
  'SMART_CONTRACT_INTERFACE',
  'CONFIG',
  'ACTIVITY',
] as const;
export type Resource = (typeof resources)[number];

/** What `activity.action` of policies may be. */
export const actions = [
  'CREATE',
  'UPDATE',
  'DELETE',
  'SIGN',
  'EXPORT',
  'IMPORT',
  'VERIFY',
  'APPROVE',
  'REJECT',
] as const;
export type Action = (typeof actions)[number];

/** Who may do what an operation does, and what policies are shown of it. */
export interface Authority<Parameters> {
  readonly resource: Resource;
  readonly action: Action;
  /**
   * What nobody may, whatever quorum and policies say. Asked before them.
   * @throws LatchkeyError for what is refused.
   */
  readonly refuses?: (context: {
    readonly tx: Reader;
    readonly organizationId: string;
    readonly params: Parameters;
    readonly caller: Caller;
  }) => void;
  /** Only the root quorum may: policies have no say. */
  readonly rootQuorumOnly?: true;
  /**
   * Answers the ids of the users whose credentials, contacts or tags it changes or uses. Where one is a member of the root
   * quorum, it is for that user and the root quorum alone: policies have no say.
   */
  readonly concerns?: (context: {
    readonly tx: Reader;
    readonly organizationId: string;
    readonly params: Parameters;
  }) => readonly string[];
  /** A user of the parent organization may do it in its sub-organizations. */
  readonly fromParent?: true;
  /**
   * It is about the organization of whoever makes the request, who may name its parent: the sub-organizations are looked
   * through for the credential.
   */
  readonly inCallersOrganization?: true;
  /** Whether it is what a key that was mailed for recovery is for. */
  readonly byRecoveryKey?: true;
  /** Whether it is about the caller's own credentials, which every user may change unless a policy says otherwise. */
  readonly ownCredentials?: (params: Parameters, caller: Caller) => boolean;
  /** `activity.params`, where policies may read any. */
  readonly shows?: (params: Parameters) => Readonly<Record<string, unknown>>;
  /**
   * Answers the rest of the facts that policies may read. An operation that does the same to several things answers an
   * item for each of them: policies decide each, and the activity is allowed when all are.
   */
  readonly facts?: (context: {
    readonly tx: Reader;
    readonly organizationId: string;
    readonly params: Parameters;
  }) => Item | readonly Item[];
}

/** What policies may read of one of the things that an activity does; each fact is read when a policy first asks. */
export type Item = Omit<ConditionFacts, 'activity'> & {
  /** How many signatures it gives; of what signs alone. */
  readonly signatures?: () => Whole | Unknown;
};

export interface ActivityOperation {
  readonly kind: 'activity';
  readonly vote?: undefined;
  /** The last part of its path: `create_wallet`. */
  readonly path: string;
  /** Whether it is Latchkey's own: the real API has none of its name. */
  readonly own?: true;
  readonly versions: readonly ActivityVersion[];
  /** What its result holds, whichever version asked. */
  readonly returns: z.ZodType;
  readonly authority: Authority<unknown>;
  /** Reads what `prepare` needs. What it opens, `prepare` wipes. */
  readonly gather?: (context: GatherContext<unknown>) => unknown;
  /** Awaits what must be awaited, before the transaction; it reads and writes nothing of the file. */
  readonly prepare?: (context: PrepareContext<unknown, unknown>) => Promise<unknown>;
  /** Erases secrets in what was prepared, once it was used or is not wanted any more. */
  readonly wipe?: (prepared: unknown) => void;
  /** The synchronous part that writes, inside the transaction; what it answers is the activity's result. */
  readonly run: (context: ActivityContext<unknown, unknown>) => Json;
}

/** A vote on an activity: it becomes none itself, and answers the one that it is about. */
export interface VoteOperation {
  readonly kind: 'activity';
  readonly path: string;
  readonly versions: readonly ActivityVersion[];
  readonly returns: z.ZodType;
  readonly authority: Authority<unknown>;
  readonly vote: Selection;
  readonly own?: undefined;
}

export interface QueryOperation {
  readonly kind: 'query';
  readonly path: string;
  /** Whether it is Latchkey's own: the real API has none of its name. */
  readonly own?: true;
  /** The flat body, without `organizationId`. */
  readonly params: z.ZodType;
  /** What it answers: the resource under its name. */
  readonly returns: z.ZodType;
  /** As `Authority.inCallersOrganization`. */
  readonly inCallersOrganization?: true;
  /** Answers the resource, or makes it in steps where that takes long: each is a read, and a turn, of its own. */
  readonly run: (context: QueryContext<unknown>) => Json | Paced<Json>;
}

export type Operation = ActivityOperation | VoteOperation | QueryOperation;

interface OlderVersion<Latest, Older extends z.ZodType = z.ZodType> {
  readonly intent: string;
  readonly result?: string;
  readonly params: Older;
  readonly upgrade: (params: z.output<Older>) => Latest;
  readonly specified?: Specified<z.output<Older>>;
}

interface ActivityDefinition<Schema extends z.ZodType, Returns extends z.ZodType, Prepared, Gathered> {
  readonly path: string;
  readonly own?: true;
  readonly type: string;
  readonly intent: string;
  readonly result: string;
  readonly params: Schema;
  readonly returns: Returns;
  readonly specified?: Specified<z.output<Schema>>;
  readonly authority: Authority<z.output<Schema>>;
  readonly accepts?: Readonly<Record<string, OlderVersion<z.output<Schema>>>>;
  readonly gather?: (context: GatherContext<z.output<Schema>>) => Gathered;
  readonly prepare?: (context: PrepareContext<z.output<Schema>, Gathered>) => Promise<Prepared>;
  readonly wipe?: (prepared: Prepared) => void;
  readonly run: (context: ActivityContext<z.output<Schema>, Prepared>) => Shown<z.output<Returns>>;
}

/** `SIGN_RAW_PAYLOAD` of `ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2`. */
export const kindOf = (type: string): string => withoutVersion(type.replace(/^ACTIVITY_TYPE_/, ''));

/** Types an older version's upgrade by its own schema, for the `accepts` of an activity. */
export function older<Latest, Older extends z.ZodType>(
  version: OlderVersion<Latest, Older>,
): OlderVersion<Latest> {
  // The schema has checked what `upgrade` and `describe` are given.
  return version;
}

/** What the type keeps of an operation's names and answer: tests hold them against the vendor's types. */
type NamedActivity<
  Path extends string,
  Result extends string,
  Returns extends z.ZodType,
> = ActivityOperation & {
  readonly path: Path;
  readonly versions: readonly [{ readonly result: Result }, ...unknown[]];
  readonly returns: Returns;
};

type NamedQuery<Path extends string, Returns extends z.ZodType> = QueryOperation & {
  readonly path: Path;
  readonly returns: Returns;
};

export function activity<
  Path extends string,
  Result extends string,
  Schema extends z.ZodType,
  Returns extends z.ZodType,
  Prepared = undefined,
  Gathered = undefined,
>(
  definition: ActivityDefinition<Schema, Returns, Prepared, Gathered> & {
    readonly path: Path;
    readonly result: Result;
  },
): NamedActivity<Path, Result, Returns> {
  const { path, type, intent, result, params, returns, specified, accepts = {} } = definition;
  const { authority, own, gather, prepare, wipe, run } = definition;
  const latest = { type, intent, result, params, upgrade: (value: unknown) => value, specified };
  const versions = [
    latest,
    ...Object.entries(accepts).map(([name, version]) => ({ result, ...version, type: name })),
  ];
  // From here on parameters are `unknown`: only the version's own schema produces what these functions take.
  return {
    kind: 'activity',
    path,
    ...(own && { own }),
    versions,
    returns,
    authority,
    ...{ gather, prepare, wipe, run },
  } as unknown as NamedActivity<Path, Result, Returns>;
}

export function vote<Path extends string>(definition: {
  readonly path: Path;
  readonly type: string;
  readonly intent: string;
  readonly action: 'APPROVE' | 'REJECT';
  readonly vote: Selection;
  /** Whatever else it has, it names the activity by its fingerprint. */
  readonly params: z.ZodType<{ readonly fingerprint: string }>;
}): VoteOperation & { readonly path: Path } {
  const { path, type, intent, action, params } = definition;
  return {
    kind: 'activity',
    path,
    versions: [{ type, intent, result: '', params, upgrade: (value) => value }],
    // That of the activity, whichever it is.
    returns: z.record(z.string(), z.unknown()),
    authority: { resource: 'ACTIVITY', action },
    vote: definition.vote,
  };
}

export function query<Path extends string, Schema extends z.ZodType, Returns extends z.ZodType>(definition: {
  readonly path: Path;
  readonly own?: true;
  readonly params: Schema;
  readonly returns: Returns;
  readonly inCallersOrganization?: true;
  readonly run: (
    context: QueryContext<z.output<Schema>>,
  ) => Shown<z.output<Returns>> | Paced<Shown<z.output<Returns>>>;
}): NamedQuery<Path, Returns> {
  return { kind: 'query', ...definition } as unknown as NamedQuery<Path, Returns>;
}

/**
 * The type of an operation. An operation is one exported value: its names on the wire, its schema, and a handler that
 * sees neither HTTP nor the connection nor another operation.
 */
import { z } from 'zod';
import type { Keys } from '../crypto/sealing.ts';
import type { ActivityRow } from '../storage/tables/activities.ts';
import type { Reader, Writer } from '../storage/connection.ts';
import type { User } from '../storage/tables/users.ts';
import type { Caller } from '../lib/caller.ts';
import type { VerifyIdToken } from '../lib/web/id-tokens.ts';
import type { OutgoingMessage } from '../lib/messages.ts';
import type { Paced } from '../lib/concurrency/paced.ts';
import type { Timestamp } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { storedObject } from '../lib/text/stored-json.ts';
import type { AskPreview } from '../lib/web/previews.ts';
import type { Facts } from '../policy/decide/facts.ts';
import type { Counters } from '../policy/language/evaluation.ts';
import type { Case } from '../policy/analysis/replay.ts';
import type { ConditionFacts } from '../policy/language/schema.ts';
import type { Unknown, Whole } from '../policy/language/types.ts';
import type { SigningDay } from './answer/signing-counts.ts';
import type { Selection, Vote } from '../storage/tables/votes.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The type of a handler's answer for a schema: read-only, and `string` where the schema has an enum, since
 * such texts come from the file.
 */
export type Shown<T> = T extends string
  ? string
  : T extends readonly (infer Element)[]
    ? readonly Shown<Element>[]
    : T extends object
      ? { readonly [Key in keyof T]: Shown<T[Key]> }
      : T;

/** A vote on an activity, as the API shows one. */
interface VoteEnvelope {
  readonly id: string;
  readonly userId: string;
  /** The voter at the time of the vote. */
  readonly user: User;
  readonly activityId: string;
  readonly selection: Selection;
  /** The body that was signed. */
  readonly message: string;
  readonly publicKey: string;
  readonly signature: string;
  readonly scheme: string;
  readonly createdAt: Timestamp;
}

/** An activity as the API shows one: the real API's envelope and, inside its result, the specification's. */
export interface ActivityEnvelope {
  readonly id: string;
  readonly organizationId: string;
  readonly status: ActivityRow['status'];
  readonly type: string;
  readonly timestampMs: string;
  /** By the intent's name. */
  readonly intent: Json;
  /** By the result's name; empty for an activity that is not completed. */
  readonly result: Json;
  /** In the order in which they were given; the first is the submitter's. */
  readonly votes: readonly VoteEnvelope[];
  readonly fingerprint: string;
  /** True if a vote of the caller would count. */
  readonly canApprove: boolean;
  readonly canReject: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly failure: {
    readonly code: number;
    readonly message: string;
    readonly details: Record<string, unknown>[];
  } | null;
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
  /** For what the vault signs itself. */
  readonly keys: Keys;
  /** An activity as the API shows one. */
  readonly showActivity: (row: ActivityRow) => ActivityEnvelope;
  /** True if an approval of the caller would count for an activity that waits: `canApprove` of what is shown of it. */
  readonly needsApproval: (row: ActivityRow) => boolean;
  readonly operations: Operations;
  /** When the organization's credentials last proved a request: milliseconds, by their ids. */
  readonly lastUses: () => ReadonlyMap<string, number>;
  /** When the organization's wallets and private keys last signed: milliseconds, by their ids. */
  readonly keyUses: () => ReadonlyMap<string, number>;
  /** Counts signing requests of the last 30 days, the oldest day first. */
  readonly signingDays: () => Paced<readonly SigningDay[]>;
  /** Activities of the organization as policies see them; made when asked for. */
  readonly cases: () => Cases;
  /** For an answer from elsewhere. */
  readonly preview: AskPreview;
}

/** Asks another machine, outside of any turn and of any read of the file. The caller is identified again afterwards. */
export type FromElsewhere<T> = () => Promise<T>;

/** A past request, as far as it is known: from an activity's row or from the record of a refusal. */
export interface PastRequest extends Pick<ActivityRow, 'id' | 'type' | 'intent' | 'createdAt'> {
  /** Its votes, or its sender's alone; undefined where they cannot be read. */
  readonly votes: readonly Pick<Vote, 'selection' | 'snapshot' | 'publicKey'>[] | undefined;
}

/** Makes of an activity what policies decide from. */
export interface Cases {
  /** @returns undefined for a request that cannot be read today, or has such votes. */
  readonly ofActivity: (row: PastRequest) => Case | undefined;
  /**
   * A hypothetical activity: one user submits it now.
   * @param request The JSON of its body.
   * @throws KeyhearthError as submitting it would.
   */
  readonly ofRequest: (request: {
    readonly body: string;
    readonly userId: string;
  }) => Case & Pick<Facts, 'counters'>;
  /** The amounts that policies have counted. */
  readonly counters: Counters;
}

export interface ActivityContext<Parameters, Prepared = undefined> extends Context<Parameters> {
  readonly tx: Writer;
  readonly keys: Keys;
  readonly random: Random;
  readonly prepared: Prepared;
  /** Notes the use of a wallet or a private key, by its id. */
  readonly noteKeyUse: (keyId: string) => void;
  /** True if the real API's test contacts work. */
  readonly sandbox: boolean;
  /**
   * Has a message sent once this transaction is committed.
   * @throws KeyhearthError FAILED_PRECONDITION where nothing is set up that could send it.
   */
  readonly post: (message: OutgoingMessage) => void;
}

/** Context of the reads that come before any await. */
export interface GatherContext<Parameters> extends Context<Parameters> {
  readonly tx: Reader;
  readonly keys: Keys;
  /** The relying party of passkeys: a host name. */
  readonly rpId: string;
}

/**
 * Context of the awaits that come before the transaction. It has no access to the file, which may change
 * meanwhile.
 */
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

/** Values of `activity.resource` in policies. */
export const resources = [
  'ORGANIZATION',
  'POLICY',
  'WALLET',
  'PRIVATE_KEY',
  'SECRET',
  'SESSION_PROFILE',
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

/** Values of `activity.action` in policies. */
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

/** The rules about who may run an operation, and the facts that policies may read of it. */
export interface Authority<Parameters> {
  readonly resource: Resource;
  readonly action: Action;
  /**
   * Hard refusals, checked before quorum and policies.
   * @throws KeyhearthError for what is refused.
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
   * It changes what others may do, or are taken for: policies themselves, what they know users, keys and calls by, what people
   * know addresses by, who is sent events, and organizations with users of their own.
   */
  readonly changesRights?: true | ((params: Parameters) => boolean);
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
   * The operation acts on the caller's own organization. The request may name the parent instead, so the
   * sub-organizations are searched for the credential.
   */
  readonly inCallersOrganization?: true;
  /** True if a key that was mailed for recovery may run the operation. */
  readonly byRecoveryKey?: true;
  /**
   * True if the request changes the caller's own credentials. Every user may do so unless a policy denies it.
   */
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

/**
 * Facts that policies may read of one item of an activity. A fact is read when a policy first asks for it.
 */
export type Item = Omit<ConditionFacts, 'activity'> & {
  /** Number of signatures, for items that sign. */
  readonly signatures?: () => Whole | Unknown;
};

/** The vault as it is when the owner's request arrives. */
export interface StepUpVault {
  readonly tx: Reader;
  readonly organizationId: string;
}

/**
 * Marks an activity that needs a new proof by a secret of the owner when it comes from the owner's window: it
 * takes a secret out of the vault, or adds a way in. Requests that other keys stamp are left to policies.
 *
 * Policies, tags and sub-organizations need no step-up. A policy only adds rights for users whose way in was
 * confirmed, and the owner can see and delete it in the window. A sub-organization starts empty, and its
 * users have no access outside it.
 */
export interface StepUp<Parameters> {
  readonly for: 'export' | 'wayIn' | 'policy';
  /** True for parameters that need step-up; all do if this is absent. */
  readonly when?: (params: Parameters, vault: StepUpVault) => boolean;
}

/** @returns the step-up that a request needs; undefined where it needs none. */
export const stepUpFor = (
  { stepUp }: Pick<ActivityOperation, 'stepUp'>,
  params: unknown,
  vault: StepUpVault,
): StepUp<unknown>['for'] | undefined =>
  stepUp?.when === undefined || stepUp.when(params, vault) ? stepUp?.for : undefined;

export interface ActivityOperation {
  readonly kind: 'activity';
  readonly vote?: undefined;
  /** The last part of its path: `create_wallet`. */
  readonly path: string;
  /** One sentence that says what the operation does. */
  readonly summary: string;
  /** How people read it, in the window, the command and notifications: `Create a wallet`. `npm run texts` passes it on. */
  readonly title: string;
  /** True for an operation of Keyhearth alone: the real API has none of its name. */
  readonly own?: true;
  readonly versions: readonly ActivityVersion[];
  /** The schema of the result, the same for every version. */
  readonly returns: z.ZodType;
  readonly authority: Authority<unknown>;
  readonly stepUp?: StepUp<unknown>;
  /** Reads what `prepare` needs. What it opens, `prepare` wipes. */
  readonly gather?: (context: GatherContext<unknown>) => unknown;
  /** Awaits what must be awaited, before the transaction; it reads and writes nothing of the file. */
  readonly prepare?: (context: PrepareContext<unknown, unknown>) => Promise<unknown>;
  /** Erases secrets in the prepared value, after use or when it is discarded. */
  readonly wipe?: (prepared: unknown) => void;
  /** The synchronous part that writes, inside the transaction; what it answers is the activity's result. */
  readonly run: (context: ActivityContext<unknown, unknown>) => Json;
}

/** A vote on an activity: it becomes none itself, and answers the one that it is about. */
export interface VoteOperation {
  readonly kind: 'activity';
  readonly path: string;
  readonly summary: string;
  readonly versions: readonly ActivityVersion[];
  readonly returns: z.ZodType;
  readonly authority: Authority<unknown>;
  readonly vote: Selection;
  readonly own?: undefined;
}

export interface QueryOperation {
  readonly kind: 'query';
  readonly path: string;
  readonly summary: string;
  /** True for an operation of Keyhearth alone: the real API has none of its name. */
  readonly own?: true;
  /** The flat body, without `organizationId`. */
  readonly params: z.ZodType;
  /** The schema of the answer: the resource under its name. */
  readonly returns: z.ZodType;
  /** As `Authority.inCallersOrganization`. */
  readonly inCallersOrganization?: true;
  /**
   * Answers the resource; or makes it in steps where that takes long: each is a read, and a turn, of its own; or says how
   * another machine is asked for it.
   */
  readonly run: (context: QueryContext<unknown>) => Json | Paced<Json> | FromElsewhere<Json>;
}

export type Operation = ActivityOperation | VoteOperation | QueryOperation;

/** Operations that are about one thing. */
export interface OperationGroup {
  readonly name: string;
  readonly about: string;
  readonly operations: readonly Operation[];
}

/** Every operation there is. */
export interface Operations {
  readonly groups: readonly OperationGroup[];
  /** By path, as it follows `/public/v1/`: `submit/create_wallet`, `query/list_wallets`. */
  readonly byPath: ReadonlyMap<string, Operation>;
  /** Activity operations by type, each with the version of that type: `ACTIVITY_TYPE_CREATE_USERS_V3`. */
  readonly byType: ReadonlyMap<
    string,
    { readonly operation: ActivityOperation; readonly version: ActivityVersion }
  >;
}

export function toOperations(groups: readonly OperationGroup[]): Operations {
  const all = groups.flatMap((group) => group.operations);
  return {
    groups,
    byPath: new Map(all.map((operation) => [pathOf(operation), operation])),
    byType: new Map(
      all.flatMap((operation) =>
        operation.kind === 'activity' && operation.vote === undefined
          ? operation.versions.map((version) => [version.type, { operation, version }] as const)
          : [],
      ),
    ),
  };
}

/** Types of the activities that sign, of every version. */
export const signingTypes = ({ byType }: Operations): readonly string[] =>
  [...byType].flatMap(([type, { operation }]) => (operation.authority.action === 'SIGN' ? [type] : []));

/** As it follows `/public/v1/`. */
export const pathOf = ({ kind, path }: Operation): string =>
  `${kind === 'query' ? 'query' : 'submit'}/${path}`;

interface OlderVersion<Latest, Older extends z.ZodType = z.ZodType> {
  readonly intent: string;
  readonly result?: string;
  readonly params: Older;
  readonly upgrade: (params: z.output<Older>) => Latest;
  readonly specified?: Specified<z.output<Older>>;
}

interface ActivityDefinition<Schema extends z.ZodType, Returns extends z.ZodType, Prepared, Gathered> {
  readonly path: string;
  readonly summary: string;
  readonly title: string;
  readonly own?: true;
  readonly type: string;
  readonly intent: string;
  readonly result: string;
  readonly params: Schema;
  readonly returns: Returns;
  readonly specified?: Specified<z.output<Schema>>;
  readonly authority: Authority<z.output<Schema>>;
  readonly stepUp?: StepUp<z.output<Schema>>;
  readonly accepts?: Readonly<Record<string, OlderVersion<z.output<Schema>>>>;
  readonly gather?: (context: GatherContext<z.output<Schema>>) => Gathered;
  readonly prepare?: (context: PrepareContext<z.output<Schema>, Gathered>) => Promise<Prepared>;
  readonly wipe?: (prepared: Prepared) => void;
  readonly run: (context: ActivityContext<z.output<Schema>, Prepared>) => Shown<z.output<Returns>>;
}

/** Types an older version's upgrade by its own schema, for the `accepts` of an activity. */
export function older<Latest, Older extends z.ZodType>(
  version: OlderVersion<Latest, Older>,
): OlderVersion<Latest> {
  // The schema has checked what `upgrade` and `describe` are given.
  return version;
}

/** The static type of an operation. Clients are typed by it, and tests compare it with the vendor's types. */
type KnownActivity<
  Path extends string,
  Type extends string,
  Result extends string,
  Schema extends z.ZodType,
  Returns extends z.ZodType,
> = ActivityOperation & {
  readonly path: Path;
  readonly versions: readonly [
    { readonly type: Type; readonly result: Result; readonly params: Schema },
    ...unknown[],
  ];
  readonly returns: Returns;
};

type KnownQuery<Path extends string, Schema extends z.ZodType, Returns extends z.ZodType> = QueryOperation & {
  readonly path: Path;
  readonly params: Schema;
  readonly returns: Returns;
};

type KnownVote<Path extends string, Type extends string> = VoteOperation & {
  readonly path: Path;
  readonly versions: readonly [{ readonly type: Type }];
};

export function activity<
  Path extends string,
  Type extends string,
  Result extends string,
  Schema extends z.ZodType,
  Returns extends z.ZodType,
  Prepared = undefined,
  Gathered = undefined,
>(
  definition: ActivityDefinition<Schema, Returns, Prepared, Gathered> & {
    readonly path: Path;
    readonly type: Type;
    readonly result: Result;
  },
): KnownActivity<Path, Type, Result, Schema, Returns> {
  const { type, intent, result, params, specified, accepts = {}, ...rest } = definition;
  const latest = { type, intent, result, params, upgrade: (value: unknown) => value, specified };
  const versions = [
    latest,
    ...Object.entries(accepts).map(([name, version]) => ({ result, ...version, type: name })),
  ];
  // From here on parameters are `unknown`: only the version's own schema produces what these functions take.
  return { kind: 'activity', versions, ...rest } as unknown as KnownActivity<
    Path,
    Type,
    Result,
    Schema,
    Returns
  >;
}

export function vote<Path extends string, Type extends string>({
  type,
  intent,
  action,
  params,
  ...rest
}: {
  readonly path: Path;
  readonly summary: string;
  readonly type: Type;
  readonly intent: string;
  readonly action: 'APPROVE' | 'REJECT';
  readonly vote: Selection;
  /** Whatever else it has, it names the activity by its fingerprint. */
  readonly params: z.ZodType<{ readonly fingerprint: string }>;
}): KnownVote<Path, Type> {
  const version: ActivityVersion & { readonly type: Type } = {
    type,
    intent,
    result: '',
    params,
    upgrade: (value) => value,
  };
  return {
    kind: 'activity',
    versions: [version],
    // That of the activity, whichever it is.
    returns: z.record(z.string(), z.unknown()),
    authority: { resource: 'ACTIVITY', action },
    ...rest,
  };
}

export function query<Path extends string, Schema extends z.ZodType, Returns extends z.ZodType>(definition: {
  readonly path: Path;
  readonly summary: string;
  readonly own?: true;
  readonly params: Schema;
  readonly returns: Returns;
  readonly inCallersOrganization?: true;
  readonly run: (
    context: QueryContext<z.output<Schema>>,
  ) => Shown<z.output<Returns>> | Paced<Shown<z.output<Returns>>> | FromElsewhere<Shown<z.output<Returns>>>;
}): KnownQuery<Path, Schema, Returns> {
  return { kind: 'query', ...definition } as unknown as KnownQuery<Path, Schema, Returns>;
}

/** A row of the log, as far as it says what was asked. */
type Logged = Pick<ActivityRow, 'type' | 'intent'>;

/** A request of the log, as it was kept. */
interface Stored {
  readonly operation: ActivityOperation;
  readonly version: ActivityVersion;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * The log is of this program's making, but it may have a row that this program cannot read: of another version, or put in by
 * another program. Such a row is shown as unreadable, and nothing is done by it.
 * @returns False unless its type takes the request today.
 */
export function isReadable(operations: Operations, row: Logged): boolean {
  const stored = storedOf(operations, row);
  return stored !== undefined && isTaken(stored);
}

/**
 * For what is shown of a row. Requests that an earlier version took are shown too, as far as they can be.
 * @returns undefined for one that cannot be read.
 * @throws as `read`, for a request that its type takes: the fault is not the row's.
 */
export function readRequest<T>(
  operations: Operations,
  row: Logged,
  read: (stored: Stored) => T,
): T | undefined {
  const stored = storedOf(operations, row);
  if (stored === undefined) return undefined;
  try {
    return read(stored);
  } catch (error) {
    if (isTaken(stored)) throw error;
    return undefined;
  }
}

const isTaken = ({ version, params }: Stored): boolean => version.params.safeParse(params).success;

function storedOf({ byType }: Operations, { type, intent }: Logged): Stored | undefined {
  const known = byType.get(type);
  const params = storedObject(intent);
  return known && params && { ...known, params };
}

/**
 * The window's rpc, its only access to the vault: calls, and one event stream.
 *
 * It has two transports, and the renderer cannot tell them apart: IPC in Electron (`preload/index.ts`) and
 * HTTP with a session in a browser (`renderer/app/rpc/rpc.ts`). Everything a window does to resources goes through
 * `call`, which enters the service exactly where a script's request does, stamped with the owner's own key.
 */

import type { DoorName } from '../main/lib/policies/doors.ts';
import type { SecurityEventKind, SecurityWay } from '../main/lib/text/security-events.ts';

/** The vault's state: not created yet, its keys sealed, or its keys in memory. */
export type VaultState = 'none' | 'locked' | 'unlocked';

/** Ways to open the master key. */
export type KeyslotKind = 'keychain' | 'password' | 'recovery';

/** Something in the vault's file that was changed outside Keyhearth. */
export interface RowFinding {
  readonly table: string;
  /** The row's primary key; null where the finding is about the table, or about rows that are gone. */
  readonly row: string | null;
  /** For a person to read. */
  readonly problem: string;
  /** SQLite cannot read it: no owner can accept that. */
  readonly damaged?: true;
}

export interface Frozen {
  /** Since when, in milliseconds. */
  readonly at: number;
  /** The last signature before it; null where the newest activities have none. */
  readonly lastSignature: { readonly activityId: string; readonly type: string; readonly at: number } | null;
  /** Why a restart would forget the freeze, for a person to read; null where the disk has it. */
  readonly unsaved: string | null;
}

export interface VaultStatus {
  readonly state: VaultState;
  /**
   * Progress of the check of a large vault at its unlock, in parts of the work. The vault stays locked until
   * the end. Null when there is no unlock, and while a secret is tried. Locking and freezing end it; `unlock`
   * then rejects.
   */
  readonly unlocking: { readonly checked: number; readonly total: number } | null;
  /** Set while the vault opens with a secret alone (`WindowRpc.freeze`); null when it is not frozen. */
  readonly frozen: Frozen | null;
  readonly version: string;
  /** Base URL of the HTTP API, for example `http://127.0.0.1:7377`. */
  readonly url: string;
  /** The host name of passkeys (WebAuthn's relying party id), `localhost` unless configured. */
  readonly rpId: string;
  /** The directory that holds the vault, or null for a vault in memory (`keyhearth dev`). */
  readonly directory: string | null;
  /** The words that run the `keyhearth` command from anywhere on the service's computer. */
  readonly program: readonly [string, ...string[]];
  /** Null until a vault is created. */
  readonly organization: { readonly id: string; readonly name: string } | null;
  /** The person the window acts for. */
  readonly owner: { readonly userId: string; readonly userName: string } | null;
  /** The keyslots of the vault; empty until a vault is created. */
  readonly keyslots: readonly KeyslotKind[];
  /** The operating system's keychain; if it cannot be used, the reason for a person to read. */
  readonly keychain:
    | { readonly available: true }
    /** `off` if Keyhearth was configured to leave it alone: checking again finds the same. */
    | { readonly available: false; readonly reason: string; readonly off?: true };
  /** Deliveries that could not leave this machine yet; null if there are none, or the vault is not open. */
  readonly delayed: Delayed | null;
  /** The public half (hex, compressed P-256) of the key that signs for the owner in the window; null until a vault is created. */
  readonly windowKey: string | null;
  /** Public halves (hex, uncompressed P-256) of the keys that sign what the vault hands out. */
  readonly serverKeys: {
    readonly signer: string;
    readonly notarizer: string;
    readonly tlsFetcher: string;
  } | null;
  /** Why the vault is refused: what was found changed in its file, the first of it. Null while nothing is known. */
  readonly tampering: { readonly total: number; readonly findings: readonly RowFinding[] } | null;
  /** The trouble because of which the disk refuses writes; null while it accepts them. */
  readonly storage: StorageTrouble | null;
  /**
   * The words of the recovery phrase were never shown: the command that made the vault ended before it had. A new phrase
   * (`KeyslotChange`) ends this, and so does a check of the words.
   */
  readonly wordsNotShown: boolean;
  /** The longest time since the start for which nothing else was served, and by what; null before any request. */
  readonly longestTurn: LongestTurn | null;
}

export interface LongestTurn {
  /** The path of an operation, without what it was asked. */
  readonly name: string;
  readonly ms: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface StorageTrouble {
  readonly cause: 'full' | 'quota' | 'read-only' | 'forbidden' | 'too-large' | 'failing';
  readonly file: string;
  /** The problem and its remedy, for a person to read. */
  readonly problem: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface Delayed {
  /** The machine is not connected, the settings keep it off the network, or who was to receive it does not take it. */
  readonly why: 'offline' | 'network off' | 'failing';
  /** Messages that wait. */
  readonly messages: number;
  /** Webhook endpoints that events wait for. */
  readonly endpoints: number;
}

export interface CreateVault {
  readonly organizationName: string;
  readonly userName: string;
  /** Omitted when the owner gave none. */
  readonly userEmail?: string;
  /** Make a keyslot in the operating system's keychain. */
  readonly useKeychain: boolean;
  /** Make a password keyslot. Required where no keychain is used. At least 8 characters. */
  readonly password?: string;
  /** Words of the recovery phrase that the owner typed back, with their position (1 to 24); three at least. */
  readonly confirmedWords: readonly { readonly position: number; readonly word: string }[];
}

export type UnlockWith =
  | { readonly with: 'keychain' }
  | { readonly with: 'password'; readonly password: string }
  | { readonly with: 'recovery'; readonly phrase: string }
  /** Shares of the recovery phrase, `lkshare1…`, in any order. */
  | { readonly with: 'shares'; readonly shares: readonly string[] };

/** A secret that only the vault's owner has. The keychain is none: it answers any program of the user's. */
export type ProveWith = Exclude<UnlockWith, { readonly with: 'keychain' }>;

export interface Keyslot {
  readonly id: string;
  readonly kind: KeyslotKind;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** When its owner last showed to have the recovery phrase; null where that was never asked. */
  readonly confirmedAt: number | null;
}

export interface Keyslots {
  readonly vaultId: string;
  /** In the order of creation. */
  readonly keyslots: readonly Keyslot[];
}

/** Words that a person typed, or that were kept where no person could be asked. */
export type WordsOfPhrase =
  | { readonly confirmedWords: CreateVault['confirmedWords'] }
  | { readonly keptWords: CreateVault['confirmedWords'] };

/**
 * One change of the ways to open the vault. `proof` opens it now.
 *
 * A new recovery phrase is the one generated last, and some of its words show that it is the caller's: another window may have
 * generated one since.
 */
export type KeyslotChange = { readonly proof: ProveWith } & (
  | { readonly do: 'addPassword'; readonly password: string }
  | { readonly do: 'addKeychain' }
  | ({ readonly do: 'addRecovery' } & WordsOfPhrase)
  | { readonly do: 'changePassword'; readonly keyslotId: string; readonly password: string }
  | ({ readonly do: 'changeRecovery'; readonly keyslotId: string } & WordsOfPhrase)
  | { readonly do: 'remove'; readonly keyslotId: string }
  | {
      /** A new master key. Keyslots stay whose secret is given here or as the proof, and the keychain's that opens. */
      readonly do: 'rotate';
      readonly secrets: readonly ProveWith[];
      /** Lets the others go; without it, there must be none. */
      readonly dropOthers: boolean;
    }
);

/** A wallet that the owner may import. */
export interface WalletPreviewWish {
  /** As `import_wallet` takes it, encrypted to a key of `init_import_wallet`. */
  readonly encryptedBundle: string;
  readonly accounts: readonly {
    readonly curve: string;
    readonly pathFormat: string;
    readonly path: string;
    readonly addressFormat: string;
  }[];
}

export interface WalletPreview {
  /** Of the accounts, in their order. */
  readonly addresses: readonly string[];
}

export interface SheetRequest {
  /** It is checked against the vault first. */
  readonly phrase: string;
  /** A sheet for each share of the phrase, instead of one with the phrase. */
  readonly shares?: { readonly threshold: number; readonly count: number };
}

/** A page to be printed and kept. */
export interface Sheet {
  readonly title: string;
  readonly secret:
    | { readonly kind: 'phrase'; readonly words: readonly string[] }
    | { readonly kind: 'share'; readonly text: string; readonly number: number };
  /** The content of its QR code: the words, or the share in capitals. */
  readonly code: string;
  /** Names and values: the organization, the vault's id, the date. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Instructions for restoring with it, a paragraph each. */
  readonly how: readonly string[];
}

/** A signed statement that the activity log ended with a row, at a time. */
export interface LogHead {
  /** The row; 0 for a log that has none. */
  readonly sequence: number;
  /** Hex of its hash, which covers every row up to it. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly signedAt: number;
  /** Of the key that signed; hex, uncompressed P-256. */
  readonly publicKey: string;
  /** DER in hex. */
  readonly signature: string;
}

export interface LogState {
  readonly rows: number;
  /** The newest signed head; null where nothing is signed yet. */
  readonly head: LogHead | null;
  /** Of the vault's log signer; hex, uncompressed P-256. */
  readonly publicKey: string;
  /** The row that the keychain knows as the newest, or why it knows none; null for a vault without a keychain slot. */
  readonly witness: { readonly sequence: number } | { readonly obstacle: string } | null;
}

/** The result of checking the whole log. */
export interface LogCheck {
  readonly rows: number;
  /** Hex of the newest row's hash. */
  readonly hash: string;
  /** The newest row that a head signs which holds; 0 where there is none. */
  readonly signed: number;
  /** When that head was signed, in milliseconds; null where there is none. */
  readonly signedAt: number | null;
  /** Problems in words, each with its row, or null for the whole log. The first hundred. */
  readonly findings: readonly { readonly row: number | null; readonly problem: string }[];
  /** Number of findings beyond these. */
  readonly more: number;
}

/** Something that happened to the vault itself. */
export interface SecurityEvent {
  readonly kind: SecurityEventKind;
  /** The unlock method that it is about; null where it is about none. */
  readonly way: Exclude<SecurityWay, ''> | null;
  /** How often it happened, from `firstAt` to `lastAt`: events of one kind within an hour are counted together. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The rows in a part of an exported log: those after one and up to another. */
export interface LogRange {
  readonly after: number;
  readonly until: number;
}

/** A part of an exported log, in whole lines of JSON; `next` asks for the one after it, and is null after the last. */
export interface LogPart {
  readonly text: string;
  readonly next: LogRange | null;
}

/** The `turnkeyErrorCode` of what is refused until the owner has shown a secret: `WindowRpc.prove`. */
export const stepUpRequired = 'OWNER_PROOF_REQUIRED';

/** The service's answer: the HTTP status and the JSON body of the operation. */
export interface CallAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Something changed; the window asks again for what it shows. */
export type VaultEvent =
  | { readonly kind: 'status' }
  /** The vault is being unlocked: `VaultStatus.unlocking`, some ten times a second. A `status` event follows its end. */
  | { readonly kind: 'unlocking'; readonly checked: number; readonly total: number }
  /** The vault is not used and locks in so many seconds; null once that is not near any longer. */
  | { readonly kind: 'lockSoon'; readonly seconds: number | null }
  | { readonly kind: 'backups' }
  /** A backup is being restored: how much of it is written, in bytes. */
  | { readonly kind: 'restore'; readonly done: number; readonly total: number }
  /** The settings of this computer have changed. */
  | { readonly kind: 'settings' }
  /** Doors or their programs have changed, or a program waits for the vault to be unlocked. */
  | { readonly kind: 'doors' }
  /** The outcome of events for webhook endpoints has changed. */
  | { readonly kind: 'webhooks' }
  /** The state of messages has changed. */
  | { readonly kind: 'messages' }
  /** Requests came to the port; sent only while a window shows them. */
  | { readonly kind: 'requests' }
  /** A message came that is shown on this computer instead of being sent. */
  | { readonly kind: 'message'; readonly id: string }
  | { readonly kind: 'activity'; readonly id: string; readonly type: string; readonly status: string };

/** A backup that was created or found. Times are milliseconds since the epoch. */
export interface BackupRecord {
  readonly id: string;
  /** Its path on the machine that made it; a name alone for one that a browser brought. */
  readonly file: string;
  readonly madeAt: number;
  /** In bytes. */
  readonly size: number;
  /** Entries of the activity log in it, and the hash of the last (hex); 0 and empty while it was not opened. */
  readonly logRows: number;
  readonly logHead: string;
  /** When a verification last showed that it restores. */
  readonly provenAt: number | null;
  /** The fault that the last verification found. */
  readonly problem: string | null;
  /** True if the file is still there; null if that is unknown. */
  readonly found: boolean | null;
}

export interface BackupNotice {
  readonly kind: 'none' | 'failing' | 'old' | 'waiting' | 'unproven';
  /** For a person to read. */
  readonly message: string;
}

export interface BackupProgress {
  readonly what: 'backup' | 'verify';
  readonly file: string;
  readonly done: number;
  readonly total: number;
}

export interface BackupsStatus {
  /** False for a vault in memory. */
  readonly available: boolean;
  /** Newest first. */
  readonly backups: readonly BackupRecord[];
  readonly schedule: {
    readonly directory: string;
    readonly hours: number;
    readonly dueAt: number;
    /** Why the last one was not made. */
    readonly failure: { readonly message: string; readonly at: number } | null;
  } | null;
  /** Notices for the owner, the most pressing first. */
  readonly notices: readonly BackupNotice[];
  /** The backup or verification in progress. */
  readonly running: BackupProgress | null;
  /** A directory to propose. */
  readonly suggestedDirectory: string;
}

/** A backup that the person chose: what it says of itself, without being opened. */
export interface UploadedBackup {
  /** The argument of `restore` and `verifyBackup` for it. */
  readonly file: string;
  /** As the person knows it. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** In bytes. */
  readonly size: number;
  readonly opensWith: readonly BackupSecret['with'][];
}

/** A part of a file that a browser uploads to the service. */
export interface BackupPart {
  /** The file as it was named when its first part came; left out with the first, which holds the header. */
  readonly file?: string | undefined;
  readonly name: string;
  /** Of the whole file, in bytes. */
  readonly size: number;
  /** The position of the part, in bytes. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface UploadProgress {
  readonly backup: UploadedBackup;
  /** Bytes that have arrived: all of them, once it can be used. */
  readonly received: number;
}

/** A secret that opens a backup, or a locked vault for a backup; the keychain opens no backup. */
export type BackupSecret = Extract<UnlockWith, { readonly with: 'password' | 'recovery' }>;

export interface BackUp {
  /** An absolute path; a new name in the schedule's directory where it is left out. */
  readonly file?: string;
  /** Allows an older backup at that path to be replaced. */
  readonly replace?: boolean;
  /** Needed where the vault is locked. */
  readonly secret?: BackupSecret;
}

export interface RestoreVault {
  readonly file: string;
  readonly secret: ProveWith;
}

export interface VerifyBackup {
  readonly file: string;
  /** Needed where the vault is locked, and for backups that it cannot open itself. */
  readonly secret?: BackupSecret;
}

/** The result of verifying a backup. */
export interface VerifiedBackup {
  readonly file: string;
  readonly vaultId: string;
  readonly madeAt: number;
  readonly size: number;
  readonly openedWith: BackupSecret['with'] | 'vault';
  readonly organization: string;
  readonly log: { readonly rows: number; readonly head: string };
  readonly counts: {
    readonly users: number;
    readonly wallets: number;
    readonly accounts: number;
    readonly privateKeys: number;
    /** Sealed records that were opened. */
    readonly sealed: number;
  };
  /** The first problems; empty if the backup is proven. */
  readonly problems: readonly string[];
  readonly problemCount: number;
  /**
   * Resources of the vault that the backup lacks; null if there is no vault to compare with, or it is
   * another.
   */
  readonly uncovered: {
    readonly activities: number;
    readonly resources: readonly {
      readonly kind: string;
      readonly added: number;
      readonly changed: number;
      readonly removed: number;
    }[];
  } | null;
  /** When it was recorded as proven; null where it was not. */
  readonly recordedAt: number | null;
}

/** A mail server; the password is never shown. */
export interface MailSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the start, TLS by STARTTLS before anything else is said, or none. */
  readonly security: 'tls' | 'starttls' | 'none';
  /** Null for a server that asks for none. */
  readonly user: string | null;
  readonly from: { readonly address: string; readonly name: string | null };
  readonly replyTo: string | null;
  /** Whom else requests may have mail sent from: addresses, or domains as `@example.com`. */
  readonly otherSenders: readonly string[];
  /** Certificates in PEM that the server's must follow from, instead of the system's. */
  readonly certificates: string | null;
}

/** A gateway that takes text messages by HTTP. `{{to}}`, `{{text}}` and `{{id}}` stand for parts of a message. */
export interface HttpGatewaySettings {
  readonly kind: 'http';
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
}

export interface TwilioSettings {
  readonly kind: 'twilio';
  readonly accountSid: string;
  /** The SID of an API key, whose secret is the password then; null for the account's own auth token. */
  readonly apiKeySid: string | null;
  /** A phone number of the account, a sender's name, or the SID of a messaging service. */
  readonly from: string;
  /** `https://api.twilio.com` unless the account is in another region. */
  readonly url: string;
}

/** Passwords are left out where the one that is kept is to stay; settings that are null turn their channel off. */
export type MessageChannelChange =
  | { readonly channel: 'mail'; readonly settings: (MailSettings & { readonly password?: string }) | null }
  | {
      readonly channel: 'sms';
      readonly settings: HttpGatewaySettings | (TwilioSettings & { readonly password?: string }) | null;
    }
  | { readonly channel: 'desktop'; readonly on: boolean };

export type MessageTest =
  | { readonly channel: 'mail' | 'sms'; readonly to: string }
  | { readonly channel: 'desktop' };

/** The delivery of a message, without its text and code. Times are milliseconds since the epoch. */
export interface MessageDelivery {
  readonly id: string;
  readonly channel: 'email' | 'sms';
  readonly to: string;
  readonly createdAt: number;
  readonly state: 'waiting' | 'delivered' | 'refused' | 'parked' | 'expired';
  readonly attempts: number;
  /** The note of the last attempt; null before it. */
  readonly note: string | null;
  /** When it is tried next; null where it is not, or at once. */
  readonly nextAt: number | null;
  readonly finishedAt: number | null;
  /** True if it can still be sent: its code has not expired. */
  readonly canRetry: boolean;
}

export interface MessagesStatus {
  /** True if nothing is sent, and all messages are kept to be read here: in `keyhearth dev`. */
  readonly inboxOnly: boolean;
  /** Null where it is not set up. */
  readonly mail: MailSettings | null;
  readonly sms:
    | TwilioSettings
    /** Parts that may hold secrets are hidden: of the URL, only the host is shown. */
    | {
        readonly kind: 'http';
        readonly method: HttpGatewaySettings['method'];
        readonly origin: string;
        readonly headers: readonly string[];
      }
    | null;
  /** Shows messages of channels that are not set up on this computer. */
  readonly desktop: boolean;
  /** Newest first: the last hundred. */
  readonly deliveries: readonly MessageDelivery[];
}

/** A message that is shown on this computer, until it expires. */
export interface ShownMessage {
  readonly id: string;
  readonly channel: 'email' | 'sms';
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly code: string;
  /** Milliseconds since the epoch, by the vault's clock. */
  readonly at: number;
}

/** One check of a request's proof, and its result. */
export interface ProofStep {
  readonly check:
    | 'header'
    | 'encoding'
    | 'scheme'
    | 'publicKey'
    | 'body'
    | 'signature'
    | 'organization'
    | 'credential'
    | 'expiry'
    | 'time';
  /** `skipped` where what went wrong before leaves nothing to look at. */
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** For a person to read. */
  readonly text: string;
  /** A suggestion, if there is one. */
  readonly advice: string | null;
}

/** A request that came to the port, without its body. */
export interface SeenRequest {
  /** Counts from 1 since the service started. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Without what follows a question mark, and cut where it is long. */
  readonly path: string;
  /** The client's name for itself (`User-Agent`). */
  readonly client: string | null;
  /** The HTTP status; 0 for a client that was gone before it was answered. */
  readonly status: number;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly answerBytes: number;
  /** Whom its proof names. */
  readonly caller: {
    readonly organizationId: string;
    readonly userId: string;
    /** Null for a user who is gone. */
    readonly userName: string | null;
    readonly credentialId: string | null;
  } | null;
  /** The activity of a submit. */
  readonly activity: { readonly id: string; readonly type: string; readonly status: string } | null;
  readonly error: {
    /** As the API answers it: `turnkeyErrorCode`. */
    readonly code: string;
    readonly message: string;
    /** True if policies refused it: their evaluations are kept among the refusals. */
    readonly byPolicies: boolean;
  } | null;
  /** For a request whose proof did not hold: each thing that was looked at. Empty for all others. */
  readonly steps: readonly ProofStep[];
}

export interface SeenRequests {
  /** Newest first: those after the one that was asked for, as far as they are still known. */
  readonly requests: readonly SeenRequest[];
  /** Number of requests since the service started. */
  readonly total: number;
}

/** The vault's behavior on this computer. */
export interface Settings {
  readonly autoLock: {
    /**
     * Locks after so many minutes without a person; null for never. In a browser, without use of the window.
     */
    readonly idleMinutes: number | null;
    /** Counts a request of the owner's organization as use, if it changes something. Queries do not count. */
    readonly requestsKeepOpen: boolean;
    /** If the shell reports them: a browser reports neither. */
    readonly onScreenLock: boolean;
    readonly onSuspend: boolean;
  };
  /** The API's port; null for the default. A new one is used from the next start on. */
  readonly port: number | null;
  /**
   * Allows requests off this machine: mail, text messages, webhooks, issuers' keys, update checks. Loopback
   * is always allowed.
   */
  readonly network: boolean;
  /** The factor on the usual limits of users, keys, wallets and other resources of an organization. */
  readonly limits: number;
  /** Null where the shell cannot start with the session. */
  readonly startAtLogin: boolean | null;
  /** `ask` to check for updates and ask before installing; null if the shell does not update itself. */
  readonly updates: 'off' | 'ask' | null;
  /** Support by the desktop around the app; null if there is none. */
  readonly desktop: {
    /** True if it reports a locked screen. */
    readonly reportsLock: boolean;
    /** The shortcut that freezes from anywhere: the system gave it, another program has it, or the desktop does not say. */
    readonly freezeShortcut: 'bound' | 'taken' | 'unknown';
  } | null;
}

/** A program that the owner paired. Its user is the one who has the public key as an API key. */
export interface DoorProgram {
  readonly name: string;
  /** Compressed, hex. */
  readonly publicKey: string;
  readonly pairedAt: number;
  /** The address of the program's own socket or endpoint; null while the door is off, or where there can be none. */
  readonly socket: string | null;
  /** How many requests wait for the vault to be unlocked. */
  readonly waiting: number;
  /** When its user's key expires, in milliseconds; null for a key without an end, or one that is gone. */
  readonly expiresAt: number | null;
  /** In milliseconds; null for a key that was never used, or is gone. */
  readonly lastUsedAt: number | null;
}

export interface DoorStatus {
  readonly door: DoorName;
  readonly on: boolean;
  /** The reason why a door that is on lets nothing in. */
  readonly problem: string | null;
  readonly programs: readonly DoorProgram[];
  /** Of the Ethereum door: the owner's nodes. The rest of an address may be a secret. */
  readonly nodes: readonly DoorNode[];
}

export interface DoorNode {
  /** Digits. */
  readonly chainId: string;
  /** The chain's name, or its number where it has none here. */
  readonly chain: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** True where the node may be asked what a transaction would do. */
  readonly previews: boolean;
}

/** Names are of small letters, digits and hyphens. */
export type DoorsChange =
  | { readonly change: 'switch'; readonly door: DoorName; readonly on: boolean }
  | { readonly change: 'pair' | 'remove'; readonly door: DoorName; readonly name: string }
  /** The node of a chain; null removes it. */
  | {
      readonly change: 'node';
      readonly door: 'ethereum';
      readonly chainId: string;
      readonly url: string | null;
    }
  /** Previews by the node of a chain: it is asked what transactions would do. */
  | {
      readonly change: 'previews';
      readonly door: 'ethereum';
      readonly chainId: string;
      readonly on: boolean;
    };

export interface DoorsChanged {
  readonly doors: readonly DoorStatus[];
  /** Of a program that was paired with a door over HTTP: shown once. The vault keeps its hash alone. */
  readonly token: string | null;
}

/** Absent members stay as they are. */
export interface SettingsChange {
  readonly autoLock?: Partial<Settings['autoLock']>;
  readonly port?: number | null;
  readonly network?: boolean;
  readonly limits?: number;
  readonly startAtLogin?: boolean;
  readonly updates?: 'off' | 'ask';
}

/** The running version and its parts. */
export interface About {
  readonly version: string;
  /** The commit that it was built from; null where that is not known. */
  readonly commit: string | null;
  /** The version of the vault file's schema. */
  readonly schema: number;
  /** `linux x64`, for example. */
  readonly system: string;
  readonly runtime: readonly { readonly name: string; readonly version: string }[];
}

/** A package that is shipped. */
export interface Licence {
  readonly name: string;
  readonly version: string;
  /** SPDX, where its package says so. */
  readonly identifier: string | null;
  readonly text: string;
}

export interface SelfTestFinding {
  readonly check: string;
  /** A note is worth knowing and no failure. */
  readonly outcome: 'ok' | 'note' | 'failed';
  /** For a person to read. */
  readonly detail: string;
}

export interface ChooseOptions {
  /** Told how much of the file is there, where that takes time; in bytes. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Ends it, and leaves nothing of the file; the call then rejects. */
  readonly signal?: AbortSignal;
}

export interface CopyOptions {
  /** Takes it off the clipboard again after half a minute, where it is still there. */
  readonly secret?: boolean;
}

/**
 * A refused call rejects with an `Error` whose message a person can act on. An operation that fails does not reject: `call` answers its HTTP status and error body.
 */
export interface WindowRpc {
  status(): Promise<VaultStatus>;
  /** Asks the keychain again whether it can be used, which may make it ask for its own password. */
  probeKeychain(): Promise<VaultStatus>;
  /**
   * Generates 24 words (BIP-39, English) and keeps them in memory until they are used; each call generates
   * new ones.
   */
  newRecoveryPhrase(): Promise<{ readonly phrase: string }>;
  /** Creates the vault with the phrase that was generated last, and leaves it unlocked. */
  create(vault: CreateVault): Promise<VaultStatus>;
  /**
   * Puts the vault of a backup where there is none, checks it, and leaves it unlocked. How far it is, events tell.
   * @param wish The path of the file on the machine of the service, or what `chooseBackup` said; and a secret that opened
   * its vault then.
   */
  restore(wish: RestoreVault): Promise<VaultStatus>;
  unlock(how: UnlockWith): Promise<VaultStatus>;
  lock(): Promise<VaultStatus>;
  /**
   * Drops the keys, and lets nothing but a password or the recovery phrase open the vault again, also after a restart. What
   * waits for votes is rejected as it opens. Rejects where the disk notes nothing: the keys are gone all the same.
   */
  freeze(): Promise<VaultStatus>;
  /** Looks at every row of the unlocked vault. @returns what was changed outside Keyhearth, which also locks it. */
  checkRows(): Promise<readonly RowFinding[]>;
  /**
   * Runs one operation as the vault's owner.
   * @param path `/public/v1/query/list_wallets`, for example.
   * @param body The request body. `organizationId` is filled in unless it names a sub-organization, and so is
   * `timestampMs` for submits. An export is answered 403, with the code `ownerProofRequired`, unless `prove`
   * came just before it. So is adding or widening a way to sign in, unless `prove` did, or the vault was
   * created or opened with a secret.
   */
  call(path: string, body: object): Promise<CallAnswer>;
  /**
   * Asks for the step-up of a `call` before that call: for two minutes this very call needs none, and no other gains
   * by it. Answers 200, or 403 as `call` does.
   */
  reserveStepUp(path: string, body: object): Promise<CallAnswer>;
  /**
   * The state of the activity log, and how much of it is signed. With `sign`, its head is signed first if the
   * vault is unlocked.
   */
  logState(sign?: boolean): Promise<LogState>;
  /** Recomputes every hash of the activity log and verifies its signed heads. */
  checkLog(): Promise<LogCheck>;
  /** The activity log for export, part by part; the first is asked for without a range. */
  exportLog(range?: LogRange): Promise<LogPart>;
  /** The security timeline of the unlocked vault, newest first: the last 200 events of each kind. */
  securityEvents(): Promise<{ readonly events: readonly SecurityEvent[] }>;
  /** The ways to open the vault; also while it is locked. */
  keyslots(): Promise<Keyslots>;
  /** @returns the keyslots after it. */
  changeKeyslots(change: KeyslotChange): Promise<Keyslots>;
  /** Resolves where a phrase, or shares of it, open the vault; rejects where not. Nothing is shown and nothing opened. */
  checkRecovery(how: Extract<UnlockWith, { readonly with: 'recovery' | 'shares' }>): Promise<Keyslots>;
  recoverySheet(request: SheetRequest): Promise<readonly Sheet[]>;
  /** The addresses of a wallet before its import. The words are encrypted to the vault. Nothing is stored. */
  previewWallet(wish: WalletPreviewWish): Promise<WalletPreview>;
  /** The backups of the vault, when the next is due, and what the owner should know of them. */
  backups(): Promise<BackupsStatus>;
  backUp(wish: BackUp): Promise<BackupRecord>;
  /** The header of a backup at a path on the machine of the service. */
  lookAtBackup(file: string): Promise<UploadedBackup>;
  /**
   * Lets go of what `chooseBackup` brought, once it is not wanted. What was used is gone already; a path is left alone.
   */
  releaseBackup(file: string): Promise<void>;
  /** The path of a backup of the list on the machine of the service, and a name for a copy. */
  copyOfBackup(id: string): Promise<{ readonly file: string; readonly name: string }>;
  /** Tries a backup as a restore would, in memory, and compares it with the vault. */
  verifyBackup(wish: VerifyBackup): Promise<VerifiedBackup>;
  /** @param schedule Null for none. */
  scheduleBackups(
    schedule: { readonly directory: string; readonly hours: number } | null,
  ): Promise<BackupsStatus>;
  /** The channels for messages, and the outcomes of the last ones. */
  messages(): Promise<MessagesStatus>;
  changeMessages(change: MessageChannelChange): Promise<MessagesStatus>;
  /** Sends a message that says it is a test, now. @returns what took it. */
  testMessages(test: MessageTest): Promise<{ readonly note: string }>;
  /** Tries a message again at once that was not delivered yet. */
  retryMessage(id: string): Promise<MessagesStatus>;
  /** Messages that are shown on this computer instead of being sent; newest last. */
  shownMessages(): Promise<readonly ShownMessage[]>;
  /**
   * The last requests that came to the port. For half a minute after it was asked, an event tells of new ones.
   * @param after Only what came after the request of this id.
   */
  requests(after?: number): Promise<SeenRequests>;
  settings(): Promise<Settings>;
  /** Changes them, while the vault is unlocked. @returns all of them after it. */
  changeSettings(change: SettingsChange): Promise<Settings>;
  doors(): Promise<readonly DoorStatus[]>;
  /** Switches a door, or gives a program a key of its own, or takes that away; while the vault is unlocked. */
  changeDoors(change: DoorsChange): Promise<DoorsChanged>;
  /**
   * Proves that the owner is present: the next export, within two minutes, is allowed, and for five minutes
   * so is adding a way to sign in. Locking the vault ends it.
   * @returns the time at which exports end, in milliseconds since the epoch.
   */
  prove(how: ProveWith): Promise<{ readonly until: number }>;
  about(): Promise<About>;
  /** Of everything that is shipped; none where it runs from its sources. */
  licences(): Promise<readonly Licence[]>;
  /** Tries what the unlocked vault rests on: algorithms, rows, log, keychain, disk and clock. */
  selfTest(): Promise<readonly SelfTestFinding[]>;
  /** A text for who helps with a problem: versions, state, self-test and the end of the log, without names and keys. */
  diagnostics(): Promise<string>;
  /** Puts text on the clipboard; from Electron's main process where there is one. */
  copy(text: string, options?: CopyOptions): Promise<void>;
  /** Keeps the window out of screenshots and recordings while a secret is shown, where the shell can; else nothing. */
  protectContent(on: boolean): Promise<void>;
  /**
   * Registers a backup that the person chose or dropped here: by its path, or, from a browser, by its bytes.
   * A file that is not a whole backup is refused at once.
   */
  chooseBackup(file: File, options?: ChooseOptions): Promise<UploadedBackup>;
  /**
   * Hands the person a copy of a backup of the list, to be kept where they say.
   * @returns what it is called there; null where they thought better of it.
   */
  saveBackup(id: string): Promise<string | null>;
  /** @returns the function that stops listening. */
  onEvent(listener: (event: VaultEvent) => void): () => void;
}

/** The calls that the service answers. The window itself handles clipboard, screen and the person's own files. */
export type VaultRpc = Omit<WindowRpc, 'copy' | 'protectContent' | 'chooseBackup' | 'saveBackup'>;

/** The calls that cross to the service, by name: what either transport accepts, and nothing else. */
export const rpcCalls = [
  'status',
  'probeKeychain',
  'newRecoveryPhrase',
  'create',
  'restore',
  'unlock',
  'lock',
  'freeze',
  'checkRows',
  'call',
  'reserveStepUp',
  'logState',
  'checkLog',
  'exportLog',
  'securityEvents',
  'keyslots',
  'changeKeyslots',
  'checkRecovery',
  'recoverySheet',
  'previewWallet',
  'backups',
  'backUp',
  'lookAtBackup',
  'releaseBackup',
  'copyOfBackup',
  'verifyBackup',
  'scheduleBackups',
  'messages',
  'changeMessages',
  'testMessages',
  'retryMessage',
  'shownMessages',
  'requests',
  'settings',
  'changeSettings',
  'doors',
  'changeDoors',
  'prove',
  'about',
  'licences',
  'selfTest',
  'diagnostics',
] as const;
export type RpcCall = (typeof rpcCalls)[number];

/** Calls that only read. */
const reads: ReadonlySet<RpcCall> = new Set<RpcCall>([
  ...(['status', 'settings', 'doors', 'keyslots', 'backups', 'messages', 'shownMessages'] as const),
  ...(['logState', 'exportLog', 'securityEvents', 'requests', 'about', 'licences', 'diagnostics'] as const),
]);

/** @param path Its first argument. The API's queries read, and its other requests may change something. */
export const isRead = (call: RpcCall, path: unknown): boolean =>
  call === 'call' ? typeof path === 'string' && path.startsWith('/public/v1/query/') : reads.has(call);

/** IPC channel names. */
export const channels = {
  call: 'keyhearth:call',
  copy: 'keyhearth:copy',
  protect: 'keyhearth:protect',
  save: 'keyhearth:save',
  event: 'keyhearth:event',
} as const;

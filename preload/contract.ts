/**
 * The window's one door into the vault: a few calls and one event stream.
 *
 * Two transports carry it, and the renderer cannot tell them apart: IPC in Electron (`preload/index.ts`) and
 * HTTP with a session in a browser (`renderer/bridge.ts`). Everything a window does to resources goes through
 * `call`, which enters the service exactly where a script's request does, stamped with the owner's own key.
 */

/** What the vault can do right now: nothing is there yet, its keys are sealed, or its keys are in memory. */
export type VaultState = 'none' | 'locked' | 'unlocked';

/** What can open the master key. */
export type KeyslotKind = 'keychain' | 'password' | 'recovery';

/** Something in the vault's file that was changed outside Latchkey. */
export interface RowFinding {
  readonly table: string;
  /** The row's primary key; null where the finding is about the table, or about rows that are gone. */
  readonly row: string | null;
  /** For a person to read. */
  readonly problem: string;
}

export interface VaultStatus {
  readonly state: VaultState;
  readonly version: string;
  /** Base URL of the HTTP API, for example `http://127.0.0.1:7377`. */
  readonly url: string;
  /** The host name that passkeys are made for (WebAuthn's relying party id), `localhost` unless configured. */
  readonly rpId: string;
  /** The directory that holds the vault, or null for a vault in memory (`latchkey dev`). */
  readonly directory: string | null;
  /** Null until a vault is created. */
  readonly organization: { readonly id: string; readonly name: string } | null;
  /** The person the window acts for. */
  readonly owner: { readonly userId: string; readonly userName: string } | null;
  /** The keyslots of the vault; empty until a vault is created. */
  readonly keyslots: readonly KeyslotKind[];
  /** Whether the operating system's keychain can be used; the reason, for a person to read, where it cannot. */
  readonly keychain: { readonly available: true } | { readonly available: false; readonly reason: string };
  /** Public halves (hex, uncompressed P-256) of the keys that sign what the vault hands out. */
  readonly serverKeys: {
    readonly signer: string;
    readonly notarizer: string;
    readonly tlsFetcher: string;
  } | null;
  /** Why the vault is refused: what was found changed in its file, the first of it. Null while nothing is known. */
  readonly tampering: { readonly total: number; readonly findings: readonly RowFinding[] } | null;
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
  | { readonly with: 'recovery'; readonly phrase: string };

/** What the service answered: the HTTP status and the JSON body of the operation. */
export interface CallAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Something changed; the window asks again for what it shows. */
export type VaultEvent =
  | { readonly kind: 'status' }
  | { readonly kind: 'activity'; readonly id: string; readonly type: string; readonly status: string };

/**
 * A refused call rejects with an `Error` whose message a person can act on. An operation that fails does not reject: `call` answers its HTTP status and error body.
 */
export interface Bridge {
  status(): Promise<VaultStatus>;
  /** Draws 24 words (BIP-39, English) and keeps them in memory until `create`; each call draws anew. */
  newRecoveryPhrase(): Promise<{ readonly phrase: string }>;
  /** Creates the vault with the phrase drawn last, and leaves it unlocked. */
  create(vault: CreateVault): Promise<VaultStatus>;
  unlock(how: UnlockWith): Promise<VaultStatus>;
  lock(): Promise<VaultStatus>;
  /** Looks at every row of the unlocked vault. @returns what was changed outside Latchkey, which also locks it. */
  checkRows(): Promise<readonly RowFinding[]>;
  /**
   * Runs one operation as the vault's owner.
   * @param path `/public/v1/query/list_wallets`, for example.
   * @param body The request body without `organizationId` and, for submits, without `timestampMs`: both are filled in.
   */
  call(path: string, body: Readonly<Record<string, unknown>>): Promise<CallAnswer>;
  /** Puts text on the clipboard; from Electron's main process where there is one. */
  copy(text: string): Promise<void>;
  /** @returns the function that stops listening. */
  onEvent(listener: (event: VaultEvent) => void): () => void;
}

/** What of the bridge the service answers; the clipboard is the window's side's own. */
export type VaultBridge = Omit<Bridge, 'copy'>;

/** The calls that cross to the service, by name: what either transport accepts, and nothing else. */
export const bridgeCalls = [
  'status',
  'newRecoveryPhrase',
  'create',
  'unlock',
  'lock',
  'checkRows',
  'call',
] as const;
export type BridgeCall = (typeof bridgeCalls)[number];

/** IPC channel names. */
export const channels = { call: 'latchkey:call', copy: 'latchkey:copy', event: 'latchkey:event' } as const;

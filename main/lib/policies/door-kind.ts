/** The type of a row of the table of doors. */
import type { Budget, PolicyText, ProgramPolicy } from './spenders.ts';

/** A program that was paired, and the bounds that its owner chose. A door reads those that it `takes`. */
export interface PairedProgram {
  readonly userId: string;
  /** The tag of the private keys that the door offers; empty where it has none. */
  readonly tagId: string;
  /** Public keys of wallet accounts, in hex, compressed. */
  readonly accounts: readonly string[];
  /** Servers that may forward the agent, by the fingerprints of their keys. */
  readonly forwarders: readonly string[];
  /** Undefined for a program that sends no transactions. */
  readonly spending: Spending | undefined;
  /** The user whose approval its door's policies ask for; undefined where the program signs alone. */
  readonly approverId: string | undefined;
}

/** Bounds of the transactions that a program sends from a wallet. */
export interface Spending {
  readonly walletId: string;
  readonly chainIds: readonly bigint[];
  /** On all chains together. */
  readonly budget: Budget;
  /** Hex with `0x`; any address, and new contracts, where there is none. */
  readonly receivers: readonly string[];
  /** True if calls that move tokens, or let others move them, are allowed: no budget counts them. */
  readonly tokens: boolean;
}

/** A line to copy. */
export interface SetupLine {
  /** The key of its name in `words`. */
  readonly what: string;
  readonly text: string;
}

export interface ProgramToSetUp {
  readonly name: string;
  /** The path of its socket, or the URL of its endpoint. */
  readonly address: string;
  /** The token of a program that has an endpoint, or a word in its place once it was shown. */
  readonly token: string;
}

export interface DoorKind {
  /**
   * For people to read, and to be translated: the title, a sentence about the door, one about what its programs may do, one about
   * what waits for the approver, and the names of the lines of `setup`.
   */
  readonly words: Readonly<Record<string, string>> &
    Readonly<Record<'title' | 'about' | 'may' | 'asks', string>>;
  /** The path of the port at which its programs ask, each with a token; undefined where each has a socket. */
  readonly endpoint: string | undefined;
  /** The name of the tag of private keys that its programs are offered; undefined where tags choose none. */
  readonly keyTag: string | undefined;
  /** True where the owner sets nodes of chains for it. */
  readonly hasNodes: boolean;
  /** The curves of the keys that it can sign with. */
  readonly curves: readonly string[];
  /** The bounds that its owner may choose. */
  readonly takes: readonly Exclude<keyof PairedProgram, 'userId' | 'tagId' | 'approverId'>[];
  /**
   * The policies that bound a program: they allow what it is for, and deny all else. Undefined for a door whose programs have
   * bounds of another kind.
   */
  readonly policies: ((name: string, program: PairedProgram) => readonly ProgramPolicy[]) | undefined;
  /** The names of a program's policies begin with it and a colon. */
  readonly policyTitle: (name: string) => string;
  /** The screen of the window that adds a program; undefined where *Doors* does. */
  readonly screen: string | undefined;
  /** The command that adds a program. */
  readonly addedBy: string;
  /** Reads from a program's policies what `policies` wrote into them. `boundsOf` compares the rest. Undefined without `policies`. */
  readonly read: ((userId: string, policies: readonly PolicyText[]) => PairedProgram | undefined) | undefined;
  readonly setup: (program: ProgramToSetUp) => readonly SetupLine[];
}

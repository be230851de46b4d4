/** The type of a row of the table of doors. */
import type { BotPolicy, PolicyText } from './bots.ts';

/** A program that was paired, and the bounds that its owner chose. A door reads those that it `takes`. */
export interface PairedProgram {
  readonly userId: string;
  /** The tag of the private keys that the door offers; empty where it has none. */
  readonly tagId: string;
  /** Public keys of wallet accounts, in hex, compressed. */
  readonly accounts: readonly string[];
  /** Servers that may forward the agent, by the fingerprints of their keys. */
  readonly forwarders: readonly string[];
  /** The user who approves each signature; undefined where the program signs alone. */
  readonly approverId: string | undefined;
}

/** A line to copy. */
export interface SetupLine {
  /** The key of its name in `words`. */
  readonly what: string;
  readonly text: string;
}

export interface DoorKind {
  /**
   * For people to read, and to be translated: the title, a sentence about the door, one about what its programs may do, and
   * the names of the lines of `setup`.
   */
  readonly words: Readonly<Record<string, string>> & Readonly<Record<'title' | 'about' | 'may', string>>;
  /** The name of the tag of private keys that its programs are offered; undefined where tags choose none. */
  readonly keyTag: string | undefined;
  /** The curves of the keys that it can sign with. */
  readonly curves: readonly string[];
  /** The bounds that its owner may choose. */
  readonly takes: readonly Exclude<keyof PairedProgram, 'userId' | 'tagId' | 'approverId'>[];
  /**
   * The policies that bound a program: they allow what it is for, and deny all else. Undefined for a door whose programs have
   * bounds of another kind.
   */
  readonly policies: ((name: string, program: PairedProgram) => readonly BotPolicy[]) | undefined;
  /** The command that adds a program. */
  readonly addedBy: string;
  /** Reads from a program's policies what `policies` wrote into them. `boundsOf` compares the rest. Undefined without `policies`. */
  readonly read: ((userId: string, policies: readonly PolicyText[]) => PairedProgram | undefined) | undefined;
  /** @param program Its address is that of its socket, or the URL of its endpoint. */
  readonly setup: (program: { readonly name: string; readonly address: string }) => readonly SetupLine[];
}

/** A door of one protocol: how a program's socket is opened. */
import type { Program } from './program.ts';

/** Opens a program's socket. @throws ExplainedError where there can be none. */
export type OpenDoor = (program: Program, options: OpenOptions) => Promise<OpenSocket>;

export interface OpenOptions {
  /** The vault's directory. */
  readonly directory: string;
  readonly homeDirectory: string;
  readonly onFault: (error: unknown) => void;
}

export interface OpenSocket {
  readonly address: string;
  close(): Promise<void>;
}

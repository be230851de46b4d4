/** A door of one protocol: how a paired program is let in. */
import type { ProgramRequest } from '../http/door-routes.ts';
import type { Program } from './program.ts';

/** Lets a program in. @throws ExplainedError where it cannot be. */
export type OpenDoor = (program: Program, options: OpenOptions) => Promise<OpenProgram>;

export interface OpenOptions {
  /** The vault's directory. */
  readonly directory: string;
  readonly homeDirectory: string;
  /** Of the port: `http://127.0.0.1:7377`. */
  readonly url: string;
  readonly onFault: (error: unknown) => void;
}

export interface OpenProgram {
  /** The path of its socket, or the URL of its endpoint. */
  readonly address: string;
  /** Answers a request that brought its token; absent where it has a socket. */
  readonly answer?: (request: ProgramRequest) => Promise<void>;
  close(): Promise<void>;
}

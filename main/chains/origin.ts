/**
 * The door by which a program's request came, and what the door says of it. A session binding proves itself. All else is the
 * door's claim: the bytes that are signed do not say it.
 */
export interface Origin {
  /** `ssh`. */
  readonly door: string;
  /** The name under which the owner paired the program. */
  readonly program: string;
  /** Of SSH: what follows the name of `session-bind@openssh.com`, in the order of the connection, in hex. */
  readonly bindings?: readonly string[] | undefined;
  /** The server's name, where the user's known hosts have its key. */
  readonly host?: string | undefined;
  /** Of git: the directory's name, or the address of its remote; and the branch. */
  readonly repository?: string | undefined;
  readonly branch?: string | undefined;
}

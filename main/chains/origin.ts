/**
 * The door by which a program's request came, and what the door says of it. A session binding proves itself. All else is the
 * door's claim: the bytes that are signed do not say it.
 */
import { line, type Line, type Writer } from './description.ts';

export interface Origin {
  /** `ssh` or `ethereum`. */
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

/** The claims of the request: none of them is in the bytes, and any user of the API can make them. */
const claimsOf = (origin: Origin | undefined): readonly (readonly [string, string])[] =>
  [
    ['Host', origin?.host] as const,
    ['Repository', origin?.repository] as const,
    ['Branch', origin?.branch] as const,
  ].flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]));

/** For the end of a title, which stands alone in lists and notifications. */
export function claimsIn(origin: Origin | undefined, writer: Writer): string {
  const said = claimsOf(origin).map(([label, value]) => `${label.toLowerCase()} “${writer.text(value)}”`);
  return said.length === 0 ? '' : `; the request says ${said.join(', ')}`;
}

/** Lines for the end of a description. */
export function originLines(origin: Origin | undefined, writer: Writer): readonly Line[] {
  if (origin === undefined) return [];
  return [
    line(
      'Program, as the request says',
      `${writer.text(origin.program)}, through the door ${writer.text(origin.door)}`,
    ),
    ...claimsOf(origin).map(([label, value]) => line(`${label}, as the request says`, writer.text(value))),
  ];
}

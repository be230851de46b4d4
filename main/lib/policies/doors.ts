/**
 * The doors, one row each: the owner's words for it, the bounds of its programs as policies, and how a program is set up. The
 * command and the window read this table. `openers` in `main/doors/doors.ts` has the protocols.
 */
import type { DoorKind, PairedProgram } from './door-kind.ts';
import { ethereumDoor } from './ethereum-programs.ts';
import { mcpDoor } from './mcp-programs.ts';
import { areExactly, type PolicyText } from './spenders.ts';
import { sshDoor } from './ssh-programs.ts';

const kinds = { ssh: sshDoor, ethereum: ethereumDoor, mcp: mcpDoor } as const satisfies Readonly<
  Record<string, DoorKind>
>;

export type DoorName = keyof typeof kinds;
export const doorKinds: Readonly<Record<DoorName, DoorKind>> = kinds;
export const doorNames = Object.keys(kinds) as readonly DoorName[];

/**
 * The bounds of a program, as its policies say them to the letter.
 * @param policies Those of the program alone.
 * @returns undefined where one is gone, was changed, or stands beside them.
 */
export function boundsOf(
  { policies: write, read }: DoorKind,
  userId: string,
  policies: readonly PolicyText[],
): PairedProgram | undefined {
  const bounds = read?.(userId, policies);
  const wanted = bounds === undefined ? [] : (write?.('', bounds) ?? []);
  return areExactly(wanted, policies) ? bounds : undefined;
}

/** Answers the ids of the policies that name one program as their only submitter, its pause among them. */
export const policiesOfProgram = (userId: string, policies: readonly PolicyText[]): readonly string[] =>
  policies
    .filter(({ condition }) =>
      ['==', '!='].some((sign) => `${condition} `.startsWith(`submitter.id ${sign} '${userId}' `)),
    )
    .map(({ policyId }) => policyId);

/**
 * The doors, one row each: the owner's words for it, the bounds of its programs as policies, and how a program is set up. The
 * command and the window read this table. `openers` in `main/doors/doors.ts` has the protocols.
 */
import type { DoorKind } from './door-kind.ts';
import { sshDoor } from './ssh-programs.ts';

const kinds = { ssh: sshDoor } as const satisfies Readonly<Record<string, DoorKind>>;

export type DoorName = keyof typeof kinds;
export const doorKinds: Readonly<Record<DoorName, DoorKind>> = kinds;
export const doorNames = Object.keys(kinds) as readonly DoorName[];

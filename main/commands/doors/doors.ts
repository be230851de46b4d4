/** `keyhearth doors list`, `on` and `off`. */
import type { DoorStatus } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { quoted } from '../../lib/errors.ts';
import { doorKinds, type DoorName } from '../../lib/policies/doors.ts';
import { requireRunning, type Running } from '../shared/client.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { when } from '../backup/backup.ts';
import { dataDirectory } from '../vault/control.ts';

/** The service of this machine's vault. Doors are its own, so no other vault is asked. */
export const doorsOf = (config: Config): Promise<Running> => requireRunning(dataDirectory(config));

/** @param only All doors unless given. */
export async function listDoors(config: Config, json: boolean, only?: DoorName): Promise<void> {
  const all = await (await doorsOf(config)).call('doors');
  const doors = only === undefined ? all : all.filter(({ door }) => door === only);
  print(json, { doors }, doors.flatMap(linesOf).join('\n'));
}

function linesOf({ door, on, problem, programs }: DoorStatus): readonly string[] {
  return [
    `${door}: ${on ? 'on' : 'off'}. ${doorKinds[door].words.about}`,
    ...(problem === null ? [] : [`  Problem: ${problem}`]),
    ...(programs.length === 0 ? ['  No programs. Pair one with: keyhearth doors add NAME'] : []),
    ...programs.flatMap(({ name, socket, expiresAt, lastUsedAt, waiting }) => [
      `  ${name}  ${socket ?? 'no socket'}`,
      `    ${[
        expiresAt === null ? 'no end' : `${expiresAt <= Date.now() ? 'ended' : 'ends'} ${when(expiresAt)}`,
        lastUsedAt === null ? 'not used yet' : `last used ${when(lastUsedAt)}`,
        ...(waiting === 0 ? [] : [`${String(waiting)} waiting for the vault`]),
      ].join(', ')}`,
    ]),
  ];
}

export async function switchDoor(config: Config, door: DoorName, on: boolean, json: boolean): Promise<void> {
  const { doors } = await (await doorsOf(config)).call('changeDoors', { change: 'switch', door, on });
  print(json, { doors }, doors.flatMap(linesOf).join('\n'));
}

export const doorOf = (doors: readonly DoorStatus[], wanted: string): DoorStatus | undefined =>
  doors.find(({ door }) => door === wanted);

/** @param name Undefined for the only program of the door. */
export async function findProgram(
  config: Config,
  door: DoorName,
  name: string | undefined,
): Promise<{ readonly name: string; readonly socket: string | null; readonly publicKey: string }> {
  const doors = await (await doorsOf(config)).call('doors');
  const { on = false, programs = [] } = doorOf(doors, door) ?? {};
  const found = name === undefined ? programs : programs.filter((each) => each.name === name);
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) {
    throw new CommandError(
      exitCodes.failed,
      only === undefined
        ? `no program${name === undefined ? '' : ` ${quoted(name)}`} is paired with the door ${door}: pair one with \`keyhearth doors add ${name ?? 'NAME'} --door ${door}\``
        : `several programs are paired: expected --program with one of ${programs.map((each) => each.name).join(', ')}`,
    );
  }
  if (on) return only;
  throw new CommandError(
    exitCodes.failed,
    `the door ${door} is off: switch it on with \`keyhearth doors on ${door}\``,
  );
}

/** The declarations of `keyhearth doors`. */
import { Argument, Option, type Command } from 'commander';
import { doorNames, type DoorName } from '../../lib/policies/doors.ts';
import { ownerOptions, repeatable, withoutAsking } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { AddProgramOptions, RemoveProgramOptions } from './programs.ts';

const door = (): Argument => new Argument('<door>', 'The door').choices(doorNames);

export function declareDoors(program: Command): void {
  const doors = program
    .command('doors')
    .description('Let programs reach the vault by other protocols, such as SSH');
  addSubcommand(doors, {
    name: 'list',
    description: 'List the doors and their programs',
    run: async (config, { json }) => (await import('./doors.ts')).listDoors(config, json),
  });
  for (const [name, on] of [
    ['on', true],
    ['off', false],
  ] as const) {
    addSubcommand(doors, {
      name,
      description: `Switch a door ${name}`,
      operands: [door()],
      run: async (config, { json }, [wanted]) =>
        (await import('./doors.ts')).switchDoor(config, wanted as DoorName, on, json),
    });
  }
  addSubcommand<AddProgramOptions>(doors, {
    name: 'add <name>',
    description: 'Pair a program: a user, its policies and a key that the vault keeps',
    describes: { name: 'Name of the program and its user: small letters, digits and hyphens' },
    options: [
      new Option('--door <door>', 'The door').choices(doorNames).default('ssh'),
      repeatable('--account <public-key>', 'Public key of a wallet account to offer; Ed25519 or P-256'),
      repeatable('--forwarder <fingerprint>', 'Host key of a server that may forward the agent: SHA256:…'),
      new Option('--ask', 'Require the approval of the owner for each signature'),
      new Option('--expires <days>', 'Days until the program loses access; default: never'),
      ...ownerOptions(),
    ],
    run: async (config, flags, [name = '']) =>
      (await import('./programs.ts')).addProgram(config, name, flags),
  });
  addSubcommand<RemoveProgramOptions>(doors, {
    name: 'remove <name>',
    description: 'Revoke a program with its user, key and policies',
    describes: { name: 'Name of the program' },
    options: [
      new Option('--door <door>', 'The door; default: the one that has the program').choices(doorNames),
      withoutAsking(),
      ...ownerOptions(),
    ],
    run: async (config, flags, [name = '']) =>
      (await import('./programs.ts')).removeProgram(config, name, flags),
  });
}

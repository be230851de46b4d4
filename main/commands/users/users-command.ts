/** The declarations of `keyhearth users`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable, withoutAsking } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { CreateUserOptions } from './users.ts';

interface ApiFlags {
  readonly apiKey: string;
}

type DeleteFlags = ApiFlags & { readonly yes?: true };

export function declareUsers(program: Command): void {
  const users = program
    .command('users')
    .description('people and programs that may ask something of the vault, and their tags');
  addSubcommand<ApiFlags>(users, {
    name: 'list',
    description: 'list the users',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listUsers } = await import('./users.ts');
      await listUsers(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags>(users, {
    name: 'show <user>',
    description: 'show a user’s credentials and tags; named by id, how the id begins, or name',
    options: [apiKey()],
    run: async (config, flags, json, [user = '']) => {
      const { showUser } = await import('./users.ts');
      await showUser(config, user, { ...flags, json });
    },
  });
  addSubcommand<Omit<CreateUserOptions, 'json'>>(users, {
    name: 'create',
    description: 'create a user without a key: `keyhearth keygen --user` gives it one',
    options: [
      new Option('--name <name>', 'name of the new user').makeOptionMandatory(),
      new Option('--email <address>', 'mail address, by which the user can sign in'),
      new Option('--phone <number>', 'phone number, by which the user can sign in'),
      repeatable('--tag <tag>', 'tag of the new user, by id or name'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { createUser } = await import('./users.ts');
      await createUser(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags>(users, {
    name: 'rename <user> <name>',
    description: 'give a user another name',
    options: [apiKey()],
    run: async (config, flags, json, [user = '', name = '']) => {
      const { renameUser } = await import('./users.ts');
      await renameUser(config, user, name, { ...flags, json });
    },
  });
  addSubcommand<DeleteFlags>(users, {
    name: 'delete <users...>',
    description: 'delete users and their credentials, all or none',
    options: [withoutAsking(), apiKey()],
    run: async (config, { yes, ...flags }, json, named) => {
      const { deleteUsers } = await import('./users.ts');
      await deleteUsers(config, named, { ...flags, yes: yes === true, json });
    },
  });
  declareTags(users);
}

function declareTags(users: Command): void {
  const tags = users.command('tags').description('tags of users, of which policies speak');
  addSubcommand<ApiFlags>(tags, {
    name: 'list',
    description: 'list the tags, each with its users',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listTags } = await import('./tags.ts');
      await listTags(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags & { readonly user: readonly string[] }>(tags, {
    name: 'create <name>',
    description: 'create a tag',
    options: [repeatable('--user <user>', 'user who gets it'), apiKey()],
    run: async (config, flags, json, [name = '']) => {
      const { createTag } = await import('./tags.ts');
      await createTag(config, name, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags & { readonly add: readonly string[]; readonly remove: readonly string[] }>(tags, {
    name: 'change <tag>',
    description: 'rename a tag, give it to users and take it from users, all at once',
    options: [
      new Option('--name <name>', 'new name of the tag'),
      repeatable('--add <user>', 'user who gets it'),
      repeatable('--remove <user>', 'user who loses it'),
      apiKey(),
    ],
    run: async (config, flags, json, [tag = '']) => {
      const { changeTag } = await import('./tags.ts');
      await changeTag(config, tag, { ...flags, json });
    },
  });
  addSubcommand<DeleteFlags>(tags, {
    name: 'delete <tags...>',
    description: 'delete tags, all or none; the users stay',
    options: [withoutAsking(), apiKey()],
    run: async (config, { yes, ...flags }, json, named) => {
      const { deleteTags } = await import('./tags.ts');
      await deleteTags(config, named, { ...flags, yes: yes === true, json });
    },
  });
}

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
  const users = program.command('users').description('Manage users and their tags');
  addSubcommand<ApiFlags>(users, {
    name: 'list',
    description: 'List the users',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listUsers } = await import('./users.ts');
      await listUsers(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags>(users, {
    name: 'show <user>',
    description: 'Show the credentials and tags of a user',
    options: [apiKey()],
    run: async (config, flags, json, [user = '']) => {
      const { showUser } = await import('./users.ts');
      await showUser(config, user, { ...flags, json });
    },
  });
  addSubcommand<Omit<CreateUserOptions, 'json'>>(users, {
    name: 'create',
    description: 'Create a user; add an API key with `keyhearth keygen --user`',
    options: [
      new Option('--name <name>', 'Name of the user').makeOptionMandatory(),
      new Option('--email <address>', 'Email address for sign-in codes'),
      new Option('--phone <number>', 'Phone number for sign-in codes'),
      repeatable('--tag <tag>', 'Tag of the user: ID, start of the ID, or name'),
      apiKey(),
    ],
    run: async (config, flags, json) => {
      const { createUser } = await import('./users.ts');
      await createUser(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags>(users, {
    name: 'rename <user> <name>',
    description: 'Rename a user',
    describes: { name: 'New name' },
    options: [apiKey()],
    run: async (config, flags, json, [user = '', name = '']) => {
      const { renameUser } = await import('./users.ts');
      await renameUser(config, user, name, { ...flags, json });
    },
  });
  addSubcommand<DeleteFlags>(users, {
    name: 'delete <users...>',
    description: 'Delete users and their credentials, all or none',
    options: [withoutAsking(), apiKey()],
    run: async (config, { yes, ...flags }, json, named) => {
      const { deleteUsers } = await import('./users.ts');
      await deleteUsers(config, named, { ...flags, yes: yes === true, json });
    },
  });
  declareTags(users);
}

function declareTags(users: Command): void {
  const tags = users.command('tags').description('Manage user tags, which policies refer to');
  addSubcommand<ApiFlags>(tags, {
    name: 'list',
    description: 'List the tags and their users',
    options: [apiKey()],
    run: async (config, flags, json) => {
      const { listTags } = await import('./tags.ts');
      await listTags(config, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags & { readonly user: readonly string[] }>(tags, {
    name: 'create <name>',
    description: 'Create a tag',
    describes: { name: 'Name of the tag' },
    options: [repeatable('--user <user>', 'User to tag: ID, start of the ID, or name'), apiKey()],
    run: async (config, flags, json, [name = '']) => {
      const { createTag } = await import('./tags.ts');
      await createTag(config, name, { ...flags, json });
    },
  });
  addSubcommand<ApiFlags & { readonly add: readonly string[]; readonly remove: readonly string[] }>(tags, {
    name: 'change <tag>',
    description: 'Rename a tag, or change its users',
    options: [
      new Option('--name <name>', 'New name of the tag'),
      repeatable('--add <user>', 'User to add the tag to: ID, start of the ID, or name'),
      repeatable('--remove <user>', 'User to remove the tag from'),
      apiKey(),
    ],
    run: async (config, flags, json, [tag = '']) => {
      const { changeTag } = await import('./tags.ts');
      await changeTag(config, tag, { ...flags, json });
    },
  });
  addSubcommand<DeleteFlags>(tags, {
    name: 'delete <tags...>',
    description: 'Delete tags, all or none; their users stay',
    options: [withoutAsking(), apiKey()],
    run: async (config, { yes, ...flags }, json, named) => {
      const { deleteTags } = await import('./tags.ts');
      await deleteTags(config, named, { ...flags, yes: yes === true, json });
    },
  });
}

/** The declarations of `keyhearth users`. */
import { Option, type Command } from 'commander';
import { apiKey, repeatable, withoutAsking, type ApiOptions } from '../shared/options.ts';
import { addSubcommand } from '../shared/subcommand.ts';
import type { CreateUserOptions } from './users.ts';

type DeleteFlags = ApiOptions & { readonly yes?: boolean };

export function declareUsers(program: Command): void {
  const users = program.command('users').description('Manage users and their tags');
  addSubcommand<ApiOptions>(users, {
    name: 'list',
    description: 'List the users',
    options: [apiKey()],
    run: async (config, flags) => (await import('./users.ts')).listUsers(config, flags),
  });
  addSubcommand<ApiOptions>(users, {
    name: 'show <user>',
    description: 'Show the credentials and tags of a user',
    options: [apiKey()],
    run: async (config, flags, [user = '']) => (await import('./users.ts')).showUser(config, user, flags),
  });
  addSubcommand<CreateUserOptions>(users, {
    name: 'create',
    description: 'Create a user; add an API key with `keyhearth keygen --user`',
    options: [
      new Option('--name <name>', 'Name of the user').makeOptionMandatory(),
      new Option('--email <address>', 'Email address for sign-in codes'),
      new Option('--phone <number>', 'Phone number for sign-in codes'),
      repeatable('--tag <tag>', 'Tag of the user: ID, start of the ID, or name'),
      apiKey(),
    ],
    run: async (config, flags) => (await import('./users.ts')).createUser(config, flags),
  });
  addSubcommand<ApiOptions>(users, {
    name: 'rename <user> <name>',
    description: 'Rename a user',
    describes: { name: 'New name' },
    options: [apiKey()],
    run: async (config, flags, [user = '', name = '']) =>
      (await import('./users.ts')).renameUser(config, user, name, flags),
  });
  addSubcommand<DeleteFlags>(users, {
    name: 'delete <users...>',
    description: 'Delete users and their credentials, all or none',
    options: [withoutAsking(), apiKey()],
    run: async (config, flags, named) => (await import('./users.ts')).deleteUsers(config, named, flags),
  });
  declareTags(users);
}

function declareTags(users: Command): void {
  const tags = users.command('tags').description('Manage user tags, which policies refer to');
  addSubcommand<ApiOptions>(tags, {
    name: 'list',
    description: 'List the tags and their users',
    options: [apiKey()],
    run: async (config, flags) => (await import('./tags.ts')).listTags(config, flags),
  });
  addSubcommand<ApiOptions & { readonly user: readonly string[] }>(tags, {
    name: 'create <name>',
    description: 'Create a tag',
    describes: { name: 'Name of the tag' },
    options: [repeatable('--user <user>', 'User to tag: ID, start of the ID, or name'), apiKey()],
    run: async (config, flags, [name = '']) => (await import('./tags.ts')).createTag(config, name, flags),
  });
  addSubcommand<ApiOptions & { readonly add: readonly string[]; readonly remove: readonly string[] }>(tags, {
    name: 'change <tag>',
    description: 'Rename a tag, or change its users',
    options: [
      new Option('--name <name>', 'New name of the tag'),
      repeatable('--add <user>', 'User to add the tag to: ID, start of the ID, or name'),
      repeatable('--remove <user>', 'User to remove the tag from'),
      apiKey(),
    ],
    run: async (config, flags, [tag = '']) => (await import('./tags.ts')).changeTag(config, tag, flags),
  });
  addSubcommand<DeleteFlags>(tags, {
    name: 'delete <tags...>',
    description: 'Delete tags, all or none; their users stay',
    options: [withoutAsking(), apiKey()],
    run: async (config, flags, named) => (await import('./tags.ts')).deleteTags(config, named, flags),
  });
}

/** `keyhearth users`, `policies`, `private-keys`, `activities` and `docs` beside a served vault, and how they name things. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentationUrl } from '../../docs/page-urls.ts';
import { pages } from '../../docs/pages.ts';
import { findNamed } from '../../main/commands/shared/named.ts';
import {
  runCommand,
  startTestVault,
  temporaryDirectory,
  type Json,
  type TestVault,
} from '../support/support.ts';

let service: TestVault;
const papers = temporaryDirectory();

beforeAll(async () => {
  service = await startTestVault();
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, 'owner.public'), service.key.publicKey);
  writeFileSync(join(keysDirectory, 'owner.private'), service.key.privateKey, { mode: 0o600 });
});
afterAll(async () => {
  papers[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const run = (...argv: readonly string[]) =>
  runCommand(argv, {
    environment: {
      HOME: service.directory,
      KEYHEARTH_DATA_DIR: service.directory,
      KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
    },
  });

async function ask<T = Json>(...argv: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await run(...argv, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

// Another key's address as a private key's name would make `sign` sign with the wrong key.
test('no name passes for the address that signs', async () => {
  const victim = await ask<{ addresses: readonly { address: string }[] }>(
    ...['private-keys', 'create', '--name', 'Victim', '--curve', 'secp256k1', '--address-format', 'ethereum'],
  );
  const address = String(victim.addresses[0]?.address);
  await ask('private-keys', 'create', '--name', address, '--curve', 'p256');
  const payload = join(papers.path, 'named-as-address');
  writeFileSync(payload, '11'.repeat(32));
  const { v } = await ask<{ v: string }>(
    ...['sign', 'payload', payload, '--hash', 'none', '--yes', '--with', address],
  );
  // Of P-256 no signature has a recovery id.
  expect(['00', '01']).toContain(v);
});

// The class: a name, or the beginning of an id, that could come to mean another thing than the person meant.
describe('what is named', () => {
  const things = [
    { id: 'abcd0000-0000-4000-8000-000000000000', name: 'Ann' },
    { id: 'abce0000-0000-4000-8000-000000000000', name: 'abcd' },
    { id: 'bbbb0000-0000-4000-8000-000000000000', name: 'abce0000-0000-4000-8000-000000000000' },
    { id: 'cccc0000-0000-4000-8000-000000000000', name: 'Twin', otherId: 'feed01' },
    { id: 'dddd0000-0000-4000-8000-000000000000', name: 'Twin' },
  ];
  const find = (wanted: string): string => findNamed('user', wanted, things, (thing) => thing).id;

  test.each([
    ['a whole id', 'ABCD0000-0000-4000-8000-000000000000', 0],
    ['an id, whatever another is called', 'abce0000-0000-4000-8000-000000000000', 1],
    ['how one id begins', 'bbbb', 2],
    ['how one id begins, in capitals', 'CCCC0', 3],
    ['how another id of it begins', 'feed', 3],
    ['a name', 'Ann', 0],
  ])('is found by %s', (_, wanted, index) => {
    expect(find(wanted)).toBe(things[index]?.id);
  });

  test.each([
    [
      'a name that is how another id begins',
      'abcd',
      'ambiguous user "abcd": it could be abcd0000-0000-4000-8000-000000000000 ("Ann"), abce0000',
    ],
    ['a name of two', 'Twin', 'it could be cccc0000-0000-4000-8000-000000000000 ("Twin"), dddd0000'],
    ['too short a beginning', 'bbb', 'no user has the id or the name "bbb"'],
    ['another spelling of a name', 'ann', 'no user has the id or the name "ann"'],
    ['nothing', '', 'no user has the id or the name ""'],
  ])('is refused by %s', (_, wanted, message) => {
    expect(() => find(wanted)).toThrow(message);
  });
});

test('users are created, tagged, renamed and deleted', async () => {
  const { userId } = await ask<{ userId: string }>('users', 'create', '--name', 'Ann');
  const { tagId } = await ask<{ tagId: string }>('users', 'tags', 'create', 'traders', '--user', 'Ann');
  await ask('users', 'create', '--name', 'Ben', '--email', 'ben@example.com', '--tag', 'traders');
  await ask('users', 'rename', userId.slice(0, 8), 'Anna');
  expect(await ask('users', 'show', 'Anna')).toMatchObject({ userId, tags: [{ tagId, tagName: 'traders' }] });
  const changed = ['--add', 'Root', '--remove', 'Anna', '--name', 'desk'];
  await ask('users', 'tags', 'change', 'traders', ...changed);
  const { stdout } = await run('users', 'tags', 'list');
  expect(stdout).toMatch(new RegExp(`^ID +Name +Users\n${tagId} +desk +Root, Ben\n$`));
  const list = (await run('users', 'list')).stdout;
  expect(list).toMatch(new RegExp(`^${userId} +Anna +none$`, 'm'));
  expect(list).toMatch(/ Ben +email$/m);
  // All or none.
  expect((await run('users', 'delete', 'Anna', 'Nobody')).code).toBe(1);
  expect(await ask('users', 'delete', 'Anna', 'Ben')).toMatchObject({
    userIds: [userId, expect.any(String)],
  });
  // Each group has one of the three words, and takes the others.
  expect(await ask('users', 'tags', 'rm', 'desk')).toEqual({ tagIds: [tagId] });
  expect((await ask<{ users: Json[] }>('users', 'list')).users).toHaveLength(1);
  const root = await run('users', 'delete', 'Root');
  expect(root).toMatchObject({ code: 1, stderr: expect.stringContaining('root quorum') as string });
});

test('docs lists the pages with their addresses, and prints one by its path, its name or its title', async () => {
  const { pages: listed } = await ask<{ pages: readonly Json[] }>('docs');
  expect(listed).toEqual(pages.map((page) => ({ ...page, url: documentationUrl(service.url, page.path) })));
  const text = readFileSync(join(import.meta.dirname, '../../docs/reference/errors.md'), 'utf8');
  const page = pages.find(({ path }) => path === 'reference/errors');
  for (const name of ['reference/errors', 'errors', 'Error codes']) {
    expect(await ask('docs', name), name).toEqual({ ...page, text });
  }
  // Nothing that is typed here is a path of a file.
  for (const name of ['../package', '../../package.json', 'none']) {
    expect(await run('docs', name), name).toMatchObject({ code: 1, stdout: '' });
  }
});

test('policies are created from a file and from options, by the group’s new name and its old one', async () => {
  const file = join(papers.path, 'policies.json');
  const draft = { policyName: 'One', effect: 'EFFECT_DENY', condition: 'false', notes: 'why' };
  writeFileSync(file, JSON.stringify([draft, { ...draft, policyName: 'Two' }]));
  expect((await run('policy', 'check', file)).stdout).toMatch(/“One”: OK/);
  const { policies } = await ask<{ policies: { policyId: string }[] }>('policies', 'create', file);
  expect(policies).toHaveLength(2);
  const options = ['--effect', 'allow', '--condition', 'true', '--consensus', 'approvers.count() >= 2'];
  await ask('policies', 'create', '--name', 'Three', ...options);
  expect(await ask('policy', 'show', 'Three')).toMatchObject({
    effect: 'EFFECT_ALLOW',
    consensus: 'approvers.count() >= 2',
  });
  expect((await run('policies', 'show', 'One')).stdout).toMatch(
    /^Policy +One\nID +\S+\nEffect +deny\nCondition +false\nNotes +why\n$/,
  );
  expect((await run('policies', 'list')).stdout.trim().split('\n')).toHaveLength(4);
  const [one] = policies;
  await ask('policies', 'delete', String(one?.policyId), 'Two', 'Three');
  expect((await run('policies', 'list')).stdout).toBe(
    'No policies. Without one, only the root quorum may act. Create one with: keyhearth policies create FILE\n',
  );
});

test.each([
  [['secret', 'list'], 'No secrets. Store one with: keyhearth secret set NAME\n'],
  [['addresses', 'list'], 'No addresses have a name. Name one with: keyhearth addresses add NAME ADDRESS\n'],
  [
    ['sessions', 'profiles'],
    'No session profiles. Create one with: keyhearth sessions create-profile NAME --scope CONDITION\n',
  ],
])('%j says how to begin a list that is empty', async (argv, said) => {
  expect((await run(...argv)).stdout).toBe(said);
});

test.each([
  [['policies', 'create'], 2, 'expected a file of policies, or --name and --effect'],
  [['policies', 'create', 'x.json', '--name', 'One'], 2, 'expected either a file or --name'],
  [
    ['policies', 'create', '--name', 'One', '--effect', 'allow', '--condition', 'activity.typ'],
    1,
    'invalid policy condition: --condition: line 1, column 10',
  ],
  [
    ['addresses', 'remove', 'Nobody'],
    1,
    'no address has the name "Nobody": `keyhearth addresses list` lists all',
  ],
  [['users', 'tags', 'change', 'x'], 2, 'expected --name, --add or --remove'],
  [['private-keys', 'create', '--name', 'K', '--curve', 'rsa'], 2, 'invalid --curve: "rsa" is not a curve'],
  [['activities', 'list', '--limit', '0'], 2, 'invalid --limit "0"'],
  [['activities', 'list', '--status', 'done'], 2, 'invalid --status "done": expected one of created'],
  [['activities', 'show', 'ffffffff'], 1, 'no activity has the id "ffffffff"'],
])('%j ends with %i', async (argv, expected, message) => {
  const { code, stdout, stderr } = await run(...argv);
  expect({ code, stdout }, stderr).toEqual({ code: expected, stdout: '' });
  expect(stderr).toContain(message);
});

test('`ssh status` is about its door alone', async () => {
  expect((await run('ssh', 'status')).stdout).toMatch(/^ssh: off\. [^\n]+\n {2}No programs\.[^\n]+\n$/);
  expect((await ask<{ doors: readonly Json[] }>('ssh', 'status')).doors).toMatchObject([{ door: 'ssh' }]);
  expect((await ask<{ doors: readonly Json[] }>('doors', 'list')).doors.length).toBeGreaterThan(1);
});

test('private keys are created and shown, and the log tells of it', async () => {
  const options = ['--curve', 'secp256k1', '--address-format', 'ethereum'];
  const made = await ask<{ privateKeyId: string; addresses: readonly { address: string }[] }>(
    ...['private-keys', 'create', '--name', 'Deployer', ...options],
  );
  const { stdout } = await run('private-keys', 'show', made.privateKeyId.slice(0, 8));
  expect(stdout).toContain(`\nethereum  ${made.addresses[0]?.address ?? ''}\n`);
  expect((await run('private-keys', 'list')).stdout).toMatch(
    new RegExp(`^${made.privateKeyId} +Deployer +secp256k1$`, 'm'),
  );
  const filter = ['--type', 'create-private-keys-v2', '--status', 'completed', '--limit', '1'];
  const { activities } = await ask<{ activities: { activityId: string }[] }>('activities', 'list', ...filter);
  expect(activities).toMatchObject([
    { type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', askedBy: { userName: 'Root' } },
  ]);
  // The API's words and the window's.
  for (const status of ['consensus-needed', 'needs-approval', 'needs-a-passkey', 'in-progress', 'pending']) {
    expect(await ask('activities', 'list', '--status', status), status).toEqual({ activities: [] });
  }
  expect(await run('activities', 'list', '--type', 'create-walet')).toMatchObject({
    code: 0,
    stderr: 'No type of activities is known as "create-walet". Did you mean "create-wallet"?\n',
  });
  const id = String(activities[0]?.activityId);
  const shown = await run('activities', 'show', id.slice(0, 23));
  expect(shown.stdout).toMatch(new RegExp(`^Activity +${id}$`, 'm'));
  expect(shown.stdout).toContain('private key name: Deployer');
  // A key that signs, a user and an activity are named as everywhere.
  const payload = join(papers.path, 'digest');
  writeFileSync(payload, '11'.repeat(32));
  const signing = ['sign', 'payload', payload, '--hash', 'none', '--yes'];
  const { r } = await ask<{ r: string }>(...signing, '--with', 'Deployer');
  expect(r).toMatch(/^[0-9a-f]{64}$/);
  expect(await ask(...signing, '--with', made.privateKeyId.slice(0, 13))).toMatchObject({ r });
  const explained = await ask('policies', 'explain', id.slice(0, 23));
  expect(explained).toMatchObject({ outcome: 'OUTCOME_ALLOW' });
  const body = join(papers.path, 'body.json');
  const parameters = { userTagName: 'x', userIds: [] };
  writeFileSync(
    body,
    JSON.stringify({
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      organizationId: service.organizationId,
      timestampMs: String(Date.now()),
      parameters,
    }),
  );
  const asked = await ask('policies', 'explain', '--body', body, '--user', 'Root');
  expect(asked).toMatchObject({ outcome: 'OUTCOME_ALLOW' });
  // Ids begin with the time: those of one moment begin alike.
  const alike = await run('activities', 'show', id.slice(0, 6));
  expect(alike).toMatchObject({ code: 2, stderr: expect.stringContaining('ambiguous activity') as string });
});

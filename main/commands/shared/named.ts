/** Things of the vault as the command line names them: by an id, by how an id begins, or by a name. */
import { z } from 'zod';
import { quoted } from '../../lib/errors.ts';
import type { Api } from './api.ts';
import { CommandError, exitCodes } from './output.ts';
import { didYouMean } from './suggestions.ts';

/**
 * A resource that a user names by its id, the beginning of one, or its name; without a name, by the id alone.
 */
export interface Named {
  readonly id: string;
  readonly name?: string;
  /** Another id of the same thing: the fingerprint of an activity. */
  readonly otherId?: string;
}

/** Fewer characters of an id could come to begin another soon. */
const fewestCharacters = 4;

/** Resources that an error lists. */
const mostListed = 10;

/**
 * Finds what an operand or option names. An id names one thing, whatever the others are called. A name that is also how
 * another's id begins names neither.
 * @param noun What it is, for errors: `wallet`.
 * @param listedBy The command that lists them all, for an error that cannot.
 * @throws CommandError where nothing is named so, with what there is; and where several are, with those.
 */
export function findNamed<T>(
  noun: string,
  wanted: string,
  items: readonly T[],
  namesOf: (item: T) => Named,
  listedBy?: string,
): T {
  const exact = items.find((item) => idsOf(namesOf(item)).includes(wanted.toLowerCase()));
  if (exact !== undefined) return exact;
  const [only, ...others] = items.filter((item) => isNamed(wanted, namesOf(item)));
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    const found = [only, ...others];
    throw new CommandError(
      exitCodes.usage,
      `ambiguous ${noun} ${quoted(wanted)}: it could be ${listed(found.map(namesOf))}. Give the whole id`,
      { candidates: found.map(namesOf) },
    );
  }
  const are = items.length === 1 ? 'there is' : 'there are';
  const rest = items.length > mostListed && listedBy !== undefined ? `: \`${listedBy}\` lists all` : '';
  const known =
    items.length === 0 ? 'there is none' : `${are} ${listed(items.map(namesOf), nameFirst)}${rest}`;
  // An activity, for one, has no name.
  const has =
    items.length > 0 && items.every((item) => namesOf(item).name === undefined) ? 'id' : 'id or the name';
  const suggestion = didYouMean(
    wanted,
    items.flatMap((item) => namesOf(item).name ?? []),
  );
  throw new CommandError(
    exitCodes.failed,
    `no ${noun} has the ${has} ${quoted(wanted)}${items.length === 1 && suggestion !== '' ? '' : `: ${known}`}${suggestion}`,
  );
}

const idsOf = ({ id, otherId }: Named): readonly string[] => (otherId === undefined ? [id] : [id, otherId]);

const isNamed = (wanted: string, named: Named): boolean =>
  named.name === wanted || idsOf(named).some((id) => isBeginning(wanted, id));

/** @param id Of a thing, in small letters. */
export const isBeginning = (wanted: string, id: string): boolean =>
  wanted.length >= fewestCharacters && id.startsWith(wanted.toLowerCase());

/** True for a whole id, which may be absent from the list. */
export const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

const nameFirst = ({ id, name }: Named): string => (name === undefined ? id : quoted(name));

const both = ({ id, name }: Named): string => (name === undefined ? id : `${id} (${quoted(name)})`);

function listed(named: readonly Named[], say = both): string {
  const more = named.length > mostListed ? ` and ${String(named.length - mostListed)} more` : '';
  return `${named.slice(0, mostListed).map(say).join(', ')}${more}`;
}

/** A kind of things that the vault lists and that a user names. */
export class Listing<Item> {
  readonly #noun: string;
  readonly #listedBy: string | undefined;
  readonly all: (api: Api) => Promise<readonly Item[]>;
  readonly namesOf: (item: Item) => Named;

  /** @param noun For errors, as `listedBy` is: `wallet`, `keyhearth wallets list`. */
  constructor(
    noun: string,
    all: (api: Api) => Promise<readonly Item[]>,
    namesOf: (item: Item) => Named,
    listedBy?: string,
  ) {
    this.#noun = noun;
    this.#listedBy = listedBy;
    this.all = all;
    this.namesOf = namesOf;
  }

  /** @throws CommandError as `findNamed` does. */
  async find(api: Api, wanted: string): Promise<Item> {
    return findNamed(this.#noun, wanted, await this.all(api), this.namesOf, this.#listedBy);
  }

  /** Asks the vault once, and not at all where nothing is named. @returns the items in the same order. */
  async findEach(api: Api, wanted: readonly string[]): Promise<readonly Item[]> {
    if (wanted.length === 0) return [];
    const items = await this.all(api);
    return wanted.map((each) => findNamed(this.#noun, each, items, this.namesOf, this.#listedBy));
  }
}

const walletList = z.object({
  wallets: z.array(
    z.object({
      walletId: z.string(),
      walletName: z.string(),
      exported: z.boolean(),
      imported: z.boolean(),
    }),
  ),
});
export type WalletItem = z.output<typeof walletList>['wallets'][number];

const moment = z.object({ seconds: z.string(), nanos: z.string() });

const userList = z.object({
  users: z.array(
    z.object({
      userId: z.string(),
      userName: z.string(),
      userEmail: z.string().optional(),
      userPhoneNumber: z.string().optional(),
      apiKeys: z.array(
        z.object({
          apiKeyId: z.string(),
          apiKeyName: z.string(),
          credential: z.object({ publicKey: z.string() }),
          expirationSeconds: z.string().optional(),
        }),
      ),
      authenticators: z.array(z.object({ authenticatorId: z.string(), authenticatorName: z.string() })),
      oauthProviders: z.array(z.object({ providerId: z.string(), providerName: z.string() })),
      userTags: z.array(z.string()),
      createdAt: moment,
    }),
  ),
});
export type UserItem = z.output<typeof userList>['users'][number];

const tagList = z.object({
  userTags: z.array(z.object({ tagId: z.string(), tagName: z.string() })),
});
export type TagItem = z.output<typeof tagList>['userTags'][number];

const policyList = z.object({
  policies: z.array(
    z.object({
      policyId: z.string(),
      policyName: z.string(),
      effect: z.string(),
      condition: z.string(),
      consensus: z.string(),
      time: z.string().optional(),
      notes: z.string(),
    }),
  ),
});
export type PolicyItem = z.output<typeof policyList>['policies'][number];

const privateKeyList = z.object({
  privateKeys: z.array(
    z.object({
      privateKeyId: z.string(),
      privateKeyName: z.string(),
      curve: z.string(),
      publicKey: z.string(),
      addresses: z.array(z.object({ format: z.string(), address: z.string() })),
      exported: z.boolean(),
      imported: z.boolean(),
      privateKeyTags: z.array(z.string()),
    }),
  ),
});

export const listings = {
  wallet: new Listing(
    'wallet',
    async (api) => (await api.query('list_wallets', walletList, {})).wallets,
    ({ walletId: id, walletName: name }) => ({ id, name }),
    'keyhearth wallets list',
  ),
  privateKey: new Listing(
    'private key',
    async (api) => (await api.query('list_private_keys', privateKeyList, {})).privateKeys,
    ({ privateKeyId: id, privateKeyName: name }) => ({ id, name }),
    'keyhearth private-keys list',
  ),
  user: new Listing(
    'user',
    async (api) => (await api.query('list_users', userList, {})).users,
    ({ userId: id, userName: name }) => ({ id, name }),
    'keyhearth users list',
  ),
  tag: new Listing(
    'tag',
    async (api) => (await api.query('list_user_tags', tagList, {})).userTags,
    ({ tagId: id, tagName: name }) => ({ id, name }),
    'keyhearth users tags list',
  ),
  policy: new Listing(
    'policy',
    async (api) => (await api.query('list_policies', policyList, {})).policies,
    ({ policyId: id, policyName: name }) => ({ id, name }),
    'keyhearth policies list',
  ),
};

const found = z.object({ results: z.array(z.object({ kind: z.string(), id: z.string() })) });

/** As many as the search answers of a kind at most: more begin alike only where the beginning is of no use. */
const mostFound = 20;

/** @returns the id of the activity that is named by it, or by how it begins. The log may be too long to list. */
export async function findActivity(api: Api, wanted: string): Promise<string> {
  if (isId(wanted)) return wanted;
  const { results } = await api.query('search', found, { text: wanted, limit: mostFound });
  const activities = results.filter(({ kind, id }) => kind === 'ACTIVITY' && isBeginning(wanted, id));
  if (activities.length === 0) {
    throw new CommandError(
      exitCodes.failed,
      `no activity has the id ${quoted(wanted)}, or one that begins with it: \`keyhearth activities list\` names the newest`,
    );
  }
  return findNamed('activity', wanted, activities, ({ id }) => ({ id })).id;
}

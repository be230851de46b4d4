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
 * @throws CommandError where nothing is named so, with what there is; and where several are, with those.
 */
export function findNamed<T>(
  noun: string,
  wanted: string,
  items: readonly T[],
  namesOf: (item: T) => Named,
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
  const known = items.length === 0 ? 'there is none' : `${are} ${listed(items.map(namesOf), nameFirst)}`;
  const names = items.flatMap((item) => namesOf(item).name ?? []);
  throw new CommandError(
    exitCodes.failed,
    `no ${noun} has the id or the name ${quoted(wanted)}: ${known}${didYouMean(wanted, names)}`,
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

export const walletList = z.object({
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

export async function findWallet(api: Api, wanted: string): Promise<WalletItem> {
  const { wallets } = await api.query('list_wallets', walletList, {});
  return findNamed('wallet', wanted, wallets, ({ walletId, walletName }) => ({
    id: walletId,
    name: walletName,
  }));
}

const moment = z.object({ seconds: z.string(), nanos: z.string() });

export const userList = z.object({
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

export const userNames = ({ userId, userName }: UserItem): Named => ({ id: userId, name: userName });

export async function findUser(api: Api, wanted: string): Promise<UserItem> {
  const { users } = await api.query('list_users', userList, {});
  return findNamed('user', wanted, users, userNames);
}

export const tagList = z.object({
  userTags: z.array(z.object({ tagId: z.string(), tagName: z.string() })),
});
export type TagItem = z.output<typeof tagList>['userTags'][number];

/** @returns the tags that are named, in the same order. */
export async function findTags(api: Api, wanted: readonly string[]): Promise<readonly TagItem[]> {
  if (wanted.length === 0) return [];
  const { userTags } = await api.query('list_user_tags', tagList, {});
  return wanted.map((each) =>
    findNamed('tag', each, userTags, ({ tagId, tagName }) => ({ id: tagId, name: tagName })),
  );
}

export const policyList = z.object({
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

export async function findPolicy(api: Api, wanted: string): Promise<PolicyItem> {
  const { policies } = await api.query('list_policies', policyList, {});
  return findNamed('policy', wanted, policies, ({ policyId, policyName }) => ({
    id: policyId,
    name: policyName,
  }));
}

export const privateKeyList = z.object({
  privateKeys: z.array(
    z.object({
      privateKeyId: z.string(),
      privateKeyName: z.string(),
      curve: z.string(),
      publicKey: z.string(),
      addresses: z.array(z.object({ format: z.string(), address: z.string() })),
      exported: z.boolean(),
      imported: z.boolean(),
    }),
  ),
});
export type PrivateKeyItem = z.output<typeof privateKeyList>['privateKeys'][number];

export async function findPrivateKey(api: Api, wanted: string): Promise<PrivateKeyItem> {
  const { privateKeys } = await api.query('list_private_keys', privateKeyList, {});
  return findNamed('private key', wanted, privateKeys, ({ privateKeyId, privateKeyName }) => ({
    id: privateKeyId,
    name: privateKeyName,
  }));
}

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

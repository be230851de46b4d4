/**
 * The values that a shell offers at the Tab key: names and ids from the vault. No answer in time, a locked vault or no vault
 * offers nothing. Nothing is asked for, and no error is shown in the middle of a line.
 */
import { readdirSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { makeConfig, type Config, type ConfigOptions } from '../../app/config.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import type { Api } from '../shared/api.ts';
import { isBeginning, Listing, listings, type Named } from '../shared/named.ts';
import { connectAsOwner } from '../shared/owner-api.ts';
import { botListing } from '../bots/bots.ts';
import { secretListing } from '../secrets/secrets.ts';
import { endpointListing } from '../webhooks/webhooks.ts';
import type { OfferedKind } from './kinds.ts';

/** In milliseconds: a person waits for the shell meanwhile. */
const longest = 1000;

/** The options before the cursor that say which vault of this computer is asked, and as whom. */
const options = {
  '--data-dir': 'dataDir',
  '--config-dir': 'configDir',
  '--api-key': 'apiKey',
} as const satisfies Readonly<Record<string, keyof ConfigOptions>>;

/**
 * Options that name a vault elsewhere. A line with one offers nothing: the Tab key sends no stamped request to a server that
 * was pasted, since Enter was not pressed. A vault that the environment names is asked.
 */
const elsewhere = ['--url', '--organization-id', '--vault-file'];

const waiting = z.object({ activities: z.array(z.object({ id: z.string() })) });

/** The activities that wait for votes: the others are many, and rarely named. */
const waitingListing = new Listing(
  'activity',
  async (api) =>
    (
      await api.query('list_activities', waiting, {
        filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
        inParts: true,
        paginationOptions: { limit: '100' },
      })
    ).activities,
  ({ id }) => ({ id }),
);

const namesIn =
  <Item>({ all, namesOf }: Listing<Item>) =>
  async (api: Api): Promise<readonly Named[]> =>
    (await all(api)).map(namesOf);

const fromVault: Readonly<Record<Exclude<OfferedKind, 'key-name'>, (api: Api) => Promise<readonly Named[]>>> =
  {
    wallet: namesIn(listings.wallet),
    'private-key': namesIn(listings.privateKey),
    secret: namesIn(secretListing),
    user: namesIn(listings.user),
    tag: namesIn(listings.tag),
    policy: namesIn(listings.policy),
    bot: namesIn(botListing),
    endpoint: namesIn(endpointListing),
    activity: namesIn(waitingListing),
  };

/**
 * Prints the values of a kind, one on each line.
 * @param line The words before the cursor.
 */
export async function printValues(kind: OfferedKind, line: readonly string[]): Promise<void> {
  if (line.some(namesAnother)) return;
  const values = await Promise.race([valuesOf(kind, configOf(line)), pause(longest, [])]).catch(() => []);
  if (values.length > 0) writeSync(1, `${values.join('\n')}\n`);
  // oxlint-disable-next-line no-restricted-properties -- the shell waits, and a request may still be under way
  process.exit();
}

const namesAnother = (word: string): boolean =>
  elsewhere.some((option) => word === option || word.startsWith(`${option}=`));

async function valuesOf(kind: OfferedKind, config: Config): Promise<readonly string[]> {
  if (kind === 'key-name') {
    const files = readdirSync(config.keysDirectory);
    return files.flatMap((file) => /^(.+)\.private$/.exec(file)?.[1] ?? []).filter(isPlain);
  }
  const api = await connectAsOwner(config, {});
  const found = await fromVault[kind](api);
  return found.map((item) => wordOf(item, found));
}

/** The name where it names one thing and is shown as it is, else the id. */
function wordOf({ id, name }: Named, all: readonly Named[]): string {
  if (name === undefined || !isPlain(name)) return id;
  const isShared = all.some(
    (other) => other.id !== id && (other.name === name || isBeginning(name, other.id)),
  );
  return isShared ? id : name;
}

/** True for a name that a terminal shows as it is, on one line, so that a person can type it. */
const isPlain = (name: string): boolean =>
  name !== '' && visibleName(name) === name && !/[\n\r\t]/.test(name) && name.trim() === name;

function configOf(line: readonly string[]): Config {
  const given: Record<string, string> = {};
  line.forEach((word, index) => {
    const [flag = '', joined] = word.split(/=(.*)/s, 2);
    const option = Object.hasOwn(options, flag) ? options[flag as keyof typeof options] : undefined;
    const value = joined ?? line[index + 1];
    if (option !== undefined && value !== undefined) given[option] = value;
  });
  return makeConfig(given);
}

/**
 * Sentences about activities, in parts: plain words, and names. A name is always a part of its own, so no name can pass for
 * the words around it.
 */
import { z } from 'zod';
import type { Reader } from '../../storage/connection.ts';
import { getApiKeyRow } from '../../storage/tables/api-keys.ts';
import { getAuthenticatorRow } from '../../storage/tables/authenticators.ts';
import { getWebhookEndpoint } from '../../storage/tables/webhook-endpoints.ts';
import { getInterfaceRow } from '../../storage/tables/smart-contract-interfaces.ts';
import { getKnownAddressRow } from '../../storage/tables/known-addresses.ts';
import { getOauthProviderRow } from '../../storage/tables/oauth-providers.ts';
import { getPolicyRow, type PolicyRow } from '../../storage/tables/policies.ts';
import { getPrivateKeyRow } from '../../storage/tables/private-keys.ts';
import { getSecretRow } from '../../storage/tables/secrets.ts';
import { getTagRow, type TagType } from '../../storage/tables/tags.ts';
import { getUserRow } from '../../storage/tables/users.ts';
import { getWalletRow } from '../../storage/tables/wallets.ts';
import { countAccounts, findAccountByAddress, getAccountRow } from '../../storage/tables/wallet-accounts.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { findNamedKey } from '../signing/signers.ts';

export const namedKinds = [
  'WALLET',
  'WALLET_ACCOUNT',
  'PRIVATE_KEY',
  'SECRET',
  'USER',
  'CREDENTIAL',
  'POLICY',
  'TAG',
  'ADDRESS',
  'ENDPOINT',
  'ORGANIZATION',
  'OTHER',
] as const;
type NamedKind = (typeof namedKinds)[number];

export const shownPart = z
  .object({
    /** Plain words, or a name as it is now. */
    text: z.string(),
    /** The kind of thing that has the name. Absent for plain words. */
    kind: z.enum(namedKinds).optional(),
    /** Absent for a thing that does not exist yet. An account has its wallet's. */
    id: z.string().optional(),
    /** The address of an account. */
    address: z.string().optional(),
  })
  .meta({ id: 'SpokenPart' });

export interface Part {
  readonly text: string;
  readonly kind?: NamedKind;
  readonly id?: string;
  readonly address?: string;
}

type Piece = string | number | Part | readonly Part[];

/** A sentence of words and names. */
export function say(words: TemplateStringsArray, ...pieces: readonly Piece[]): readonly Part[] {
  const parts: Part[] = [];
  const add = (part: Part): void => {
    const before = parts.at(-1);
    if (part.text === '') return;
    if (part.kind === undefined && before !== undefined && before.kind === undefined) {
      parts[parts.length - 1] = { text: before.text + part.text };
    } else parts.push(part);
  };
  words.forEach((text, index) => {
    add({ text });
    const piece = pieces[index];
    if (piece === undefined) return;
    if (typeof piece === 'string' || typeof piece === 'number') add({ text: String(piece) });
    else if ('text' in piece) add(piece);
    else piece.forEach(add);
  });
  return parts;
}

/** Names that a sentence has; it counts the others. */
const mostNamed = 3;

/** `A`, `A and B`, `A, B, C and 4 more`. */
export function listOf(parts: readonly Part[]): readonly Part[] {
  const shown = parts.slice(0, mostNamed);
  const rest = parts.length - shown.length;
  return shown
    .flatMap((part, index) => {
      const isLast = index === shown.length - 1 && rest === 0;
      return index === 0 ? [part] : [{ text: isLast ? ' and ' : ', ' }, part];
    })
    .concat(rest === 0 ? [] : [{ text: ` and ${String(rest)} more` }]);
}

/** A thing that the request would make: it has a name, and no id yet. */
export const called = (kind: NamedKind, text: string): Part => ({ text, kind });

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${String(number)} ${number === 1 ? one : many}`;

/** The names of an organization's things, as they are now. */
export interface Names {
  readonly wallet: (id: string) => Part;
  /** Accounts of a wallet. */
  readonly accounts: (walletId: string) => number;
  readonly account: (address: string) => Part;
  readonly accountById: (id: string) => Part;
  readonly privateKey: (id: string) => Part;
  readonly secret: (id: string) => Part;
  readonly user: (id: string) => Part;
  readonly policy: (id: string) => Part;
  /** How it decides now; undefined for a deleted policy. */
  readonly policyRow: (id: string) => PolicyRow | undefined;
  readonly userTag: (id: string) => Part;
  readonly privateKeyTag: (id: string) => Part;
  readonly apiKey: (id: string) => Part;
  readonly authenticator: (id: string) => Part;
  readonly oauthProvider: (id: string) => Part;
  readonly knownAddress: (id: string) => Part;
  readonly endpoint: (id: string) => Part;
  readonly contractInterface: (id: string) => Part;
  /** Whatever has an id. */
  readonly anything: (id: string) => Part;
  /** The key that a signature is by. */
  readonly signer: (signWith: string) => Part;
}

export function namesOf(tx: Reader, organizationId: string): Names {
  const find =
    (
      kind: NamedKind,
      what: string,
      read: (tx: Reader, organizationId: string, id: string) => { readonly name: string } | undefined,
    ) =>
    (id: string): Part => {
      const row = read(tx, organizationId, id);
      return row === undefined ? { text: `a deleted or unknown ${what}` } : { text: row.name, kind, id };
    };
  const wallet = find('WALLET', 'wallet', getWalletRow);
  const privateKey = find('PRIVATE_KEY', 'private key', getPrivateKeyRow);
  const tag = (type: TagType) =>
    find('TAG', 'tag', (reader, organization, id) => getTagRow(reader, organization, type, id));
  const account = (row: ReturnType<typeof getAccountRow>): Part => {
    if (row === undefined) return { text: 'a deleted or unknown account' };
    const { walletId: id, address, name } = row;
    return { text: name ?? wallet(id).text, kind: 'WALLET_ACCOUNT', id, address };
  };
  const byId = {
    wallet,
    accountById: (id: string) => account(getAccountRow(tx, organizationId, id)),
    privateKey,
    secret: find('SECRET', 'secret', (reader, organization, id) => {
      const row = getSecretRow(reader, organization, id);
      return row && { name: row.name ?? row.id };
    }),
    user: find('USER', 'user', getUserRow),
    policy: find('POLICY', 'policy', getPolicyRow),
    userTag: tag('TAG_TYPE_USER'),
    privateKeyTag: tag('TAG_TYPE_PRIVATE_KEY'),
    apiKey: find('CREDENTIAL', 'API key', getApiKeyRow),
    authenticator: find('CREDENTIAL', 'passkey', getAuthenticatorRow),
    oauthProvider: find('CREDENTIAL', 'OAuth provider', getOauthProviderRow),
    knownAddress: find('ADDRESS', 'name', getKnownAddressRow),
    endpoint: find('ENDPOINT', 'webhook endpoint', (reader, organization, id) => {
      const row = getWebhookEndpoint(reader, id);
      return row?.organizationId === organization ? row : undefined;
    }),
    contractInterface: find('OTHER', 'contract interface', (reader, organization, id) => {
      const row = getInterfaceRow(reader, organization, id);
      return row && { name: row.label };
    }),
  };
  return {
    ...byId,
    policyRow: (id) => getPolicyRow(tx, organizationId, id),
    accounts: (walletId) => countAccounts(tx, walletId),
    account: (address) => account(findAccountByAddress(tx, organizationId, address)),
    anything: (id) =>
      Object.values(byId)
        .map((read) => read(id))
        .find(({ kind }) => kind !== undefined) ?? {
        text: 'something that was deleted, or has no name',
      },
    signer(signWith) {
      try {
        const named = findNamedKey(tx, organizationId, signWith);
        return named.kind === 'private key' ? privateKey(named.row.id) : account(named.row);
      } catch (error) {
        if (error instanceof KeyhearthError && error.code === 'NOT_FOUND')
          return { text: 'a key that the vault does not have' };
        throw error;
      }
    },
  };
}

/**
 * The objects of each kind of activity, and the effect of carrying it out, in a sentence each. They are made from the parameters
 * that the operation itself reads, and signatures from the chains' own reading: never from what a request says of itself.
 */
import type { z } from 'zod';
import type { ActivityOperation } from '../../activities/define.ts';
import type { createApiKeys, deleteApiKeys } from '../credentials/api-keys.ts';
import type { createAuthenticators, deleteAuthenticators } from '../credentials/authenticators.ts';
import type { createOauthProviders, deleteOauthProviders } from '../credentials/oauth-providers.ts';
import type { removeOrganizationFeature, setOrganizationFeature } from '../organizations/features.ts';
import type { updateOrganizationName, updateRootQuorum } from '../organizations/organizations.ts';
import type { createSubOrganization, deleteSubOrganization } from '../organizations/sub-organizations.ts';
import type * as grants from '../policies/grants.ts';
import type * as policies from '../policies/policies.ts';
import type * as privateKeys from '../private-keys/private-keys.ts';
import type * as secrets from '../secrets/secrets.ts';
import type { createSessionProfile } from '../sign-in/session-profiles.ts';
import type { createReadWriteSession, deleteSessions } from '../sign-in/sessions.ts';
import type { signRawPayload, signRawPayloads } from '../signing/signing.ts';
import type { signTransaction } from '../signing/transactions.ts';
import type * as contracts from '../signing/smart-contract-interfaces.ts';
import type * as tags from '../tags/tags.ts';
import type * as users from '../users/users.ts';
import type * as walletAccounts from '../wallets/wallet-accounts.ts';
import type * as walletLabels from '../wallets/wallet-labels.ts';
import type * as wallets from '../wallets/wallets.ts';
import type * as endpoints from '../webhooks/webhook-endpoints.ts';
import type * as addresses from '../addresses/known-addresses.ts';
import { called, count, listOf, say, type Names, type Part } from './spoken.ts';

export interface Spoken {
  /** For a list, under the title of the kind: the names of its objects. */
  readonly about: readonly Part[];
  /** One sentence. */
  readonly effect: readonly Part[];
}

/** The payloads of a signature: the title is the chain's, of its own reading. */
export interface Signed {
  /** Of the first payload. */
  readonly title: string;
  /** Number of payloads beside the first. */
  readonly more: number;
}

/** A signature that waits for votes: who asks for it, and what it signs. */
export interface Asked {
  readonly user: Part;
  readonly about: readonly Part[];
}

/** Sources of a sentence beside the names. */
export interface Reads {
  readonly signed: () => Signed;
  /** By the fingerprint of its request; undefined where the organization has no such signature. */
  readonly asked: (fingerprint: string) => Asked | undefined;
}

type Speak<Params> = (params: Params, names: Names, reads: Reads) => Spoken;

type ParamsOf<Operation> = Operation extends {
  readonly versions: readonly [{ readonly params: infer Schema extends z.ZodType }, ...unknown[]];
}
  ? z.output<Schema>
  : never;

/** One thing: the sentence has it between two texts. */
const one = (before: string, thing: Part, after: string): Spoken => ({
  about: [thing],
  effect: say`${before}${thing}${after}`,
});

const some = (before: string, things: readonly Part[], after: string): Spoken => ({
  about: listOf(things),
  effect: say`${before}${listOf(things)}${after}`,
});

/** A wallet that gets accounts: its rows in the log say how many. */
const withAccounts = (before: string, wallet: Part, got: string, accounts: number): Spoken => ({
  about: accounts === 0 ? [wallet] : say`${wallet}, ${count(accounts, 'account')}`,
  effect: say`${before}${wallet}${got} ${count(accounts, 'account')}.`,
});

const signature = (signWith: string, names: Names, { title, more }: Signed): Spoken => {
  const signer = names.signer(signWith);
  const others = more === 0 ? '' : `, and ${count(more, 'more payload')}`;
  return {
    about: say`${title}${others}, from ${signer}`,
    effect: say`The vault signs with ${signer}: ${title}${others}.`,
  };
};

const renamed = (thing: Part, name: string): Spoken => ({
  about: say`${thing} to ${called(thing.kind ?? 'OTHER', name)}`,
  effect: say`${thing} gets the name ${called(thing.kind ?? 'OTHER', name)}.`,
});

/** Several changes of one thing: none of them is left out. */
const joined = (changes: readonly (readonly Part[])[]): readonly Part[] =>
  changes.length === 0
    ? [{ text: 'stays as it is' }]
    : changes.flatMap((change, index) => (index === 0 ? change : [{ text: ', and ' }, ...change]));

/** A contact of a user: it takes one-time codes. */
const contactChange = (contact: string | undefined, what: string): readonly (readonly Part[])[] =>
  contact === undefined
    ? []
    : [
        contact === ''
          ? [{ text: `loses the ${what}` }]
          : say`gets one-time codes at ${called('OTHER', contact)}`,
      ];

const tagged = (
  tag: Part,
  name: string | undefined,
  added: readonly Part[],
  removed: readonly Part[],
): Spoken => {
  const changes = [
    ...(name === undefined ? [] : [say`gets the name ${called('TAG', name)}`]),
    ...(added.length === 0 ? [] : [say`is attached to ${listOf(added)}`]),
    ...(removed.length === 0 ? [] : [say`is detached from ${listOf(removed)}`]),
  ];
  return { about: [tag], effect: say`The tag ${tag} ${joined(changes)}.` };
};

interface PolicyText {
  readonly effect?: string | undefined;
  readonly condition?: string | undefined;
  readonly consensus?: string | undefined;
}

/** Says in short how a policy decides. The expressions are shown beside the sentence. */
const policyWords = ({ effect, condition = '', consensus = '' }: PolicyText): string => {
  // A blank expression always holds, as an empty one does.
  const which = condition.trim() === '' ? 'every request' : 'requests that match its condition';
  const does = effect === 'EFFECT_DENY' ? 'denies' : 'allows';
  if (consensus.trim() !== '') return `${does} ${which} when its consensus holds`;
  return `${does} ${which}${effect === 'EFFECT_DENY' ? '' : ' by any user'}`;
};

/** An allowing policy that leaves nothing to be decided. */
const decidesEverything = ({ effect, condition = '', consensus = '' }: PolicyText): boolean =>
  effect !== 'EFFECT_DENY' && condition.trim() === '' && consensus.trim() === '';

/** By the last part of the operation's path. */
const table = {
  create_wallet: (({ walletName, accounts }) =>
    withAccounts(
      'The vault creates the wallet ',
      called('WALLET', walletName),
      ', with',
      accounts.length,
    )) satisfies Speak<ParamsOf<typeof wallets.createWallet>>,
  import_wallet: (({ walletName, accounts }) =>
    withAccounts(
      'The vault keeps the imported words as the wallet ',
      called('WALLET', walletName),
      ', with',
      accounts.length,
    )) satisfies Speak<ParamsOf<typeof wallets.importWallet>>,
  init_import_wallet: (({ userId }, names) =>
    one('The user ', names.user(userId), ' may import a wallet.')) satisfies Speak<
    ParamsOf<typeof wallets.initImportWallet>
  >,
  update_wallet: (({ walletId, walletName }, names) =>
    walletName === undefined
      ? one('The wallet ', names.wallet(walletId), ' stays as it is.')
      : renamed(names.wallet(walletId), walletName)) satisfies Speak<ParamsOf<typeof wallets.updateWallet>>,
  update_wallet_labels: (({ walletId, tags, archived }, names) => ({
    about: [names.wallet(walletId)],
    effect: say`The wallet ${names.wallet(walletId)} ${
      tags === undefined
        ? 'keeps its tags'
        : tags.length === 0
          ? 'has no tags then'
          : say`has the tags ${listOf(tags.map((tag) => called('TAG', tag)))}`
    }${archived === undefined ? '' : archived ? ', and is archived' : ', and is not archived'}. It signs as before.`,
  })) satisfies Speak<ParamsOf<typeof walletLabels.updateWalletLabels>>,
  export_wallet: (({ walletId }, names) =>
    one(
      'The requester gets the words of the wallet ',
      names.wallet(walletId),
      `, which open its ${count(names.accounts(walletId), 'account')} for good.`,
    )) satisfies Speak<ParamsOf<typeof wallets.exportWallet>>,
  delete_wallets: (({ walletIds }, names) =>
    some(
      'The vault deletes ',
      walletIds.map(names.wallet),
      `, with ${count(
        walletIds.reduce((sum, id) => sum + names.accounts(id), 0),
        'account',
      )}, for good.`,
    )) satisfies Speak<ParamsOf<typeof wallets.deleteWallets>>,
  create_wallet_accounts: (({ walletId, accounts }, names) =>
    withAccounts('The wallet ', names.wallet(walletId), ' gets', accounts.length)) satisfies Speak<
    ParamsOf<typeof walletAccounts.createWalletAccounts>
  >,
  update_wallet_account_name: (({ walletAccountId, name }, names) =>
    name === ''
      ? one('The account ', names.accountById(walletAccountId), ' loses its name.')
      : renamed(names.accountById(walletAccountId), name)) satisfies Speak<
    ParamsOf<typeof walletAccounts.updateWalletAccountName>
  >,
  export_wallet_account: (({ address }, names) =>
    one(
      'The requester gets the private key of the account ',
      names.account(address),
      ', for good.',
    )) satisfies Speak<ParamsOf<typeof walletAccounts.exportWalletAccount>>,
  delete_wallet_accounts: (({ walletAccountIds }, names) =>
    some('The vault deletes the accounts ', walletAccountIds.map(names.accountById), '.')) satisfies Speak<
    ParamsOf<typeof walletAccounts.deleteWalletAccounts>
  >,
  create_private_keys: ((params) =>
    some(
      'The vault creates the private keys ',
      params.privateKeys.map(({ privateKeyName }) => called('PRIVATE_KEY', privateKeyName)),
      '.',
    )) satisfies Speak<ParamsOf<typeof privateKeys.createPrivateKeys>>,
  init_import_private_key: (({ userId }, names) =>
    one('The user ', names.user(userId), ' may import a private key.')) satisfies Speak<
    ParamsOf<typeof privateKeys.initImportPrivateKey>
  >,
  import_private_key: (({ privateKeyName }) =>
    one(
      'The vault keeps the imported private key as ',
      called('PRIVATE_KEY', privateKeyName),
      '.',
    )) satisfies Speak<ParamsOf<typeof privateKeys.importPrivateKey>>,
  export_private_key: (({ privateKeyId }, names) =>
    one(
      'The requester gets the private key ',
      names.privateKey(privateKeyId),
      ', for good.',
    )) satisfies Speak<ParamsOf<typeof privateKeys.exportPrivateKey>>,
  delete_private_keys: (({ privateKeyIds }, names) =>
    some(
      'The vault deletes the private keys ',
      privateKeyIds.map(names.privateKey),
      ' for good.',
    )) satisfies Speak<ParamsOf<typeof privateKeys.deletePrivateKeys>>,
  init_import_secrets: (({ numSecrets }) => ({
    about: say`${count(numSecrets, 'secret')}`,
    effect: say`The requester may add ${count(numSecrets, 'secret')}.`,
  })) satisfies Speak<ParamsOf<typeof secrets.initImportSecrets>>,
  import_secrets: ((params) =>
    some(
      'The vault keeps the secrets ',
      params.secrets.map(({ name = '' }) =>
        name === '' ? { text: 'one without a name' } : called('SECRET', name),
      ),
      '.',
    )) satisfies Speak<ParamsOf<typeof secrets.importSecrets>>,
  update_secret: (({ secretId }, names) =>
    one('The secret ', names.secret(secretId), ' gets another value.')) satisfies Speak<
    ParamsOf<typeof secrets.updateSecret>
  >,
  export_secrets: ((params, names) =>
    some(
      'The requester gets the secrets ',
      params.secrets.map(({ secretId }) => names.secret(secretId)),
      ', for good.',
    )) satisfies Speak<ParamsOf<typeof secrets.exportSecrets>>,
  delete_secrets: (({ secretIds }, names) =>
    some('The vault deletes the secrets ', secretIds.map(names.secret), ' for good.')) satisfies Speak<
    ParamsOf<typeof secrets.deleteSecrets>
  >,
  sign_transaction: (({ signWith }, names, { signed }) =>
    signature(signWith, names, signed())) satisfies Speak<ParamsOf<typeof signTransaction>>,
  sign_raw_payload: (({ signWith }, names, { signed }) =>
    signature(signWith, names, signed())) satisfies Speak<ParamsOf<typeof signRawPayload>>,
  sign_raw_payloads: (({ signWith }, names, { signed }) =>
    signature(signWith, names, signed())) satisfies Speak<ParamsOf<typeof signRawPayloads>>,
  create_session_profile: (({ sessionProfileName }) =>
    one(
      'Sessions with the profile ',
      called('OTHER', sessionProfileName),
      ' do only what its scope allows.',
    )) satisfies Speak<ParamsOf<typeof createSessionProfile>>,
  create_smart_contract_interface: (({ label }) =>
    one('The vault reads calls by the interface ', called('OTHER', label), '.')) satisfies Speak<
    ParamsOf<typeof contracts.createSmartContractInterface>
  >,
  delete_smart_contract_interface: (({ smartContractInterfaceId }, names) =>
    one(
      'The vault no longer reads calls by the interface ',
      names.contractInterface(smartContractInterfaceId),
      '.',
    )) satisfies Speak<ParamsOf<typeof contracts.deleteSmartContractInterface>>,
  create_grant: (({ fingerprint, span }, _names, { asked }) => {
    const time = span === 'TODAY' ? 'until midnight' : 'for ten minutes';
    const request = asked(fingerprint);
    return request === undefined
      ? { about: say`${time}`, effect: say`The vault has no such request, and allows nothing more.` }
      : {
          about: say`${request.user}, ${time}`,
          effect: say`The user ${request.user} may sign the like of this with the same key ${time}: ${request.about}. A lock ends this.`,
        };
  }) satisfies Speak<ParamsOf<typeof grants.createGrant>>,
  create_known_address: (({ name, address }) => ({
    about: say`${called('ADDRESS', name)} for ${address}`,
    effect: say`Descriptions show the name ${called('ADDRESS', name)} beside ${address}.`,
  })) satisfies Speak<ParamsOf<typeof addresses.createKnownAddress>>,
  delete_known_address: (({ knownAddressId }, names) =>
    one('Descriptions no longer show the name ', names.knownAddress(knownAddressId), '.')) satisfies Speak<
    ParamsOf<typeof addresses.deleteKnownAddress>
  >,
  create_users: ((params) =>
    some(
      'These users can send requests to the vault: ',
      params.users.map(({ userName }) => called('USER', userName)),
      '.',
    )) satisfies Speak<ParamsOf<typeof users.createUsers>>,
  create_api_only_users: ((params) =>
    some(
      'These users can send requests to the vault with API keys: ',
      params.apiOnlyUsers.map(({ userName }) => called('USER', userName)),
      '.',
    )) satisfies Speak<ParamsOf<typeof users.createApiOnlyUsers>>,
  update_user: (({ userId, userName, userEmail, userPhoneNumber, userTagIds }, names) => {
    const user = names.user(userId);
    const changes = [
      ...(userName === undefined ? [] : [say`gets the name ${called('USER', userName)}`]),
      ...contactChange(userEmail, 'email address'),
      ...contactChange(userPhoneNumber, 'phone number'),
      ...(userTagIds === undefined
        ? []
        : [
            userTagIds.length === 0
              ? say`has no tags then`
              : say`has the tags ${listOf(userTagIds.map(names.userTag))} alone`,
          ]),
    ];
    return {
      about: userName === undefined ? [user] : renamed(user, userName).about,
      effect: say`The user ${user} ${joined(changes)}.`,
    };
  }) satisfies Speak<ParamsOf<typeof users.updateUser>>,
  update_user_name: (({ userId, userName }, names) => renamed(names.user(userId), userName)) satisfies Speak<
    ParamsOf<typeof users.updateUserName>
  >,
  update_user_email: (({ userId, userEmail }, names) => ({
    about: [names.user(userId)],
    effect:
      userEmail === ''
        ? say`The user ${names.user(userId)} loses the email address.`
        : say`One-time codes of the user ${names.user(userId)} go to ${called('OTHER', userEmail)}.`,
  })) satisfies Speak<ParamsOf<typeof users.updateUserEmail>>,
  update_user_phone_number: (({ userId, userPhoneNumber }, names) => ({
    about: [names.user(userId)],
    effect:
      userPhoneNumber === ''
        ? say`The user ${names.user(userId)} loses the phone number.`
        : say`One-time codes of the user ${names.user(userId)} go to ${called('OTHER', userPhoneNumber)}.`,
  })) satisfies Speak<ParamsOf<typeof users.updateUserPhoneNumber>>,
  delete_users: (({ userIds }, names) =>
    some(
      'The vault deletes the users ',
      userIds.map(names.user),
      ' with their credentials.',
    )) satisfies Speak<ParamsOf<typeof users.deleteUsers>>,
  create_api_keys: ((params, names) => {
    const keys = params.apiKeys.map(({ apiKeyName }) => called('CREDENTIAL', apiKeyName));
    const user = names.user(params.userId);
    return {
      about: say`${listOf(keys)} for ${user}`,
      effect: say`Requests signed with ${listOf(keys)} act as the user ${user}.`,
    };
  }) satisfies Speak<ParamsOf<typeof createApiKeys>>,
  delete_api_keys: (({ userId, apiKeyIds }, names) => ({
    about: say`${listOf(apiKeyIds.map(names.apiKey))} of ${names.user(userId)}`,
    effect: say`Requests signed with ${listOf(apiKeyIds.map(names.apiKey))} no longer act as the user ${names.user(userId)}.`,
  })) satisfies Speak<ParamsOf<typeof deleteApiKeys>>,
  create_authenticators: ((params, names) => {
    const passkeys = params.authenticators.map(({ authenticatorName }) =>
      called('CREDENTIAL', authenticatorName),
    );
    const user = names.user(params.userId);
    return {
      about: say`${listOf(passkeys)} for ${user}`,
      effect: say`The passkeys ${listOf(passkeys)} act as the user ${user}.`,
    };
  }) satisfies Speak<ParamsOf<typeof createAuthenticators>>,
  delete_authenticators: (({ userId, authenticatorIds }, names) => ({
    about: say`${listOf(authenticatorIds.map(names.authenticator))} of ${names.user(userId)}`,
    effect: say`The passkeys ${listOf(authenticatorIds.map(names.authenticator))} no longer act as the user ${names.user(userId)}.`,
  })) satisfies Speak<ParamsOf<typeof deleteAuthenticators>>,
  create_oauth_providers: ((params, names) => ({
    about: [names.user(params.userId)],
    effect: say`ID tokens of ${listOf(params.oauthProviders.map(({ providerName }) => called('CREDENTIAL', providerName)))} sign in as the user ${names.user(params.userId)}.`,
  })) satisfies Speak<ParamsOf<typeof createOauthProviders>>,
  delete_oauth_providers: (({ userId, providerIds }, names) => ({
    about: say`${listOf(providerIds.map(names.oauthProvider))} of ${names.user(userId)}`,
    effect: say`ID tokens of ${listOf(providerIds.map(names.oauthProvider))} no longer sign in as the user ${names.user(userId)}.`,
  })) satisfies Speak<ParamsOf<typeof deleteOauthProviders>>,
  delete_sessions: (({ userId, sessionIds }, names) => ({
    about: say`${count(sessionIds.length, 'session')} of ${names.user(userId)}`,
    effect: say`The vault ends ${count(sessionIds.length, 'session')} of the user ${names.user(userId)}.`,
  })) satisfies Speak<ParamsOf<typeof deleteSessions>>,
  create_read_write_session: (({ userId, email, invalidateExisting }, names) => {
    const user =
      email === undefined ? (userId === undefined ? undefined : names.user(userId)) : called('OTHER', email);
    const ends = invalidateExisting === true ? ' Other sessions of the same kind end.' : '';
    return user === undefined
      ? { about: [], effect: say`The requester gets another session.${ends}` }
      : {
          about: [user],
          effect: say`The requester gets a session that acts as the user ${user}.${ends}`,
        };
  }) satisfies Speak<ParamsOf<typeof createReadWriteSession>>,
  create_user_tag: (({ userTagName, userIds }, names) => ({
    about: [called('TAG', userTagName)],
    effect: say`The vault creates the tag ${called('TAG', userTagName)} for ${userIds.length === 0 ? 'no user yet' : listOf(userIds.map(names.user))}.`,
  })) satisfies Speak<ParamsOf<typeof tags.createUserTag>>,
  create_private_key_tag: (({ privateKeyTagName, privateKeyIds }, names) => ({
    about: [called('TAG', privateKeyTagName)],
    effect: say`The vault creates the tag ${called('TAG', privateKeyTagName)} for ${privateKeyIds.length === 0 ? 'no private key yet' : listOf(privateKeyIds.map(names.privateKey))}.`,
  })) satisfies Speak<ParamsOf<typeof tags.createPrivateKeyTag>>,
  update_user_tag: (({ userTagId, newUserTagName, addUserIds, removeUserIds }, names) =>
    tagged(
      names.userTag(userTagId),
      newUserTagName,
      addUserIds.map(names.user),
      removeUserIds.map(names.user),
    )) satisfies Speak<ParamsOf<typeof tags.updateUserTag>>,
  update_private_key_tag: ((params, names) =>
    tagged(
      names.privateKeyTag(params.privateKeyTagId),
      params.newPrivateKeyTagName,
      params.addPrivateKeyIds.map(names.privateKey),
      params.removePrivateKeyIds.map(names.privateKey),
    )) satisfies Speak<ParamsOf<typeof tags.updatePrivateKeyTag>>,
  delete_user_tags: (({ userTagIds }, names) =>
    some('The vault deletes the tags ', userTagIds.map(names.userTag), '. The users stay.')) satisfies Speak<
    ParamsOf<typeof tags.deleteUserTags>
  >,
  delete_private_key_tags: (({ privateKeyTagIds }, names) =>
    some(
      'The vault deletes the tags ',
      privateKeyTagIds.map(names.privateKeyTag),
      '. The private keys stay.',
    )) satisfies Speak<ParamsOf<typeof tags.deletePrivateKeyTags>>,
  create_sub_organization: (({ subOrganizationName, rootUsers }) => ({
    about: [called('ORGANIZATION', subOrganizationName)],
    effect: say`The vault creates the sub-organization ${called('ORGANIZATION', subOrganizationName)} for ${listOf(rootUsers.map(({ userName }) => called('USER', userName)))} alone.`,
  })) satisfies Speak<ParamsOf<typeof createSubOrganization>>,
  delete_sub_organization: (({ deleteWithoutExport }) => ({
    about: [],
    effect: say`The vault deletes this sub-organization, with all users, wallets and private keys${deleteWithoutExport === true ? ', also those that were never exported' : ''}, for good.`,
  })) satisfies Speak<ParamsOf<typeof deleteSubOrganization>>,
  update_organization_name: (({ organizationName }) =>
    one('The organization gets the name ', called('ORGANIZATION', organizationName), '.')) satisfies Speak<
    ParamsOf<typeof updateOrganizationName>
  >,
  update_root_quorum: (({ threshold, userIds }, names) => ({
    about: listOf(userIds.map(names.user)),
    effect: say`${threshold} of ${listOf(userIds.map(names.user))} can do everything, whatever policies say.`,
  })) satisfies Speak<ParamsOf<typeof updateRootQuorum>>,
  set_organization_feature: (({ name }) =>
    one('The vault sets the feature ', called('OTHER', name), '.')) satisfies Speak<
    ParamsOf<typeof setOrganizationFeature>
  >,
  remove_organization_feature: (({ name }) =>
    one('The vault removes the feature ', called('OTHER', name), '.')) satisfies Speak<
    ParamsOf<typeof removeOrganizationFeature>
  >,
  create_policy: (({ policyName, ...policy }) =>
    one(
      'From then on, the policy ',
      called('POLICY', policyName),
      ` ${policyWords(policy)}.`,
    )) satisfies Speak<ParamsOf<typeof policies.createPolicy>>,
  create_policies: ((params) => {
    const named = ({ policyName }: { readonly policyName: string }) => called('POLICY', policyName);
    const wide = params.policies.filter(decidesEverything);
    return {
      about: listOf(params.policies.map(named)),
      effect: say`From then on, these policies decide requests: ${listOf(params.policies.map(named))}.${
        wide.length === 0 ? '' : say` Every request by any user is allowed by ${listOf(wide.map(named))}.`
      }`,
    };
  }) satisfies Speak<ParamsOf<typeof policies.createPolicies>>,
  update_policy: ((change, names) => {
    const policy = names.policy(change.policyId);
    const row = names.policyRow(change.policyId);
    const { policyName, policyEffect, policyCondition, policyConsensus, time } = change;
    const isDecision = [policyEffect, policyCondition, policyConsensus, time].some(
      (text) => text !== undefined,
    );
    const decides = isDecision
      ? policyWords({
          effect: policyEffect ?? row?.effect,
          condition: policyCondition ?? row?.condition,
          consensus: policyConsensus ?? row?.consensus,
        })
      : 'decides as before';
    return {
      about: [policy],
      effect: say`From then on, the policy ${policy} ${decides}${
        policyName === undefined ? '' : say`, and has the name ${called('POLICY', policyName)}`
      }.`,
    };
  }) satisfies Speak<ParamsOf<typeof policies.updatePolicy>>,
  delete_policy: (({ policyId }, names) =>
    one('The policy ', names.policy(policyId), ' decides no more requests.')) satisfies Speak<
    ParamsOf<typeof policies.deletePolicy>
  >,
  delete_policies: (({ policyIds }, names) =>
    some('These policies decide no more requests: ', policyIds.map(names.policy), '.')) satisfies Speak<
    ParamsOf<typeof policies.deletePolicies>
  >,
  create_webhook_endpoint: (({ name, url }) => ({
    about: [called('ENDPOINT', name)],
    effect: say`The vault sends events to ${called('ENDPOINT', name)} at ${called('OTHER', url)}.`,
  })) satisfies Speak<ParamsOf<typeof endpoints.createWebhookEndpoint>>,
  update_webhook_endpoint: (({ endpointId }, names) =>
    one('The webhook endpoint ', names.endpoint(endpointId), ' changes.')) satisfies Speak<
    ParamsOf<typeof endpoints.updateWebhookEndpoint>
  >,
  delete_webhook_endpoint: (({ endpointId }, names) =>
    one('The vault sends no more events to ', names.endpoint(endpointId), '.')) satisfies Speak<
    ParamsOf<typeof endpoints.deleteWebhookEndpoint>
  >,
};

/** The kinds that have sentences of their own, by the last part of their paths. */
export const spokenPaths: readonly string[] = Object.keys(table);

const bySpeaker: Readonly<Record<string, Speak<never> | undefined>> = table;

/** @param params As the operation reads them. @returns undefined for an operation without sentences: signing in, for example. */
export function speak(
  { path }: Pick<ActivityOperation, 'path'>,
  params: unknown,
  names: Names,
  reads: Reads,
): Spoken | undefined {
  // The registry pairs a path with the schema that its row is typed by.
  return bySpeaker[path]?.(params as never, names, reads);
}

/**
 * Facts that each field of a policy may use. Names and types are the vendor's, from its public description of
 * the language. `submitter` and `signing_key` are ours, and so are the fields with a comment that says so.
 */
import { chainKeywords } from './chain-keywords.ts';
import {
  address,
  bool,
  caseless,
  dynamic,
  int,
  list,
  map,
  optionalText,
  struct,
  text,
  timestamp,
  versioned,
  type Fact,
  type Type,
  type Unknown,
} from './types.ts';

/** The fields of a policy that hold an expression. */
export type PolicyField = 'condition' | 'consensus' | 'time';

const user = struct('User', { id: text, tags: list(text), email: optionalText, alias: optionalText });

const credential = struct('Credential', {
  id: text,
  user_id: text,
  type: text,
  credential_id: optionalText,
  public_key: optionalText,
});

/** Each is there for some types of activity alone. */
const params = struct('ActivityParams', {
  hash_function: text,
  encoding: text,
  type: text,
  user_ids: list(text),
  user_id: text,
  /** Ours: the tags that new users are given. */
  user_tags: list(text),
  api_key_ids: list(text),
  target_public_key: text,
  wallet_id: text,
  otp_length: int,
  session_profile_id: text,
  endpoint_id: text,
  sign_with: text,
  signatures: dynamic,
  transfer: dynamic,
  claim: dynamic,
  lightning_receive: dynamic,
});

const activity = struct('Activity', {
  /** The newest of its operation's types, and the same as any of them. */
  type: versioned,
  kind: text,
  resource: text,
  action: text,
  params,
  /** Ours: how many signatures it gives; of activities that sign alone. */
  signatures: int,
});

/** The key that signs, whichever of its names or addresses the request calls it by. */
const signingKey = struct('SigningKey', { public_key: caseless, curve: text });

const wallet = struct('Wallet', { id: text, imported: bool, exported: bool, label: optionalText });

const privateKey = struct('PrivateKey', {
  id: text,
  tags: list(text),
  imported: bool,
  exported: bool,
  label: optionalText,
});

const walletAccount = struct('WalletAccount', {
  address: address('account'),
  path_indexes: list(int),
  path_hardened: list(bool),
});

const condition = {
  activity,
  wallet,
  wallets: list(wallet),
  private_key: privateKey,
  wallet_account: walletAccount,
  signing_key: signingKey,
  submitter: user,
  ...chainKeywords,
  /** Ours, as is its name; a secret that is being imported has no id yet. */
  'secret.id': text,
  'secret.name': optionalText,
  'secret.static_properties': map(text),
} as const;

const consensus = { approvers: list(user), credentials: list(credential) } as const;

const time = { 'time.now': timestamp } as const;

/** By field of a policy, the keywords and what each is. A keyword with a dot is one name: `eth` alone is nothing. */
export const keywords: Readonly<Record<PolicyField, Readonly<Record<string, Type>>>> = {
  condition,
  consensus,
  time,
};

/**
 * An activity's facts for conditions: by keyword, a function that answers the fact, or undefined if the
 * activity does not have it. It is called when a policy first needs it, once a decision, and its errors
 * propagate.
 *
 * Numbers are exact: a bigint if a number might not be. `to` is '' in a transaction without a receiver.
 * Ethereum's hexadecimal has its `0x`.
 */
export type ConditionFacts = {
  readonly [Keyword in Exclude<keyof typeof condition, 'submitter'>]?: () =>
    | Fact<(typeof condition)[Keyword]>
    | Unknown
    | undefined;
};

export type UserFact = Fact<typeof user>;
export type CredentialFact = Fact<typeof credential>;

/** What the description of the API says in words: a sentence for each operation, under the resource that it is about. */

export interface ResourceText {
  readonly name: string;
  readonly about: string;
  /** By the last part of the path. */
  readonly operations: Readonly<Record<string, string>>;
}

export const resourceTexts: readonly ResourceText[] = [
  {
    name: 'Organization',
    about: 'The organization whose vault this is, and what it has switched on.',
    operations: {
      whoami: 'Tells whose key stamped the request, and in which organization.',
      get_organization: 'Shows the organization with everything in it.',
      search: 'Finds what has a text in its name, or an id, an address or a key that begins with it.',
      get_organization_configs: 'Shows the features of the organization, and its quorum of root users.',
      update_organization_name: 'Gives the organization another name.',
      set_organization_feature: 'Switches a feature on, or gives it another value.',
      remove_organization_feature: 'Switches a feature off.',
      update_root_quorum: 'Says whose votes make the root quorum, and how many of them it takes.',
    },
  },
  {
    name: 'Sub-organizations',
    about:
      'Organizations of their own under the vault’s: their users alone act in them, the parent’s users read.',
    operations: {
      create_sub_organization: 'Makes a sub-organization with its root users and, if asked, a wallet.',
      list_suborgs: 'Lists the sub-organizations, or those that have a name, a user or a credential.',
      list_verified_suborgs: 'Lists those with a user who has proven an email address or a phone number.',
      delete_sub_organization: 'Deletes the sub-organization that the request names, with all that it holds.',
    },
  },
  {
    name: 'Webhooks',
    about: 'Every activity, sent to URLs as it comes about, signed; and what became of that.',
    operations: {
      create_webhook_endpoint: 'Has events sent to a URL from now on.',
      list_webhook_endpoints: 'Lists where events are sent.',
      update_webhook_endpoint: 'Gives an endpoint another URL or name, or switches it off or on.',
      delete_webhook_endpoint: 'Has no more events sent to an endpoint.',
      test_webhook_endpoint: 'Sends this very activity to one endpoint, whatever it has subscribed to.',
      list_webhook_deliveries: 'Lists what became of events on their way, newest first.',
      get_webhook_delivery: 'Shows one delivery, and what it brings.',
      replay_webhook_deliveries: 'Sends one event again, or all since a time.',
    },
  },
  {
    name: 'Users',
    about: 'People and programs that may ask something of the vault.',
    operations: {
      create_users: 'Makes users, with the credentials that they sign in with.',
      list_users: 'Lists all users.',
      get_user: 'Shows one user.',
      update_user: 'Changes what is given of a user’s name, contact data and tags, and leaves the rest.',
      update_user_name: 'Gives a user another name.',
      update_user_email: 'Sets a user’s email address; an empty one removes it.',
      update_user_phone_number: 'Sets a user’s phone number; an empty one removes it.',
      delete_users: 'Deletes users and their credentials; a member of the root quorum stays.',
    },
  },
  {
    name: 'API keys',
    about: 'Keys that stamp requests for a user.',
    operations: {
      create_api_keys: 'Registers the public halves of API keys for a user.',
      get_api_key: 'Shows one API key.',
      get_api_keys: 'Lists the API keys of a user, or of everybody.',
      delete_api_keys: 'Deletes API keys of a user, who keeps at least one way in.',
    },
  },
  {
    name: 'Authenticators',
    about: 'Passkeys that stamp requests for a user.',
    operations: {
      create_authenticators: 'Registers passkeys for a user, each with the attestation of its making.',
      get_authenticator: 'Shows one passkey.',
      get_authenticators: 'Lists the passkeys of a user.',
      delete_authenticators: 'Deletes passkeys of a user, who keeps at least one way in.',
    },
  },
  {
    name: 'Sign-in',
    about: 'Short-lived API keys for users who prove who they are.',
    operations: {
      oauth:
        'Signs a user in by an OpenID Connect token, with an API key encrypted to the client (beta). The token’s `nonce` (or `tknonce`) is the SHA-256, in lower-case hex, of the text of `targetPublicKey`.',
      oauth_login:
        'Signs a user in by an OpenID Connect token, with a key of the client’s own. The token’s `nonce` (or `tknonce`) is the SHA-256, in lower-case hex, of the text of `publicKey`.',
      create_oauth_providers:
        'Adds OpenID Connect identities to a user, proven by tokens or named by claims.',
      delete_oauth_providers: 'Deletes OpenID Connect identities of a user, who keeps at least one way in.',
      get_oauth_providers: 'Lists the OpenID Connect identities of a user.',
      init_otp_auth: 'Sends a user a one-time code that signs in with `otp_auth`.',
      otp_auth: 'Signs a user in by a one-time code, with an API key encrypted to the client.',
      init_otp: 'Sends a one-time code to an email address or a phone number, whoever has it.',
      verify_otp: 'Takes a one-time code, and gives a token that says which contact was verified.',
      otp_login: 'Signs the user in whose contact was verified, with a key of the client’s own.',
      email_auth: 'Mails a user an API key that is encrypted to the client.',
      stamp_login: 'Registers another key of the client’s own for a while, for whoever stamped the request.',
      init_user_email_recovery:
        'Mails a user a key, encrypted to the client, that can register a passkey and no more.',
      recover_user: 'Registers a new passkey for a user who is recovering.',
    },
  },
  {
    name: 'Sessions',
    about: 'What a user who is signed in has, on one device for a while.',
    operations: {
      create_read_write_session: 'Makes a short-lived API key for a user, encrypted to the client.',
      create_read_only_session:
        'Gives the caller a token that asks queries for an hour, in the header `X-Session`.',
      list_sessions: 'Lists the sessions of a user, or of everybody, that have not ended.',
      delete_sessions: 'Ends sessions of a user before their time.',
      list_credential_uses:
        'Tells when API keys, passkeys and sessions last proved a request, by their ids; what was never used is left out.',
    },
  },
  {
    name: 'Private keys',
    about: 'Single keys, made here or imported.',
    operations: {
      create_private_keys: 'Makes private keys.',
      list_private_keys: 'Lists all private keys: their public halves, addresses and tags.',
      get_private_key: 'Shows one private key: its public half, its addresses and tags.',
      init_import_private_key: 'Gives a user a public key of the vault, to encrypt a private key to.',
      import_private_key: 'Stores a private key that the client encrypted to the vault.',
      export_private_key: 'Hands a private key out, encrypted to the client’s key.',
      delete_private_keys: 'Deletes private keys that were exported, or that may be lost.',
    },
  },
  {
    name: 'Wallets',
    about: 'HD wallets: one secret, and accounts derived from it.',
    operations: {
      create_wallet: 'Makes a wallet from a fresh mnemonic, with the accounts asked for.',
      list_wallets: 'Lists all wallets.',
      get_wallet: 'Shows one wallet.',
      update_wallet: 'Gives a wallet another name.',
      init_import_wallet: 'Gives a user a public key of the vault, to encrypt a mnemonic to.',
      import_wallet: 'Stores a wallet whose mnemonic the client encrypted to the vault.',
      export_wallet: 'Hands a wallet’s mnemonic out, encrypted to the client’s key.',
      delete_wallets: 'Deletes wallets that were exported, or that may be lost.',
      create_wallet_accounts: 'Derives more accounts of a wallet.',
      list_wallet_accounts: 'Lists the accounts of a wallet, or of all wallets.',
      outline_wallet_accounts:
        'Tells where the accounts of a wallet are that fit a search, however many: as far as a few milliseconds go, and where to go on.',
      browse_wallet_accounts: 'Shows the accounts of a wallet at some places of their list.',
      get_free_wallet_path: 'Finds the next derivation path that no account of a wallet has.',
      get_wallet_account: 'Shows one account of a wallet, by its address or its path.',
      update_wallet_account_name: 'Gives an account of a wallet another name, or takes its name off.',
      export_wallet_account: 'Hands the private key of an account out, encrypted to the client’s key.',
      delete_wallet_accounts: 'Deletes accounts whose keys were exported, or may be lost.',
    },
  },
  {
    name: 'Tags',
    about: 'Names that group users, or private keys.',
    operations: {
      create_user_tag: 'Makes a user tag and attaches it to users.',
      list_user_tags: 'Lists all user tags.',
      update_user_tag: 'Renames a user tag, attaches it and detaches it, all at once.',
      delete_user_tags: 'Deletes user tags; the users stay.',
      create_private_key_tag: 'Makes a private key tag and attaches it to keys.',
      list_private_key_tags: 'Lists all private key tags.',
      update_private_key_tag: 'Renames a private key tag, attaches it and detaches it, all at once.',
      delete_private_key_tags: 'Deletes private key tags; the keys stay.',
    },
  },
  {
    name: 'Signing',
    about: 'Signatures by private keys and wallet accounts.',
    operations: {
      sign_raw_payload: 'Signs one payload.',
      sign_raw_payloads: 'Signs several payloads with one key.',
      describe_payload: 'Tells in plain language what a transaction or a payload does, before it is signed.',
      sign_transaction: 'Signs a transaction of Ethereum, Solana, Tron or Bitcoin, which the vault reads.',
    },
  },
  {
    name: 'Smart contract interfaces',
    about: 'ABIs and IDLs, by which policies and people read the calls in transactions.',
    operations: {
      create_smart_contract_interface: 'Keeps the interface of a contract or a program.',
      get_smart_contract_interface: 'Shows one interface.',
      list_smart_contract_interfaces: 'Lists all interfaces.',
      delete_smart_contract_interface: 'Deletes an interface; policies read its calls no longer.',
    },
  },
  {
    name: 'Policies',
    about: 'Rules that say who may do what.',
    operations: {
      create_policy: 'Makes a policy; one that cannot be read or evaluated is refused with the place where.',
      create_policies: 'Makes several policies, all or none.',
      update_policy:
        'Changes what is given of a policy, and leaves the rest; an empty expression removes one.',
      delete_policy: 'Deletes a policy.',
      delete_policies: 'Deletes several policies, all or none.',
      get_policy: 'Shows one policy.',
      list_policies: 'Lists all policies.',
      get_active_policies: 'Tells of every policy whether its time expression holds now.',
      get_policy_evaluations: 'Tells what each policy said of an activity, at each vote on it.',
      check_policies: 'Tells what is wrong with drafts of policies, and what is right but surely not meant.',
      test_policies:
        'Replays past activities with drafts of policies: what each would have been decided, and which rules never hold.',
      explain_policies:
        'Explains what policies, and drafts of some, make of a past activity or of one that nobody has submitted.',
      list_refusals: 'Lists the requests that were not allowed, the newest first: they are no activities.',
      list_permissions:
        'Lists what a user could do of each kind of activity: alone, with others, or not at all.',
      get_policy_language:
        'Describes the policy language: its keywords, their types, its functions and methods.',
    },
  },
  {
    name: 'Activities',
    about: 'The log of every request that changed or signed something.',
    operations: {
      get_activity: 'Shows one activity.',
      list_activities: 'Lists activities, the newest first.',
      outline_activities:
        'Tells where in the log the activities are that fit a search, however many: as far as a few milliseconds go, and where to go on.',
      browse_activities: 'Shows a line of each activity at some places of the log.',
      get_activity_entries:
        'Shows where an activity stands in the log: its entries, their hashes, and which signed head covers them.',
      export_activities: 'Writes the activities that fit a search as JSON or CSV, in parts.',
      approve_activity:
        'Approves an activity that waits for votes; the vote that was missing has it carried out.',
      reject_activity: 'Rejects an activity that waits for votes, for good.',
    },
  },
];

/** The service's resources, as its operations describe them (key-management-api.md, section 2). */

import type { Answer } from '../../../main/operations/api.ts';

export type Wallet = Answer<'get_wallet'>['wallet'];
export type WalletAccount = Answer<'get_wallet_account'>['account'];
export type SecretRecord = Answer<'list_secrets'>['secrets'][number];
export type PrivateKey = Answer<'get_private_key'>['privateKey'];
export type User = Answer<'get_user'>['user'];
export type ApiKey = User['apiKeys'][number];
/** A passkey. */
export type Authenticator = User['authenticators'][number];
export type Tag = Answer<'list_user_tags'>['userTags'][number];
/** A session of a user who signed in; a read-only session has no credential. */
export type Session = Answer<'list_sessions'>['sessions'][number];
/** An interface by which the calls of one contract or program are read. */
export type SmartContractInterface = Answer<'get_smart_contract_interface'>['smartContractInterface'];
/** A foreign address that has a name. */
export type KnownAddress = Answer<'list_known_addresses'>['knownAddresses'][number];
/** A setting of the organization's; a switch has an empty value. */
export type Feature = Answer<'get_organization_configs'>['configs']['features'][number];
/** The number of these users that must approve to act as the organization itself. */
export type Quorum = Answer<'get_organization_configs'>['configs']['quorum'];
export type Activity = Answer<'get_activity'>['activity'];
export type Vote = Activity['votes'][number];
/** An activity in a list. */
export type ActivityLine = Answer<'browse_activities'>['lines'][number];
/** The objects of an activity and its effect, in words. */
export type ActivityDescription = Answer<'describe_activities'>['descriptions'][number];
/** Words of a sentence about an activity, or a name in it. */
export type SpokenPart = ActivityDescription['effect'][number];
/** A revision of an activity and its place in the log. */
export type ActivityEntry = Answer<'get_activity_entries'>['entries'][number];
/** A webhook endpoint: where events of activities are posted. */
export type Endpoint = Answer<'list_webhook_endpoints'>['webhookEndpoints'][number];
/** An event on its way to a webhook endpoint, or its outcome. */
export type Delivery = Answer<'list_webhook_deliveries'>['deliveries'][number];

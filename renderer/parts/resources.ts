/** What the service answers, as far as the window reads it (key-management-api.md, section 2). */

import type { Timestamp } from './time.ts';

interface Dated {
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export interface Wallet extends Dated {
  readonly walletId: string;
  readonly walletName: string;
  readonly exported: boolean;
  readonly imported: boolean;
}

export interface WalletAccount extends Dated {
  readonly walletAccountId: string;
  readonly walletId: string;
  readonly curve: string;
  readonly path: string;
  readonly addressFormat: string;
  readonly address: string;
  readonly publicKey?: string;
  readonly name?: string;
}

export interface PrivateKey extends Dated {
  readonly privateKeyId: string;
  readonly privateKeyName: string;
  readonly publicKey: string;
  readonly curve: string;
  readonly addresses: readonly { readonly format?: string; readonly address?: string }[];
  /** Ids. */
  readonly privateKeyTags: readonly string[];
  readonly exported: boolean;
  readonly imported: boolean;
}

export interface ApiKey extends Dated {
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly credential: { readonly publicKey: string; readonly type: string };
  readonly expirationSeconds?: string;
}

/** What somebody who is signed in has for a while; one that may only read has no credential. */
export interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly sessionName: string;
  readonly credential?: { readonly publicKey: string; readonly type: string };
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp;
  readonly lastUsedAt?: Timestamp;
}

/** How the calls of one contract or program are read. */
export interface SmartContractInterface extends Dated {
  readonly smartContractInterfaceId: string;
  readonly smartContractAddress: string;
  /** JSON. */
  readonly smartContractInterface: string;
  readonly type: string;
  readonly label: string;
  readonly notes: string;
}

/** A passkey. */
export interface Authenticator extends Dated {
  readonly authenticatorId: string;
  readonly authenticatorName: string;
  /** Base64url. */
  readonly credentialId: string;
  readonly model: string;
}

export interface OauthProvider extends Dated {
  readonly providerId: string;
  readonly providerName: string;
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
}

/** A setting of the organization's; a switch has an empty value. */
export interface Feature {
  readonly name: string;
  readonly value: string;
}

/** How many of these users must agree to act as the organization itself. */
export interface Quorum {
  readonly threshold: number;
  readonly userIds: readonly string[];
}

export interface Tag extends Dated {
  readonly tagId: string;
  readonly tagName: string;
}

export interface User extends Dated {
  readonly userId: string;
  readonly userName: string;
  readonly userEmail?: string;
  readonly userPhoneNumber?: string;
  /** Ids. */
  readonly userTags: readonly string[];
  readonly authenticators: readonly Authenticator[];
  readonly apiKeys: readonly ApiKey[];
  readonly oauthProviders: readonly OauthProvider[];
}

export interface Activity extends Dated {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  readonly status: string;
  readonly intent: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly fingerprint: string;
  readonly failure: { readonly code?: number; readonly message?: string } | null;
  /** In the order in which they were given; the first is who asked. */
  readonly votes: readonly Vote[];
  /** Whether the owner's vote would count for something. */
  readonly canApprove: boolean;
  readonly canReject: boolean;
}

/** An activity in a list. */
export interface ActivityLine {
  /** Of its first entry in the log. */
  readonly place: number;
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly createdAt: Timestamp;
  readonly userId: string;
  /** As of then. */
  readonly userName: string;
  /** The JSON of its parameters; absent where it is long. */
  readonly intent?: string;
  /** Of that JSON, in bytes. */
  readonly intentSize: number;
}

/** Where a revision of an activity stands in the log. */
export interface ActivityEntry {
  readonly place: number;
  readonly revision: number;
  readonly status: string;
  readonly writtenAt: Timestamp;
  readonly hash: string;
  readonly previousHash: string;
  readonly intact: boolean;
  readonly head?: {
    readonly place: number;
    readonly hash: string;
    readonly signedAt: Timestamp;
    readonly publicKey: string;
    readonly signature: string;
  };
}

export interface Vote {
  readonly id: string;
  readonly userId: string;
  /** As of then. */
  readonly user: Pick<User, 'userName'>;
  readonly selection: string;
  readonly scheme: string;
  readonly createdAt: Timestamp;
}

/** What the policies said when a vote was given. */
export interface PolicyEvaluation {
  readonly voteId: string;
  readonly policyEvaluations: readonly { readonly policyId: string; readonly outcome: string }[];
}

/** Who makes a request: what its stamp proved. */
export interface Caller {
  readonly organizationId: string;
  readonly userId: string;
  /** Whether the user is a member of the organization's root quorum. */
  readonly root: boolean;
  /** What proved it: an API key, a passkey or a session. Left out where a request is decided on once more, later. */
  readonly credentialId?: string;
  /** The stamp as it came, kept with the vote that the request is. */
  readonly stamp: {
    /** Hex; of a passkey its COSE_Key in base64url. */
    readonly publicKey: string;
    readonly scheme: string;
    /** Hex; of a passkey the whole assertion, as its header has it. */
    readonly signature: string;
  };
}

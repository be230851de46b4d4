/** The user who makes a request, as its stamp proved. */
export interface Caller {
  readonly organizationId: string;
  readonly userId: string;
  /** True for a member of the organization's root quorum. */
  readonly root: boolean;
  /**
   * The credential of the proof: an API key, a passkey or a session. Absent where a past request is decided
   * on again.
   */
  readonly credentialId?: string;
  /** The profile of the session that the credential is; its scope limits what the caller may do. */
  readonly sessionProfileId?: string;
  /** True for a request that the log had already, with its stamp. A reader of the log may have sent it. */
  readonly isRepeat?: true;
  /** The stamp as it came, kept with the vote that the request is. */
  readonly stamp: {
    /** Hex; of a passkey its COSE_Key in base64url. */
    readonly publicKey: string;
    readonly scheme: string;
    /** Hex; of a passkey the whole assertion, as its header has it. */
    readonly signature: string;
  };
}

/** Previews: what the owner's node says that a transaction would do. Nothing of them is verified, and none is kept. */

/** A transaction that is not signed yet. */
export interface Previewable {
  readonly chainId: bigint;
  /** The account that signs, with its checksum. */
  readonly from: string;
  /** In wei. */
  readonly value: bigint;
  readonly gas: bigint;
  /** The transaction as JSON-RPC writes one that is tried. */
  readonly call: Readonly<Record<string, unknown>>;
}

export const previewOutcomes = [
  /** The node was not asked. */
  'PREVIEW_OUTCOME_OFF',
  'PREVIEW_OUTCOME_SUCCESS',
  'PREVIEW_OUTCOME_FAILURE',
  /** The node gives no answer that can be read. */
  'PREVIEW_OUTCOME_NO_ANSWER',
] as const;

export interface Preview {
  readonly outcome: (typeof previewOutcomes)[number];
  /** Why there is no preview, in the vault's own words. */
  readonly reason?: string;
  /** Words of the node, or of a contract through it, on one line with hidden characters marked. */
  readonly said?: string;
  /** How the node was asked. */
  readonly method?: 'eth_simulateV1' | 'eth_call';
  /** Gas that the transaction uses; digits. */
  readonly gas?: string;
  /** Absent where the node does not say what moves. */
  readonly moves?: PreviewMoves;
}

/** By the events of a simulation: contracts write those, and may lie as well. */
export interface PreviewMoves {
  /** From the account that signs. */
  readonly leaves: readonly PreviewAsset[];
  /** To that account. */
  readonly arrives: readonly PreviewAsset[];
  /** Assets that others may take from the account afterwards. */
  readonly allows: readonly (PreviewAsset & { readonly spender: string })[];
  /** Entries of these lists that are left out. */
  readonly left: number;
  /** Events of tokens that cannot be read. */
  readonly unread: number;
}

export interface PreviewAsset {
  /** `1,250.5 USDC`. Tokens are named by the vault's own list, never by what they say of themselves. */
  readonly text: string;
  /** In smallest units; digits. Absent for all tokens of a contract. */
  readonly units?: string;
  /** Absent for the coin of the network. */
  readonly contract?: string;
  /** Of one that is not like the others. */
  readonly tokenId?: string;
}

/** Asks the node of a transaction's chain. */
export type AskPreview = (wanted: Previewable) => Promise<Preview>;

export const offPreview = (reason: string): Preview => ({ outcome: 'PREVIEW_OUTCOME_OFF', reason });

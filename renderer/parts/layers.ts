/**
 * What lies over what, from below. Mantine's drawers and dialogs are at 200 and its menus at 300: whatever asks a question
 * that something else waits for lies between them, wherever it stands in the tree.
 */
export const layers = {
  notifications: 100,
  /** Asks who it is, for a call that waits: over the drawer or the dialog that made it. */
  ownerProof: 250,
  /** The brake: over everything that may be open. */
  freeze: 260,
} as const;

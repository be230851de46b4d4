/**
 * The stacking order, from below. Mantine's drawers and dialogs are at 200 and its menus at 300. A dialog that other work waits
 * for is between them, wherever it is in the tree.
 */
export const layers = {
  notifications: 100,
  /** The step-up dialog, over the drawer or the dialog whose call waits for it. */
  stepUp: 250,
  /** The brake: over everything that may be open. */
  freeze: 260,
} as const;

/** What a reader of a page in `docs/` has of their own. A block that is typed as it stands needs no row here. */
import type { Reading } from './reader.ts';

/** How the reader comes through one page. */
interface PageReading {
  /** Whether the page begins without a vault. The others begin with a vault of Ann's and a service that holds it. */
  readonly fromNothing?: boolean;
  readonly blocks?: readonly Reading[];
}

export const pageReadings: Readonly<Record<string, PageReading>> = {
  start: {
    fromNothing: true,
    blocks: [
      { block: 'keyhearth init', sees: /24 words/ },
      { block: 'keyhearth serve', until: /the vault is unlocked/ },
      {
        block: 'keyhearth wallets create',
        own: () => [
          ['0x3b8c…', `"$(keyhearth wallets show Daily --json | grep -o '0x[0-9a-fA-F]\\{40\\}')"`],
        ],
        sees: /"v":"0[01]"/,
      },
    ],
  },
};

/** Addresses within a text, in groups of four: people compare them by eye. The text stays the same to the letter. */
import type { ReactNode } from 'react';
import { Grouped } from '../identifier.tsx';

const base58 = '[1-9A-HJ-NP-Za-km-z]';

/** Addresses of Ethereum and hashes, of Bitcoin, Tron and Solana. What only looks like one is harmless in groups. */
const address = new RegExp(
  `(?<![0-9A-Za-z])(0x[0-9a-fA-F]{64}|0x[0-9a-fA-F]{40}|(?:bc1|tb1|bcrt1)[02-9ac-hj-np-z]{20,87}|[13T]${base58}{25,34}|${base58}{32,44})(?![0-9A-Za-z])`,
);

export const withAddresses = (text: string): ReactNode =>
  address.test(text)
    ? text
        .split(address)
        .map((piece, index) =>
          index % 2 === 0 ? <span key={index}>{piece}</span> : <Grouped key={index} text={piece} />,
        )
    : text;

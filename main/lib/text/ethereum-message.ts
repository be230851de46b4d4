/** The bytes before a message and its length, as wallets for Ethereum sign them (EIP-191, version 0x45). */
export const ethereumMessagePrefix = '\u0019Ethereum Signed Message:\n';

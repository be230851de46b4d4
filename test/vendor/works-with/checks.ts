/**
 * Checks of each answer that a program of the matrix reports, by step. The table names these steps, and no
 * other.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import {
  keccak256,
  parseTransaction,
  recoverAddress,
  recoverMessageAddress,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  serializeSignature,
  toBytes,
} from 'viem';
import type { Hex, TransactionSerialized } from 'viem';
import { recoverAuthorizationAddress } from 'viem/utils';
import { expect } from 'vitest';

/** An answer as a program passes it on. */
export type Reported = Readonly<Record<string, unknown>>;

/** @throws AssertionError where the answer is not what it must be. */
export type Check = (answer: never, organizationId: string) => void | Promise<void>;

interface Signed {
  readonly address: string;
  readonly signature: Hex;
}

const typedData = {
  domain: { name: 'Mail', version: '1', chainId: 1 },
  types: { Mail: [{ name: 'contents', type: 'string' }] },
  primaryType: 'Mail',
  message: { contents: 'hello' },
} as const;

const whoami: Check = (answer: Reported, organizationId) => {
  expect(answer).toMatchObject({ organizationId, username: 'Root' });
};

const ethereumAddress = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/) as string;

const addresses: Check = (made: readonly string[]) => {
  expect(made[0]).toEqual(ethereumAddress);
};

const walletAccounts: Check = ({ accounts }: { readonly accounts: readonly Reported[] }) => {
  expect(accounts[0]).toMatchObject({ address: ethereumAddress, path: "m/44'/60'/0'/0/0" });
};

const rawSignature: Check = async (signed: Record<'address' | 'r' | 's' | 'v', string>) => {
  const { r, s, v } = signed;
  const signature = serializeSignature({ r: `0x${r}`, s: `0x${s}`, yParity: Number(v) });
  expect(await recoverAddress({ hash: keccak256(toBytes('hello')), signature })).toBe(signed.address);
};

const transaction: Check = async (signed: {
  readonly address: string;
  readonly signedTransaction: TransactionSerialized;
}) => {
  const serializedTransaction = signed.signedTransaction;
  const to = '0x3535353535353535353535353535353535353535';
  expect(parseTransaction(serializedTransaction)).toMatchObject({ chainId: 1, to, value: 1n });
  expect(await recoverTransactionAddress({ serializedTransaction })).toBe(signed.address);
};

const message: Check = async ({ address, signature }: Signed) => {
  expect(await recoverMessageAddress({ message: 'hello', signature })).toBe(address);
};

const typed: Check = async ({ address, signature }: Signed) => {
  expect(await recoverTypedDataAddress({ ...typedData, signature })).toBe(address);
};

const bySolana: Check = (
  signed: Record<'message' | 'signature', Uint8Array> & { readonly address: string },
) => {
  expect(ed25519.verify(signed.signature, signed.message, base58.decode(signed.address))).toBe(true);
};

const refusal =
  (code: number): Check =>
  (error: Reported) => {
    expect(error).toEqual({ known: true, code });
  };

const id = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const notFound = 5;

export const programs = {
  http: {
    getWhoami: whoami,
    createWallet: addresses,
    getWalletAccounts: walletAccounts,
    signRawPayload: rawSignature,
    signTransaction: transaction,
    TurnkeyRequestError: refusal(notFound),
  },
  'sdk-server': {
    getWhoami: whoami,
    createWallet: addresses,
    getWalletAccounts: walletAccounts,
    signRawPayload: rawSignature,
    signTransaction: transaction,
    createPrivateKeys: ({ privateKeys }: { readonly privateKeys: readonly Reported[] }) => {
      const made = { format: 'ADDRESS_FORMAT_ETHEREUM', address: ethereumAddress };
      expect(privateKeys).toEqual([{ privateKeyId: id, addresses: [made] }]);
    },
    createUsers: ({ userIds }: Reported) => {
      expect(userIds).toEqual([id]);
    },
    getUser: ({ user }: Reported) => {
      expect(user).toMatchObject({ userEmail: 'ann@example.com' });
    },
    createPolicy: ({ policyId }: Reported) => {
      expect(policyId).toEqual(id);
    },
    createSubOrganization: (made: Reported) => {
      const wallet = { walletId: id, addresses: [ethereumAddress, expect.any(String)] };
      expect(made).toMatchObject({ subOrganizationId: id, rootUserIds: [id], wallet });
    },
    'an error with its code': refusal(notFound),
  },
  viem: {
    signMessage: message,
    signTypedData: typed,
    'signTypedData without EIP712Domain': async ({ address, signature }: Signed) => {
      expect(await recoverTypedDataAddress({ ...typedData, domain: {}, signature })).toBe(address);
    },
    signTransaction: transaction,
    signAuthorization: async (signed: {
      readonly address: string;
      readonly authorization: Parameters<typeof recoverAuthorizationAddress>[0]['authorization'];
    }) => {
      expect(await recoverAuthorizationAddress({ authorization: signed.authorization })).toBe(signed.address);
    },
  },
  ethers: { signMessage: message, signTypedData: typed, signTransaction: transaction },
  solana: {
    signMessage: bySolana,
    addSignature: bySolana,
    signTransaction: bySolana,
    signAllTransactions: bySolana,
  },
  cosmjs: {
    getAccounts: ({
      accounts,
      expected,
    }: {
      readonly accounts: readonly Reported[];
      readonly expected: string;
    }) => {
      expect(expected).toMatch(/^cosmos1/);
      expect(accounts.map(({ address }) => address)).toEqual([expected]);
    },
    signDirect: (signed: {
      readonly message: Uint8Array;
      readonly signature: string;
      readonly pub_key: { readonly value: string };
    }) => {
      const [signature, key] = [signed.signature, signed.pub_key.value].map((text) =>
        Buffer.from(text, 'base64'),
      );
      expect(secp256k1.verify(signature ?? Buffer.alloc(0), signed.message, key ?? Buffer.alloc(0))).toBe(
        true,
      );
    },
  },
  'eip-1193-provider': {
    eth_requestAccounts: ({ accounts, expected }: Reported) => {
      expect(accounts).toEqual(expected);
    },
    personal_sign: async ({ address, hash, signature }: Signed & { readonly hash: Hex }) => {
      // The provider puts no prefix before it.
      expect(await recoverAddress({ hash, signature })).toBe(address);
    },
    eth_signTypedData_v4: typed,
    eth_signTransaction: transaction,
  },
  core: {
    getWhoami: whoami,
    createWallet: addresses,
    getWalletAccounts: walletAccounts,
    signRawPayload: rawSignature,
    signTransaction: transaction,
  },
  crypto: {
    encryptWalletToBundle: (made: readonly string[]) => {
      // The first address of these words, as every wallet has it.
      expect(made).toEqual(['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266']);
    },
    decryptExportBundle: (same: boolean) => {
      expect(same).toBe(true);
    },
  },
  'webauthn-stamper': {
    getWhoami: whoami,
    'createWallet by a passkey': (scheme: string) => {
      expect(scheme).toBe('SIGNATURE_SCHEME_TK_WEBAUTHN');
    },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Check>>>>;

export type ProgramName = keyof typeof programs;

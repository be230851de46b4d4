/** Import and export of secrets as React uses them: the activities, with the bundles between them. */

import { newExportTarget, sealImport } from './bundles.ts';
import type { Expected } from './bundles.ts';
import { useStatus } from '../../app/rpc/vault.tsx';

function useExpected(): Expected {
  const { organization, serverKeys } = useStatus();
  // Both are known of every vault; what is not known equals nothing that a bundle says.
  return { organizationId: organization?.id ?? '', signer: serverKeys?.signer ?? '' };
}

/** Submits an export to the holder of a key; answers the bundle. */
export type SubmitExport = (
  targetPublicKey: string,
) => Promise<{ readonly result: { readonly exportBundle: string } }>;

/** Exports a secret from the vault. The answer is the secret's bytes, which the caller wipes. */
export function useExport(submit: SubmitExport): () => Promise<Uint8Array> {
  const expected = useExpected();
  return async () => {
    const target = await newExportTarget();
    const { result } = await submit(target.targetPublicKey);
    return target.open(result.exportBundle, expected);
  };
}

/** A secret that only the vault can open. */
export interface Sealed {
  readonly userId: string;
  readonly encryptedBundle: string;
  /** The key of the vault that it is encrypted to. */
  readonly targetPublicKey: string;
}

interface SubmitImport<Submitted> {
  /** Asks for a key of the vault to encrypt the secret to. */
  readonly begin: (parameters: {
    readonly userId: string;
  }) => Promise<{ readonly result: { readonly importBundle: string } }>;
  readonly finish: (sealed: Sealed) => Promise<Submitted>;
}

/** Sends a secret to the vault, and wipes it after success and failure. */
export function useImport(): <Submitted>(
  secret: Uint8Array<ArrayBuffer>,
  submit: SubmitImport<Submitted>,
) => Promise<Submitted> {
  const expected = useExpected();
  const { owner } = useStatus();
  const userId = owner?.userId ?? '';
  return async (secret, { begin, finish }) => {
    try {
      const { result } = await begin({ userId });
      const sealed = await sealImport(result.importBundle, { ...expected, userId }, secret);
      return await finish({ userId, ...sealed });
    } finally {
      secret.fill(0);
    }
  };
}

/** Import and export of secrets as React uses them: the activities, with the bundles between them. */

import { newExportTarget, sealImport } from './bundles.ts';
import type { Expected } from './bundles.ts';
import { useStatus, useSubmit } from './vault.tsx';
import type { Submit } from './vault.tsx';

function useExpected(): Expected {
  const { organization, serverKeys } = useStatus();
  // Both are known of every vault; what is not known equals nothing that a bundle says.
  return { organizationId: organization?.id ?? '', signer: serverKeys?.signer ?? '' };
}

/** Asks the vault for a secret. What it answers is a secret's bytes, which the caller wipes. */
export function useExport(submit: Submit): (parameters: object) => Promise<Uint8Array> {
  const expected = useExpected();
  const { mutateAsync } = useSubmit<object, { exportBundle: string }>(submit);
  return async (parameters) => {
    const target = await newExportTarget();
    const { result } = await mutateAsync({ ...parameters, targetPublicKey: target.targetPublicKey });
    return target.open(result.exportBundle, expected);
  };
}

/** Hands a secret to the vault, and wipes it whatever comes of that. */
export function useImport<Result>(
  begin: Submit,
  finish: Submit,
): (secret: Uint8Array<ArrayBuffer>, parameters: object) => Promise<Result> {
  const expected = useExpected();
  const { owner } = useStatus();
  const userId = owner?.userId ?? '';
  const first = useSubmit<object, { importBundle: string }>(begin);
  const second = useSubmit<object, Result>(finish);
  return async (secret, parameters) => {
    try {
      const { result } = await first.mutateAsync({ userId });
      const encryptedBundle = await sealImport(result.importBundle, { ...expected, userId }, secret);
      return (await second.mutateAsync({ userId, encryptedBundle, ...parameters })).result;
    } finally {
      secret.fill(0);
    }
  };
}

/** The secrets of the vault, and sending it a value. */

import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { apiQueryKey, queryApi, useRpc, useSubmit } from '../../app/rpc/vault.tsx';
import type { SecretRecord } from '../../app/rpc/resources.ts';
import { useImport } from '../accounts/transfer.ts';

export const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';

/** In one answer. */
const pageSize = 100;

/** All secrets, the newest first, without their values. */
export function useSecrets(): UseQueryResult<readonly SecretRecord[]> {
  const rpc = useRpc();
  return useQuery({
    queryKey: apiQueryKey('list_secrets', {}),
    queryFn: async () => {
      const all: SecretRecord[] = [];
      for (;;) {
        const after = all.at(-1)?.secretId ?? '';
        const paginationOptions = { limit: String(pageSize), after };
        const { secrets } = await queryApi(rpc, 'list_secrets', { paginationOptions });
        all.push(...secrets);
        if (secrets.length < pageSize) return all;
      }
    },
  });
}

/** A secret that other programs stored may have no name. */
export const nameOf = ({ name, secretId }: SecretRecord): string => name ?? secretId;

/** The moment of its creation, as other resources show theirs. */
export const createdAt = ({ createdAtUnixMs }: SecretRecord) => ({
  seconds: String(Math.floor(Number(createdAtUnixMs) / 1000)),
  nanos: '0',
});

/** As policies read them. */
export const propertyTexts = ({ staticProperties }: SecretRecord): readonly string[] =>
  staticProperties.map(({ key, value }) => `${key}: ${value}`);

/** A value that only the vault can open. */
interface SealedValue {
  readonly secretPayload: string;
  readonly targetPublicKey: string;
  readonly encryptionSuite: typeof encryptionSuite;
}

/** Sends a value to the vault, encrypted, and wipes it. */
export function useSendValue(): <Submitted>(
  value: string,
  finish: (sealed: SealedValue) => Promise<Submitted>,
) => Promise<Submitted> {
  const begin = useSubmit('ACTIVITY_TYPE_INIT_IMPORT_SECRETS');
  const bring = useImport();
  return (value, finish) =>
    bring(new TextEncoder().encode(value), {
      begin: async () => {
        const { result } = await begin.mutateAsync({ encryptionSuite, numSecrets: 1 });
        return { result: { importBundle: result.enclaveTargetMessages[0] ?? '' } };
      },
      finish: ({ encryptedBundle: secretPayload, targetPublicKey }) =>
        finish({ secretPayload, targetPublicKey, encryptionSuite }),
    });
}

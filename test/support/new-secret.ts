/** Secrets for tests of what holds for all sealed records. */
import { sealToPublicKey } from '../../main/crypto/hpke.ts';
import { resultOf, type TestClient } from './support.ts';

/** Stores a secret through the API. @returns its id. */
export async function newSecret(root: TestClient, name: string, value = 'a value of tests'): Promise<string> {
  const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
  const begun = await root.submit('init_import_secrets', 'INIT_IMPORT_SECRETS', {
    encryptionSuite,
    numSecrets: 1,
  });
  const [target = ''] = resultOf(begun)['enclaveTargetMessages'] as readonly string[];
  const { data } = JSON.parse(target) as { readonly data: string };
  const { targetPublic } = JSON.parse(Buffer.from(data, 'hex').toString()) as {
    readonly targetPublic: string;
  };
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const { encapsulatedKey, ciphertext } = await sealToPublicKey(
    new Uint8Array(Buffer.from(targetPublic, 'hex')),
    new TextEncoder().encode(value),
  );
  const secretPayload = JSON.stringify({ encappedPublic: hex(encapsulatedKey), ciphertext: hex(ciphertext) });
  const secrets = [
    {
      ...{ name, encryptionSuite, secretPayload, targetPublicKey: targetPublic },
      staticProperties: [{ key: name, value: name }],
    },
  ];
  const kept = resultOf(await root.submit('import_secrets', 'IMPORT_SECRETS', { secrets }));
  return (kept['secretIds'] as readonly string[])[0] ?? '';
}

/**
 * A caller with an unknown or foreign credential does not learn which organizations and credentials exist:
 * the refusals have the same text, and the same number of statements and verifications.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiKeyProof } from '../../main/auth/api-key.ts';
import { verifyAtOnce } from '../../main/auth/verifications.ts';
import { passkeyProof } from '../../main/auth/webauthn.ts';
import type { Proof } from '../../main/auth/proof.ts';
import type { Reader } from '../../main/storage/connection.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { withoutBreak } from '../../main/lib/concurrency/paced.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import { newTestKey, resultOf, startTestVault } from '../support/support.ts';
import type { TestVault } from '../support/support.ts';

let service: TestVault;
let subOrganizationId: string;
const nowhere = '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70';
const known = new SoftwareAuthenticator();
const knownBelow = new SoftwareAuthenticator();

beforeAll(async () => {
  service = await startTestVault();
  const registered = await service.root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
    userId: service.rootUserId,
    authenticators: [known.params('Known')],
  });
  expect(registered.status, registered.text).toBe(200);
  const answer = await service.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', {
    subOrganizationName: 'Below',
    rootQuorumThreshold: 1,
    rootUsers: [
      { userName: 'Ann', apiKeys: [], authenticators: [knownBelow.params('Below')], oauthProviders: [] },
    ],
  });
  subOrganizationId = String((resultOf(answer) as { subOrganizationId?: string }).subOrganizationId);
});
afterAll(() => service[Symbol.asyncDispose]());

/**
 * Sends a request of an unknown caller.
 * @returns the error, and the number of statements.
 */
function ask(proof: Proof, organizationId: string, below: boolean) {
  let statements = 0;
  const { connection } = service.vault;
  const counting = new Proxy<Reader>(connection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]): unknown => {
        statements += 1;
        return Reflect.apply(value, target, values);
      };
    },
  });
  expect(proof.holder(connection)).toBeUndefined();
  try {
    proof.against({ organizationId, below, recovering: true }, service.clock).identify(counting);
  } catch (error) {
    if (!(error instanceof KeyhearthError)) throw error;
    return {
      statements,
      code: error.turnkeyErrorCode,
      message: error.message
        .replaceAll(organizationId, 'ORGANIZATION')
        .replace(/(credentialId|publicKey)=\S+/, '$1=ITS'),
    };
  }
  throw new Error('it was let in');
}

const body = (organizationId: string): Buffer => Buffer.from(JSON.stringify({ organizationId }));

describe.each([
  ['in the organization that is named', false],
  ['and below it', true],
])('%s', (_, below) => {
  test('a passkey that is there is refused as one that is not, in organizations that are there and not', () => {
    const passkeys = [
      new SoftwareAuthenticator(),
      // They know the ids of others' passkeys, and cannot sign for them.
      new SoftwareAuthenticator({ claims: { credentialId: known.credentialId } }),
      new SoftwareAuthenticator({ claims: { credentialId: knownBelow.credentialId } }),
    ];
    const answers = [service.organizationId, subOrganizationId, nowhere].flatMap((organizationId) =>
      passkeys.map((passkey) => {
        const raw = body(organizationId);
        return ask(passkeyProof(raw, passkey.stamp(raw), 'localhost'), organizationId, below);
      }),
    );
    expect(answers).toHaveLength(9);
    expect(
      new Set(answers.map((answer) => JSON.stringify(answer))),
      JSON.stringify(answers, null, 1),
    ).toHaveProperty('size', 1);
    expect(answers[0]?.code).toBe('CREDENTIAL_NOT_FOUND');
  });

  test('an API key that is nowhere is refused alike by organizations that are there and not', () => {
    const key = newTestKey();
    const answers = [service.organizationId, subOrganizationId, nowhere].map((organizationId) => {
      const raw = body(organizationId);
      const proof = withoutBreak(apiKeyProof(raw, key.stamp(raw), { verify: verifyAtOnce }));
      if (proof instanceof Promise) throw new Error('it was to be verified at once');
      return ask(proof, organizationId, below);
    });
    expect(
      new Set(answers.map((answer) => JSON.stringify(answer))),
      JSON.stringify(answers, null, 1),
    ).toHaveProperty('size', 1);
    expect(answers[0]?.code).toBe('PUBLIC_KEY_NOT_FOUND');
  });
});

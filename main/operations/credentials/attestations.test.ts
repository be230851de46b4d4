/** Attestations as the standard's own examples have them; those of whole requests are in test/sign-in/passkeys.test.ts. */
import { SettingsService } from '@simplewebauthn/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import vectors from '../../../test/vectors/webauthn.json' with { type: 'json' };
import { KeyhearthError } from '../../lib/errors.ts';
import { verifyAttestation } from './attestations.ts';
import type { Attestation, AttestedCredential, RelyingParty } from './attestations.ts';

// The standard's authenticators have a root of their own, which here is the maker's. Set before the first attestation,
// with which the roots are taken over.
for (const identifier of ['apple', 'android-key'] as const) {
  SettingsService.setRootCertificates({
    identifier,
    certificates: [new Uint8Array(Buffer.from(vectors.rootCertificate, 'hex'))],
  });
}

beforeEach(() => {
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('there is no network'));
});
afterEach(() => {
  expect(globalThis.fetch).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');
const party: RelyingParty = { rpId: vectors.rpId, origins: undefined };

interface Example {
  readonly name: string;
  readonly challenge: string;
  readonly attestation: Attestation;
  readonly aaguid: string;
}

const examples: readonly Example[] = vectors.vectors.map(({ name, credentialId, aaguid, registration }) => ({
  name,
  challenge: base64url(registration.challenge),
  attestation: {
    credentialId: base64url(credentialId),
    clientDataJson: Buffer.from(registration.clientDataJSON).toString('base64url'),
    attestationObject: base64url(registration.attestationObject),
  },
  aaguid: base64url(aaguid),
}));

const exampleOf = (name: string): Example => {
  const example = examples.find((candidate) => candidate.name === name);
  if (example === undefined) throw new Error(`there is no ${name}`);
  return example;
};

const verify = (
  { challenge, attestation }: Example,
  changes: Partial<Attestation> = {},
  where = party,
): Promise<AttestedCredential> => verifyAttestation(challenge, { ...attestation, ...changes }, where, 'at');

const refused = (problem: string): KeyhearthError =>
  new KeyhearthError('INVALID_ARGUMENT', `missing or invalid authenticator attestation: at.${problem}`);

/** The example's attestation object with one byte changed, counted from where a text of hex is found. */
function changed({ attestation }: Example, after: string, offset = 0): string {
  const object = Buffer.from(attestation.attestationObject, 'base64url');
  const place = object.indexOf(Buffer.from(after, 'hex')) + after.length / 2 + offset;
  object.writeUInt8((object[place] ?? 0) ^ 1, place);
  return object.toString('base64url');
}

describe.each(examples)('$name', (example) => {
  const format = example.name.replace(/(-self)?\.[A-Za-z0-9]+$/, '');

  test('holds, and gives what it attests', async () => {
    const credential = await verify(example);
    expect(credential).toMatchObject({
      credentialId: example.attestation.credentialId,
      format,
      aaguid: example.aaguid,
      signCount: 0,
    });
    expect(Buffer.from(credential.publicKey, 'base64url')[0]).toBeGreaterThan(0xa0);
  });

  test('holds with the padding, the alphabet and the text of a challenge that other clients send', async () => {
    const { challenge, attestation } = example;
    const standard = (text: string): string => Buffer.from(text, 'base64url').toString('base64');
    await expect(
      verifyAttestation(
        standard(challenge),
        {
          credentialId: standard(attestation.credentialId),
          clientDataJson: standard(attestation.clientDataJson),
          attestationObject: standard(attestation.attestationObject),
        },
        party,
        'at',
      ),
    ).resolves.toEqual(await verify(example));
    await expect(verify({ ...example, challenge: `${challenge}A` })).rejects.toThrow(
      refused('clientDataJson: its challenge is not the one of this request'),
    );
  });

  test('holds for its own relying party and its own pages alone', async () => {
    await expect(verify(example, {}, { rpId: 'org', origins: undefined })).rejects.toThrow(
      refused('attestationObject: expected a passkey of the relying party org, got one of another'),
    );
    await expect(verify(example, {}, { rpId: 'localhost', origins: undefined })).rejects.toThrow(
      /at\.clientDataJson: expected the origin to be a page of localhost or a host below it, got "https:/,
    );
    await expect(
      verify(example, {}, { ...party, origins: ['https://example.org:444', 'http://example.org'] }),
    ).rejects.toThrow(/origin to be one of https:\/\/example\.org:444, http:\/\/example\.org, got/);
    await expect(verify(example, {}, { ...party, origins: [vectors.origin] })).resolves.toBeDefined();
  });

  test('is of its own credential', async () => {
    await expect(verify(example, { credentialId: base64url('00'.repeat(32)) })).rejects.toThrow(
      refused(`credentialId: expected the one in the attestationObject, ${example.attestation.credentialId}`),
    );
  });

  test('its authenticator data is what the statement signs', async () => {
    const { attestation } = example;
    // The sign count comes after the hash of the relying party and the flags.
    const object = changed(example, 'bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b5', 4);
    expect(object).not.toBe(attestation.attestationObject);
    const checked = verify(example, { attestationObject: object });
    if (format === 'none') await expect(checked).resolves.toMatchObject({ signCount: 1 });
    else await expect(checked).rejects.toThrow(/at\.attestationObject: its .+ statement does not hold: ./);
  });
});

describe('packed', () => {
  test('a signature that is not the credential’s', async () => {
    const example = exampleOf('packed-self.ES256');
    const object = changed(example, '63736967584630440220', 8);
    await expect(verify(example, { attestationObject: object })).rejects.toThrow(
      refused('attestationObject: its packed statement does not hold: its signature is of something else'),
    );
  });
});

describe.each(['apple', 'android-key'])('%s', (format) => {
  test('a certificate that its issuer did not sign', async () => {
    const example = exampleOf(`${format}.ES256`);
    // The serial number.
    const object = changed(example, 'a003020102', 6);
    await expect(verify(example, { attestationObject: object })).rejects.toThrow(
      refused(
        `attestationObject: its ${format} statement does not hold: its certificates do not lead to a known root`,
      ),
    );
  });
});

describe('an attestation object is refused', () => {
  const example = exampleOf('none.ES256');
  const object = Buffer.from(example.attestation.attestationObject, 'base64url').toString('hex');
  const authData = object.slice(object.indexOf('68617574684461746158a4') + '68617574684461746158a4'.length);
  const form = 'attestationObject: expected CBOR with fmt, attStmt and authData, in base64url';

  test.each([
    ['that is nothing', '', form],
    ['that is no CBOR', 'ff', form],
    ['that is a number', '01', form],
    ['that is an array', '80', form],
    ['that has nothing in it', 'a0', form],
    ['that is cut', object.slice(0, 40), form],
    [
      'whose key is cut',
      object.slice(0, -2),
      'attestationObject: expected a whole ES256 key of a usual size',
    ],
    ['with more in its authenticator data than it says', object.replace('58a4', '58a5') + '00', form],
    ['that is nested without end', '81'.repeat(20_000), form],
    [
      'without a credential',
      object.replace('58a4', '5825').replace(authData, `${authData.slice(0, 64)}0100000000`),
      'attestationObject: expected a new credential in its authData, got none',
    ],
    [
      'whose user was not there',
      object.replace(authData, `${authData.slice(0, 64)}58${authData.slice(66)}`),
      'attestationObject: expected the user-present flag to be set',
    ],
    [
      'of a format that nobody makes any more',
      object.replace('63666d74646e6f6e65', `63666d7471${Buffer.from('android-safetynet').toString('hex')}`),
      'attestationObject: expected fmt to be one of none, packed, fido-u2f, tpm, apple, android-key, got "android-safetynet"',
    ],
    [
      'with a statement where there should be none',
      object.replace('6761747453746d74a0', '6761747453746d74a1617801'),
      'attestationObject: its none statement does not hold: it does not follow the format',
    ],
    [
      'with an empty statement',
      object.replace('63666d74646e6f6e65', `63666d7463${Buffer.from('tpm').toString('hex')}`),
      /^at\.attestationObject: its tpm statement does not hold: ./,
    ],
    [
      'without certificates',
      object.replace('63666d74646e6f6e65', `63666d7465${Buffer.from('apple').toString('hex')}`),
      'attestationObject: expected certificates in the x5c of its apple statement',
    ],
    [
      'of a key that no request can be stamped with',
      object.replace('a501020326', 'a501020300'),
      'attestationObject: expected a key of one of ES256 (-7), EdDSA (-8), RS256 (-257), got algorithm 0',
    ],
  ])('%s', async (_, changedObject, problem) => {
    const checked = verify(example, { attestationObject: base64url(changedObject) });
    await expect(checked).rejects.toBeInstanceOf(KeyhearthError);
    await expect(checked).rejects.toThrow(
      typeof problem === 'string'
        ? refused(problem)
        : new RegExp(problem.source.replace('^', '^missing or invalid authenticator attestation: ')),
    );
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['without an origin', '{"type":"webauthn.create","challenge":"AA"}'],
    [
      'with a number for a challenge',
      '{"type":"webauthn.create","challenge":0,"origin":"https://example.org"}',
    ],
  ])('with client data that is %s', async (_, text) => {
    const clientDataJson = Buffer.from(text).toString('base64url');
    await expect(verify(example, { clientDataJson })).rejects.toThrow(
      refused('clientDataJson: expected a JSON object with type, challenge and origin, in base64url'),
    );
  });

  test('with the client data of another ceremony', async () => {
    const text = vectors.vectors[0]?.registration.clientDataJSON.replace('webauthn.create', 'webauthn.get');
    const clientDataJson = Buffer.from(text ?? '').toString('base64url');
    await expect(verify(example, { clientDataJson })).rejects.toThrow(
      refused('clientDataJson: expected type webauthn.create, got "webauthn.get"'),
    );
  });
});

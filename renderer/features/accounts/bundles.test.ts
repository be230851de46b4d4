import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openWithPrivateKey, sealToPublicKey } from '../../../main/crypto/hpke.ts';
import { generateP256, signP256, uncompressP256 } from '../../../main/crypto/keys/p256.ts';
import { newExportTarget, sealImport } from './bundles.ts';
import { fromHex, toHex } from '../../ui/text/bytes.ts';

const keyPair = () => generateP256((length) => new Uint8Array(randomBytes(length)));
const signer = keyPair();
const signerPublic = toHex(uncompressP256(signer.publicKey));
const organizationId = 'd4a7b1c2-0000-4000-8000-000000000001';
const userId = 'd4a7b1c2-0000-4000-8000-000000000002';
const expected = { signer: signerPublic, organizationId, userId };
const secret = new TextEncoder().encode('abandon ability able — 32 bytes or more of it');

/** Signs data as the service does (main/operations/shared/bundles.ts). */
function signed(data: object, by = signer, change: object = {}): string {
  const bytes = new TextEncoder().encode(JSON.stringify(data));
  return JSON.stringify({
    version: 'v1.0.0',
    data: toHex(bytes),
    dataSignature: signP256(by.privateKey, bytes),
    enclaveQuorumPublic: toHex(uncompressP256(by.publicKey)),
    ...change,
  });
}

async function exported(targetPublicKey: string, by = signer, organization = organizationId) {
  const { encapsulatedKey, ciphertext } = await sealToPublicKey(fromHex(targetPublicKey), secret);
  return signed(
    { encappedPublic: toHex(encapsulatedKey), ciphertext: toHex(ciphertext), organizationId: organization },
    by,
  );
}

test('what the window seals the vault opens', async () => {
  const target = keyPair();
  const targetPublic = toHex(uncompressP256(target.publicKey));
  const { encryptedBundle: text, targetPublicKey } = await sealImport(
    signed({ targetPublic, organizationId, userId }),
    expected,
    secret,
  );
  expect(targetPublicKey).toBe(targetPublic);
  const bundle = JSON.parse(text) as { encappedPublic: string; ciphertext: string };
  expect(Object.keys(bundle)).toEqual(['encappedPublic', 'ciphertext']);
  expect(text).not.toContain(toHex(secret).slice(0, 16));
  const opened = await openWithPrivateKey(target.privateKey, {
    encapsulatedKey: fromHex(bundle.encappedPublic),
    ciphertext: fromHex(bundle.ciphertext),
  });
  expect(opened).toEqual(secret);
});

test('what the vault seals the window opens, whatever the length of the signature’s numbers', async () => {
  const target = await newExportTarget();
  expect(target.targetPublicKey).toMatch(/^04[0-9a-f]{128}$/);
  // One number in 256 is a byte shorter, one in two has a zero in front.
  for (let tries = 0; tries < 40; tries += 1) {
    expect(await target.open(await exported(target.targetPublicKey), expected)).toEqual(secret);
  }
});

test('a short number in a signature is read as what it is', async () => {
  const target = await newExportTarget();
  const bundle = await exported(target.targetPublicKey);
  const { data } = JSON.parse(bundle) as { data: string };
  let short: string | undefined;
  // The same bytes have the same signature, so the bytes change; JSON takes spaces after it.
  for (let tries = 0; tries < 4_000 && short === undefined; tries += 1) {
    const padded = new TextEncoder().encode(new TextDecoder().decode(fromHex(data)) + ' '.repeat(tries));
    const dataSignature = signP256(signer.privateKey, padded);
    if (dataSignature.length <= 138) {
      short = JSON.stringify({ ...(JSON.parse(bundle) as object), data: toHex(padded), dataSignature });
    }
  }
  expect(short).toBeDefined();
  expect(await target.open(short ?? '', expected)).toEqual(secret);
});

test('each export has a key of its own', async () => {
  const [one, other] = await Promise.all([newExportTarget(), newExportTarget()]);
  await expect(other.open(await exported(one.targetPublicKey), expected)).rejects.toThrow('does not open');
});

test('an answer that the vault’s key did not sign is refused, before anything is encrypted to it', async () => {
  const target = await newExportTarget();
  const stranger = keyPair();
  const targetPublic = toHex(uncompressP256(stranger.publicKey));
  const data = { targetPublic, organizationId, userId };
  for (const bundle of [
    signed(data, stranger),
    signed(data, stranger, { enclaveQuorumPublic: signerPublic }),
    signed(data, signer, { data: toHex(new TextEncoder().encode(JSON.stringify({ ...data, more: 1 }))) }),
  ]) {
    await expect(sealImport(bundle, expected, secret)).rejects.toThrow('not signed by the vault’s key');
  }
  await expect(target.open(await exported(target.targetPublicKey, stranger), expected)).rejects.toThrow(
    'not signed by the vault’s key',
  );
});

test('an answer for another organization or user is refused', async () => {
  const target = await newExportTarget();
  const elsewhere = 'd4a7b1c2-0000-4000-8000-000000000003';
  const targetPublic = toHex(uncompressP256(keyPair().publicKey));
  await expect(
    target.open(await exported(target.targetPublicKey, signer, elsewhere), expected),
  ).rejects.toThrow(`expected organizationId ${organizationId}`);
  await expect(
    sealImport(signed({ targetPublic, organizationId, userId: elsewhere }), expected, secret),
  ).rejects.toThrow(`expected userId ${userId}`);
  await expect(
    sealImport(signed({ targetPublic, organizationId: elsewhere, userId }), expected, secret),
  ).rejects.toThrow(`expected organizationId ${organizationId}`);
});

test.each([
  ['no signature', { dataSignature: '' }, 'dataSignature in hex'],
  ['a signature that is no DER', { dataSignature: '3006020101020102ff' }, 'a signature in DER'],
  ['numbers that are too long', { dataSignature: `3047${'02'.repeat(71)}` }, 'a signature in DER'],
  ['another version', { version: 'v2' }, 'version v1.0.0'],
])('%s is refused', async (_what, change, why) => {
  const targetPublic = toHex(uncompressP256(keyPair().publicKey));
  const bundle = signed({ targetPublic, organizationId, userId }, signer, change);
  await expect(sealImport(bundle, expected, secret)).rejects.toThrow(why);
});

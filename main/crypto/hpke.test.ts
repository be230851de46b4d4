import {
  Aes128Gcm,
  Aes256Gcm,
  CipherSuite,
  DhkemP256HkdfSha256,
  DhkemP521HkdfSha512,
  HkdfSha256,
  HkdfSha512,
  type AeadInterface,
  type EncryptionContext,
  type KdfInterface,
  type KemInterface,
} from '@hpke/core';
import { formatHpkeBuf, hpkeDecrypt, hpkeEncrypt } from '@turnkey/crypto';
import { describe, expect, test } from 'vitest';
import vectors from '../../test/vectors/rfc9180.json' with { type: 'json' };
import { KeyhearthError } from '../lib/errors.ts';
import { decodeHex, toHex } from './encodings.ts';
import { openWithPrivateKey, recipientContext, sealToPublicKey, senderContext } from './hpke.ts';
import { generateP256, uncompressP256 } from './keys/p256.ts';

const hex = (text: string): Uint8Array => decodeHex('vector', text);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('RFC 9180, appendix A', () => {
  const kems: Partial<Record<number, KemInterface>> = {
    16: new DhkemP256HkdfSha256(),
    18: new DhkemP521HkdfSha512(),
  };
  const kdfs: Partial<Record<number, KdfInterface>> = { 1: new HkdfSha256(), 3: new HkdfSha512() };
  const aeads: Partial<Record<number, AeadInterface>> = { 1: new Aes128Gcm(), 2: new Aes256Gcm() };
  const suiteOf = ({
    kemId,
    kdfId,
    aeadId,
  }: {
    kemId: number;
    kdfId: number;
    aeadId: number;
  }): CipherSuite => {
    const [kem, kdf, aead] = [kems[kemId], kdfs[kdfId], aeads[aeadId]];
    if (!kem || !kdf || !aead)
      throw new Error(`no suite ${String(kemId)}, ${String(kdfId)}, ${String(aeadId)}`);
    return new CipherSuite({ kem, kdf, aead });
  };

  test('three suites with six messages and three exports each are there', () => {
    expect(vectors.suites.map(({ section }) => section)).toEqual(['A.3.1', 'A.4.1', 'A.6.1']);
    expect(vectors.suites.map(({ encryptions, exports }) => [encryptions.length, exports.length])).toEqual([
      [6, 3],
      [6, 3],
      [6, 3],
    ]);
  });

  test.each(vectors.suites)(
    '$section: $name',
    async (vector) => {
      const suite = suiteOf(vector);
      const sender = await senderContext(
        suite,
        hex(vector.recipientPublicKey),
        hex(vector.info),
        hex(vector.ephemeralSeed),
      );
      expect(toHex(new Uint8Array(sender.enc))).toBe(vector.encapsulatedKey);
      const keyOf = (text: string, isPublic: boolean): Promise<CryptoKey> =>
        suite.kem.importKey('raw', owned(text).buffer, isPublic);
      const recipient = await recipientContext(
        suite,
        {
          privateKey: await keyOf(vector.recipientPrivateKey, false),
          publicKey: await keyOf(vector.recipientPublicKey, true),
        },
        hex(vector.encapsulatedKey),
        hex(vector.info),
      );
      for (const { context, length, value } of vector.exports) {
        expect(toHex(new Uint8Array(await sender.export(owned(context), length)))).toBe(value);
        expect(toHex(new Uint8Array(await recipient.export(owned(context), length)))).toBe(value);
      }
      let checked = 0;
      for (const { sequence, plaintext, aad, ciphertext } of vector.encryptions) {
        await skipTo(sender, recipient, sequence);
        expect(toHex(new Uint8Array(await sender.seal(owned(plaintext), owned(aad))))).toBe(ciphertext);
        expect(toHex(new Uint8Array(await recipient.open(owned(ciphertext), owned(aad))))).toBe(plaintext);
        checked++;
      }
      expect(checked).toBe(6);
    },
    60_000,
  );

  /** The messages that are not printed: those between are sealed and opened unseen, so that the numbers agree. */
  async function skipTo(
    sender: EncryptionContext,
    recipient: EncryptionContext,
    sequence: number,
  ): Promise<void> {
    const at = positions.get(sender) ?? 0;
    for (let number = at; number < sequence; number++) await recipient.open(await sender.seal(owned('00')));
    positions.set(sender, sequence + 1);
  }
  const positions = new WeakMap<EncryptionContext, number>();
});

describe('bundles', () => {
  const { privateKey, publicKey } = generateP256((length) => new Uint8Array(length).fill(21));
  const uncompressed = uncompressP256(publicKey);

  test('what is sealed opens', async () => {
    for (const plaintext of [new Uint8Array(), utf8('a'), new Uint8Array(5000).fill(7)]) {
      const sealed = await sealToPublicKey(uncompressed, plaintext);
      expect(sealed.encapsulatedKey).toHaveLength(65);
      expect(sealed.ciphertext).toHaveLength(plaintext.length + 16);
      expect(await openWithPrivateKey(privateKey, sealed)).toEqual(plaintext);
    }
  });

  test('the vendor’s client opens ours and we open the client’s, 50 times', async () => {
    for (let round = 0; round < 50; round++) {
      const { privateKey, publicKey } = generateP256((length) =>
        crypto.getRandomValues(new Uint8Array(length)),
      );
      const plaintext = crypto.getRandomValues(new Uint8Array(round * 3 + 1));
      const ours = await sealToPublicKey(uncompressP256(publicKey), plaintext);
      const opened = hpkeDecrypt({
        ciphertextBuf: ours.ciphertext,
        encappedKeyBuf: ours.encapsulatedKey,
        receiverPriv: toHex(privateKey),
      });
      expect(toHex(opened)).toBe(toHex(plaintext));
      const theirs = JSON.parse(
        formatHpkeBuf(hpkeEncrypt({ plainTextBuf: plaintext, targetKeyBuf: uncompressP256(publicKey) })),
      ) as Record<string, string>;
      const sealed = {
        encapsulatedKey: hex(theirs['encappedPublic'] ?? ''),
        ciphertext: hex(theirs['ciphertext'] ?? ''),
      };
      expect(toHex(await openWithPrivateKey(privateKey, sealed))).toBe(toHex(plaintext));
    }
  }, 60_000);

  test('a seed makes the result reproducible; without one no two are alike', async () => {
    const seed = new Uint8Array(32).fill(1);
    const [one, two] = [
      await sealToPublicKey(uncompressed, utf8('x'), seed),
      await sealToPublicKey(uncompressed, utf8('x'), seed),
    ];
    expect(one).toEqual(two);
    const [three, four] = [
      await sealToPublicKey(uncompressed, utf8('x')),
      await sealToPublicKey(uncompressed, utf8('x')),
    ];
    expect(toHex(three.encapsulatedKey)).not.toBe(toHex(four.encapsulatedKey));
  });

  test('what was changed, or meant for another, does not open', async () => {
    const sealed = await sealToPublicKey(uncompressed, utf8('secret'));
    const { privateKey: another } = generateP256((length) => new Uint8Array(length).fill(22));
    const refused = new KeyhearthError(
      'INVALID_ARGUMENT',
      'invalid ciphertext: it does not open: it was encrypted to another key, or changed on the way',
    );
    await expect(openWithPrivateKey(another, sealed)).rejects.toThrow(refused);
    await expect(
      openWithPrivateKey(privateKey, {
        ...sealed,
        ciphertext: sealed.ciphertext.map((byte, at) => (at === 0 ? byte ^ 1 : byte)),
      }),
    ).rejects.toThrow(refused);
    const replaced = await sealToPublicKey(uncompressed, utf8('secret'));
    await expect(
      openWithPrivateKey(privateKey, { ...sealed, encapsulatedKey: replaced.encapsulatedKey }),
    ).rejects.toThrow(refused);
  });

  test('arguments are checked by name', async () => {
    const sealed = await sealToPublicKey(uncompressed, utf8('x'));
    await expect(sealToPublicKey(publicKey, utf8('x'))).rejects.toThrow(
      'recipientPublicKey: expected a Uint8Array of 65 bytes, got 33 bytes',
    );
    await expect(sealToPublicKey(new Uint8Array(65).fill(4), utf8('x'))).rejects.toThrow(
      'invalid recipientPublicKey: expected a public key',
    );
    await expect(
      openWithPrivateKey(privateKey, { ...sealed, encapsulatedKey: new Uint8Array(65).fill(4) }),
    ).rejects.toThrow('invalid encapsulatedKey: expected a public key');
    await expect(
      openWithPrivateKey(privateKey, { ...sealed, ciphertext: new Uint8Array(15) }),
    ).rejects.toThrow('invalid ciphertext: expected 16 bytes or more, got 15');
    await expect(openWithPrivateKey(new Uint8Array(31), sealed)).rejects.toThrow(
      'recipientPrivateKey: expected a Uint8Array of 32 bytes, got 31 bytes',
    );
  });
});

function owned(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hex(text));
}

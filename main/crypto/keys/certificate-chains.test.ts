import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newCertificate } from '../../../test/support/software-authenticator.ts';
import vectors from '../../../test/vectors/webauthn.json' with { type: 'json' };
import { followChain } from './certificate-chains.ts';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const root = hex(vectors.rootCertificate);
const anchor = new X509Certificate(root);
const now = new Date('2026-01-01');

/** The certificate in the statement of one of the standard's examples. */
function leafOf(name: string): Uint8Array {
  const object = vectors.vectors.find((vector) => vector.name === name)?.registration.attestationObject ?? '';
  const start = object.indexOf('63783563815902') + '63783563815902'.length;
  const length = 0x200 + Number.parseInt(object.slice(start, start + 2), 16);
  return hex(object.slice(start + 2, start + 2 + length * 2));
}

const [leaf, other] = [leafOf('apple.ES256'), leafOf('packed.EdDSA')];

describe('followChain', () => {
  test('leads to the anchor, whether it is sent along or not', () => {
    expect(followChain([leaf], [anchor], now)).toBe(anchor);
    expect(followChain([leaf, root], [anchor], now)).toBe(anchor);
    expect(followChain([root], [anchor], now)).toBe(anchor);
    const stranger = new X509Certificate(newCertificate().certificate);
    expect(followChain([leaf], [stranger, anchor], now)).toBe(anchor);
  });

  const unknown = 'its certificates do not lead to a known root';
  test.each<[string, readonly Uint8Array[], readonly X509Certificate[], string]>([
    ['nothing', [], [anchor], unknown],
    ['no anchor', [leaf], [], unknown],
    ['a foreign anchor', [leaf], [new X509Certificate(newCertificate().certificate)], unknown],
    ['a leaf that is not the anchor’s', [newCertificate().certificate], [anchor], unknown],
    [
      'certificates of which none issued the other',
      [leaf, other],
      [anchor],
      'it has a certificate that is not issued by the next one',
    ],
    ['the root first', [root, leaf], [anchor], 'it has a certificate that is not issued by the next one'],
    [
      'a leaf of another issuer before the root',
      [newCertificate().certificate, root],
      [anchor],
      'it has a certificate that is not issued by the next one',
    ],
    [
      'what is no certificate',
      [leaf, new Uint8Array([0x30])],
      [anchor],
      'it has a certificate that cannot be read',
    ],
  ])('refuses %s', (_, chain, anchors, problem) => {
    expect(followChain(chain, anchors, now)).toBe(problem);
  });

  test('refuses a changed certificate, wherever it is changed', () => {
    for (const place of [40, 300, leaf.length - 1]) {
      const changed = leaf.map((byte, index) => (index === place ? byte ^ 1 : byte));
      expect(typeof followChain([changed], [anchor], now), String(place)).toBe('string');
    }
  });

  test('refuses a certificate that is not valid yet or has expired', () => {
    const problem = 'it has a certificate that is not valid at this time';
    expect(followChain([leaf], [anchor], new Date('2023-12-31'))).toBe(problem);
    expect(followChain([leaf], [anchor], new Date('3024-01-02'))).toBe(problem);
  });

  test('refuses an anchor that may not issue any', () => {
    const { certificate } = newCertificate();
    expect(followChain([certificate], [new X509Certificate(certificate)], now)).toBe(
      'it has a certificate issued by one that may not issue any',
    );
  });
});

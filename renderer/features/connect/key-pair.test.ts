import { createECDH } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { generateApiKeyPair, keyPairFromJwk } from './key-pair.ts';

describe('key pairs', () => {
  // RFC 7515 appendix A.3.1.
  test('a published key is written as SEC1 and a scalar', () => {
    expect(
      keyPairFromJwk({
        kty: 'EC',
        crv: 'P-256',
        x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
        y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
        d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
      }),
    ).toEqual({
      publicKey: '037fcdce2770f6c45d4183cbee6fdb4b7b580733357be9ef13bacf6e3c7bd15445',
      privateKey: '8e9b109e719098bf980487df1f5d77e9cb29606ebed2263b5f57c213df84f4b2',
    });
  });

  test('the public half belongs to the private one, for both parities of y', async () => {
    const prefixes = new Set<string>();
    for (let round = 0; round < 64 && prefixes.size < 2; round += 1) {
      const { publicKey, privateKey } = await generateApiKeyPair();
      const ecdh = createECDH('prime256v1');
      ecdh.setPrivateKey(privateKey, 'hex');
      expect(ecdh.getPublicKey('hex', 'compressed')).toBe(publicKey);
      prefixes.add(publicKey.slice(0, 2));
    }
    expect([...prefixes].sort()).toEqual(['02', '03']);
  });

  test('a public key alone is refused', () => {
    expect(() => keyPairFromJwk({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' })).toThrow('private P-256');
  });
});

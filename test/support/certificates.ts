/** Self-signed certificates (RFC 5280) for servers of tests, on this machine. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { der } from './software-authenticator.ts';

/** For `localhost` and 127.0.0.1; it is its own authority. Both PEM. */
export function localCertificate(): { readonly certificate: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const hex = (text: string): Buffer => Buffer.from(text, 'hex');
  const ecdsaWithSha256 = hex('300a06082a8648ce3d040302');
  const name = der(0x30, der(0x31, der(0x30, hex('0603550403'), der(0x0c, Buffer.from('localhost')))));
  const time = (text: string): Buffer => der(0x18, Buffer.from(text));
  const hosts = der(0x30, der(0x82, Buffer.from('localhost')), der(0x87, hex('7f000001')));
  const signed = der(
    0x30,
    hex('a003020102'),
    der(0x02, hex('01')),
    ecdsaWithSha256,
    name,
    der(0x30, time('20240101000000Z'), time('30240101000000Z')),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(
      0xa3,
      der(
        0x30,
        // basicConstraints: a CA; subjectAltName: the hosts.
        hex('300f0603551d130101ff040530030101ff'),
        der(0x30, hex('0603551d11'), der(0x04, hosts)),
      ),
    ),
  );
  const signature = der(0x03, hex('00'), sign('sha256', signed, privateKey));
  const body = der(0x30, signed, ecdsaWithSha256, signature)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

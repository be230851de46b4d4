/** Chains of X.509 certificates, followed without a network request. */
import { X509Certificate } from 'node:crypto';

/**
 * @param chain In DER: the leaf first, each issued by the next, the last by an anchor or itself one.
 * @returns the anchor that the chain leads to, or what is wrong with it.
 */
export function followChain(
  chain: readonly Uint8Array[],
  anchors: readonly X509Certificate[],
  now: Date,
): X509Certificate | string {
  let certificates: X509Certificate[];
  try {
    certificates = chain.map((der) => new X509Certificate(der));
  } catch {
    return 'it has a certificate that cannot be read';
  }
  const last = certificates.at(-1);
  const anchor = anchors.find((root) => last && (last.raw.equals(root.raw) || isIssuedBy(last, root)));
  if (anchor === undefined) return 'its certificates do not lead to a known root';
  for (const [index, certificate] of [...certificates, anchor].entries()) {
    if (certificate.validFromDate > now || certificate.validToDate < now) {
      return 'it has a certificate that is not valid at this time';
    }
    if (index > 0 && !certificate.ca) return 'it has a certificate issued by one that may not issue any';
    const issuer = certificates[index + 1];
    if (issuer && !isIssuedBy(certificate, issuer)) {
      return 'it has a certificate that is not issued by the next one';
    }
  }
  return anchor;
}

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/** The way from a peer's certificate to an authority, over the certificates that the peer sent. */
import { X509Certificate } from 'node:crypto';

export const LONGEST_CHAIN = 16;

/** From the peer's certificate to one of the authorities; undefined: none vouches for it. */
export function chainTo(
  peer: X509Certificate,
  authorities: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  const chain: X509Certificate[] = [];
  let present: X509Certificate | undefined = peer;
  while (present !== undefined && chain.length < LONGEST_CHAIN) {
    const signed: X509Certificate = present;
    chain.push(signed);
    const anchor = authorities.find((authority) => isIssuedBy(signed, authority));
    if (anchor !== undefined) return [...chain, anchor];
    const issuer: X509Certificate | undefined = signed.issuerCertificate;
    if (issuer === undefined || !isIssuedBy(signed, issuer)) return undefined;
    present = issuer.fingerprint256 === signed.fingerprint256 ? undefined : issuer;
  }
  return undefined;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false; // a key that the runtime does not know
  }
}

/** The certificates of a PEM text. */
export function parseAll(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

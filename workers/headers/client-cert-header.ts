/** What becomes of `x-forwarded-client-cert` on connections whose client showed a certificate. */
import type { ClientCertForwarding } from '../../shared/resources/listener.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { CertificateInfo, TlsInfo } from '../net/connection-info.ts';

const NAME = 'x-forwarded-client-cert';

/** Whether an earlier proxy's element stays; without a certificate nothing vouches for it. */
export function keepsClientCert(
  forwarding: ClientCertForwarding | undefined,
  tls: TlsInfo | undefined,
): boolean {
  if (forwarding === undefined || tls?.peer === undefined) return false;
  return forwarding.mode !== 'SANITIZE_SET';
}

/** Adds this client's element where it is configured. */
export function writeClientCert(
  headers: HeaderMap,
  forwarding: ClientCertForwarding | undefined,
  tls: TlsInfo | undefined,
): void {
  if (forwarding === undefined || forwarding.mode === 'FORWARD_ONLY') return;
  const { peer } = tls ?? {};
  if (peer === undefined) return;
  const element = elementOf(forwarding, peer, tls?.local);
  const earlier = headers.getAll(NAME);
  headers.set(NAME, earlier === undefined ? element : `${earlier},${element}`);
}

function elementOf(
  { details }: ClientCertForwarding,
  peer: CertificateInfo,
  local: CertificateInfo | undefined,
): string {
  const pairs = (local?.uriSans ?? []).map((uri) => `By=${uri}`);
  pairs.push(`Hash=${peer.fingerprint256}`);
  if (details.includes('cert')) pairs.push(`Cert="${encodeURIComponent(peer.pem)}"`);
  if (details.includes('chain')) pairs.push(`Chain="${encodeURIComponent(chainOf(peer))}"`);
  if (details.includes('subject')) pairs.push(`Subject="${peer.subject}"`);
  if (details.includes('uri')) {
    // Envoy names this key even where there is no value to it.
    const uris = peer.uriSans.length === 0 ? [''] : peer.uriSans;
    pairs.push(...uris.map((uri) => `URI=${uri}`));
  }
  if (details.includes('dns')) pairs.push(...peer.dnsSans.map((name) => `DNS=${name}`));
  return pairs.join(';');
}

function chainOf(leaf: CertificateInfo): string {
  let text = '';
  for (let of: CertificateInfo | undefined = leaf; of !== undefined; of = of.issuedBy) {
    text += of.pem;
  }
  return text;
}

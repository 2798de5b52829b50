/** Trust domains of SPIFFE: to which one a certificate belongs, by its URI, and who vouches there. */
import type { X509Certificate } from 'node:crypto';
import type { TrustDomain } from '../resources/tls.ts';
import { subjectAltNames } from './certificate-names.ts';
import { readCertificate } from './certificate-parts.ts';
import { parseAll } from './peer-chain.ts';

const ID = /^spiffe:\/\/([^/]*)\//;
const KEY_USAGE = '2.5.29.15';
/** Bits of the first byte: keyCertSign and cRLSign, what only an authority's key may do. */
const SIGNING_BITS = 0b0000_0110;

export class TrustDomains {
  readonly #bundles: ReadonlyMap<string, string>;
  readonly #authorities = new Map<string, readonly X509Certificate[]>();

  constructor(domains: readonly TrustDomain[]) {
    this.#bundles = new Map(domains.map(({ name, bundle }) => [name, bundle]));
  }

  /** Those of the member's domain, or why it is no member. */
  authoritiesOf(peer: X509Certificate): readonly X509Certificate[] | string {
    if (peer.ca || maySign(peer)) return 'SPIFFE precheck failed';
    for (const { kind, value } of subjectAltNames(peer)) {
      const name = kind === 'uri' ? ID.exec(value)?.[1] : undefined;
      if (name !== undefined && this.#bundles.has(name)) return this.#parsed(name);
    }
    return 'no trust bundle store';
  }

  #parsed(name: string): readonly X509Certificate[] {
    const known = this.#authorities.get(name);
    if (known !== undefined) return known;
    const authorities = parseAll(this.#bundles.get(name) ?? '');
    this.#authorities.set(name, authorities);
    return authorities;
  }
}

function maySign(peer: X509Certificate): boolean {
  const parts = readCertificate(peer.raw);
  const usage = parts?.extensions.get(KEY_USAGE);
  if (parts === undefined || usage === undefined) return false;
  // A BIT STRING: the number of unused bits, then the bits.
  return ((parts.raw[usage.start + 1] ?? 0) & SIGNING_BITS) !== 0;
}

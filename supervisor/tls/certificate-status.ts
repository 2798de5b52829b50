/** What `/certs` shows of a certificate. Types only. */

/** One TLS context of the configuration: envoy.admin.v3.Certificate. */
export interface CertificateStatus {
  readonly ca: readonly CertificateDetails[];
  readonly chain: readonly CertificateDetails[];
}

export interface CertificateDetails {
  readonly path: string;
  readonly serialNumber: string;
  readonly subjectAltNames: readonly {
    readonly kind: 'dns' | 'uri' | 'ip';
    readonly value: string;
  }[];
  readonly validFromMs: number;
  readonly expiresMs: number;
}

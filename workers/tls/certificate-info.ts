/** Facts of a certificate for access logs, headers and checks, each read when it is asked for. */
import type { X509Certificate } from 'node:crypto';
import {
  altNamesOf,
  distinguishedName,
  serialText,
  type SubjectAltName,
} from '../../shared/tls/certificate-names.ts';
import { type CertificateParts, readCertificate } from '../../shared/tls/certificate-parts.ts';
import type { CertificateInfo } from '../net/connection-info.ts';

export class X509Facts implements CertificateInfo {
  readonly #certificate: X509Certificate;
  #parts: CertificateParts | null | undefined = undefined;
  #names: readonly SubjectAltName[] | undefined = undefined;

  constructor(certificate: X509Certificate) {
    this.#certificate = certificate;
  }

  get subject(): string {
    const parts = this.#read();
    return parts === undefined ? '' : distinguishedName(parts.raw, parts.subject);
  }

  get issuer(): string {
    const parts = this.#read();
    return parts === undefined ? '' : distinguishedName(parts.raw, parts.issuer);
  }

  get serial(): string {
    const parts = this.#read();
    return parts === undefined ? '' : serialText(parts);
  }

  get fingerprint1(): string {
    return plainHex(this.#certificate.fingerprint);
  }

  get fingerprint256(): string {
    return plainHex(this.#certificate.fingerprint256);
  }

  get pem(): string {
    return this.#certificate.toString();
  }

  get uriSans(): readonly string[] {
    return this.#sansOf('uri');
  }

  get dnsSans(): readonly string[] {
    return this.#sansOf('dns');
  }

  get ipSans(): readonly string[] {
    return this.#sansOf('ip');
  }

  get emailSans(): readonly string[] {
    return this.#sansOf('email');
  }

  get validFromMs(): number {
    return this.#read()?.validFromMs ?? Number.NaN;
  }

  get validToMs(): number {
    return this.#read()?.validToMs ?? Number.NaN;
  }

  get issuedBy(): CertificateInfo | undefined {
    const issuer = this.#certificate.issuerCertificate;
    if (issuer === undefined || issuer.fingerprint256 === this.#certificate.fingerprint256) {
      return undefined;
    }
    return new X509Facts(issuer);
  }

  #sansOf(wanted: SubjectAltName['kind']): readonly string[] {
    const parts = this.#read();
    this.#names ??= parts === undefined ? [] : altNamesOf(parts);
    return this.#names.filter(({ kind }) => kind === wanted).map(({ value }) => value);
  }

  #read(): CertificateParts | undefined {
    if (this.#parts === undefined) this.#parts = readCertificate(this.#certificate.raw) ?? null;
    return this.#parts ?? undefined;
  }
}

function plainHex(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

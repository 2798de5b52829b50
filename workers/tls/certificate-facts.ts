/** Facts of a certificate for access logs, headers and checks, each read when it is asked for. */
import type { X509Certificate } from 'node:crypto';
import { distinguishedName } from './distinguished-name.ts';
import { parseSubjectAltNames, type SubjectAltName } from '../../shared/tls/subject-alt-names.ts';
import type { CertificateFacts } from '../net/connection-info.ts';

export class X509Facts implements CertificateFacts {
  readonly #certificate: X509Certificate;
  #names: readonly SubjectAltName[] | undefined = undefined;

  constructor(certificate: X509Certificate) {
    this.#certificate = certificate;
  }

  get subject(): string {
    return distinguishedName(this.#certificate.subject);
  }

  get issuer(): string {
    return distinguishedName(this.#certificate.issuer);
  }

  get serial(): string {
    return this.#certificate.serialNumber.toLowerCase();
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
    return Date.parse(this.#certificate.validFrom);
  }

  get validToMs(): number {
    return Date.parse(this.#certificate.validTo);
  }

  get issuedBy(): CertificateFacts | undefined {
    const issuer = this.#certificate.issuerCertificate;
    if (issuer === undefined || issuer.fingerprint256 === this.#certificate.fingerprint256) {
      return undefined;
    }
    return new X509Facts(issuer);
  }

  #sansOf(wanted: SubjectAltName['kind']): readonly string[] {
    this.#names ??= parseSubjectAltNames(this.#certificate.subjectAltName);
    return this.#names.filter(({ kind }) => kind === wanted).map(({ value }) => value);
  }
}

function plainHex(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

/** Resolves envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext. */
import { oidOf } from '../../../shared/tls/certificate-names.ts';
import type {
  CertificateValidationContext as ValidationMessage,
  SubjectAltNameMatcher,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/common.ts';
import type { SanMatcher, TlsValidation, TrustDomain } from '../../../shared/resources/tls.ts';
import { isSkippedSecret, readDataSource, readFilledSource } from '../data-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveStringMatcher } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { parseCertificate, pathOf } from './certificates.ts';
import { CERTIFICATE_VALIDATORS } from './spiffe.ts';

const FIELDS = knownFields<ValidationMessage>(
  [
    'trusted_ca',
    'system_root_certs',
    'verify_certificate_spki',
    'verify_certificate_hash',
    'match_typed_subject_alt_names',
    'match_subject_alt_names',
    'crl',
    'allow_expired_certificate',
    'trust_chain_verification',
    'max_verify_depth',
    'only_verify_leaf_cert_crl',
    'custom_validator_config',
  ],
  // Files of secrets are watched in any case; a list of names is a hint for clients.
  ['watched_directory', 'suppress_client_ca_list'],
);

const SHA256 = /^[\da-f]{64}$/;
const SYSTEM_ROOTS = '<system>';

export function resolveValidation(
  message: ValidationMessage,
  scope: Scope,
  /** A context that another one completes may have matchers without an authority. */
  isPartial = false,
): TlsValidation {
  refuseOtherFields(message, FIELDS, scope);
  refuseUnsupported(message, scope);
  const validator = message.custom_validator_config;
  const trustDomains =
    validator && CERTIFICATE_VALIDATORS.resolve(validator, scope.at('custom_validator_config'));
  if (trustDomains !== undefined) return resolveSpiffe(message, trustDomains, scope);
  const trustedCa = resolveTrustedCa(message, scope);
  const sanMatchers = resolveSanMatchers(message, scope);
  if (sanMatchers.length > 0 && trustedCa === undefined && !isPartial) {
    scope.error(
      'conflict',
      'SAN-based verification of peer certificates without trusted CA is insecure and not allowed',
    );
  }
  const { crl } = message;
  const crlText =
    crl === undefined || isSkippedSecret(crl, scope)
      ? undefined
      : readDataSource(crl, scope.at('crl'))?.toString('latin1');
  return {
    ...optional('trustedCa', trustedCa),
    caPath: message.system_root_certs === undefined ? pathOf(message.trusted_ca) : SYSTEM_ROOTS,
    ...optional('crl', listsIn(crlText, trustedCa)),
    ...optional('maxVerifyDepth', message.max_verify_depth),
    allowExpired: message.allow_expired_certificate ?? false,
    acceptUntrusted: message.trust_chain_verification === 'ACCEPT_UNTRUSTED',
    sanMatchers,
    certificateHashes: (message.verify_certificate_hash ?? []).map((hash, index) =>
      resolveHash(hash, scope.at('verify_certificate_hash', index)),
    ),
    spkiHashes: message.verify_certificate_spki ?? [],
  };
}

/** Neither pins, revocation lists nor other authorities count beside trust domains. */
function resolveSpiffe(
  message: ValidationMessage,
  trustDomains: readonly TrustDomain[],
  scope: Scope,
): TlsValidation {
  return {
    ...(trustDomains.length === 0
      ? {}
      : { trustedCa: trustDomains.map(({ bundle }) => bundle).join('\n') }),
    trustDomains,
    caPath: '',
    allowExpired: message.allow_expired_certificate ?? false,
    acceptUntrusted: false,
    sanMatchers: resolveSanMatchers(message, scope),
    certificateHashes: [],
    spkiHashes: [],
  };
}

const LISTS = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;

/** The revocation lists of all texts: a bundle of authorities may hold some too, as in Envoy. */
function listsIn(...texts: readonly (string | undefined)[]): string | undefined {
  const lists = texts.flatMap((text) => text?.match(LISTS) ?? []);
  return lists.length === 0 ? undefined : lists.join('\n');
}

function refuseUnsupported(message: ValidationMessage, scope: Scope): void {
  if (message.only_verify_leaf_cert_crl !== true) return;
  const place = scope.at('only_verify_leaf_cert_crl');
  place.unsupported(`field 'only_verify_leaf_cert_crl' is`, 'leave it out');
}

function resolveTrustedCa(message: ValidationMessage, scope: Scope): string | undefined {
  const { trusted_ca: source } = message;
  if (source === undefined) {
    if (message.system_root_certs === undefined) return undefined;
    return process.getBuiltinModule('node:tls').rootCertificates.join('\n');
  }
  const place = scope.at('trusted_ca');
  if (isSkippedSecret(source, scope)) return '';
  const text = readFilledSource(source, place)?.toString('latin1');
  if (text === undefined) return undefined;
  if (parseCertificate(text) === undefined) {
    place.error('file', `Failed to load trusted CA certificates from ${pathOf(source)}`);
  }
  return text;
}

function resolveSanMatchers(message: ValidationMessage, scope: Scope): readonly SanMatcher[] {
  const typed = (message.match_typed_subject_alt_names ?? []).map((each, index) =>
    resolveSanMatcher(each, scope.at('match_typed_subject_alt_names', index)),
  );
  // The older field matches names of every type.
  const untyped = (message.match_subject_alt_names ?? []).flatMap((each, index) => {
    const matcher = resolveStringMatcher(each, scope.at('match_subject_alt_names', index));
    if (matcher === undefined) return [];
    return (['DNS', 'URI', 'EMAIL', 'IP_ADDRESS'] as const).map((type) => ({ type, matcher }));
  });
  return [...typed.filter((matcher) => matcher !== undefined), ...untyped];
}

export function resolveSanMatcher(
  message: SubjectAltNameMatcher,
  scope: Scope,
): SanMatcher | undefined {
  const { san_type: type } = message;
  const matcher = resolveStringMatcher(message.matcher ?? {}, scope.at('matcher'));
  if (type === 'DNS' || type === 'URI' || type === 'EMAIL' || type === 'IP_ADDRESS') {
    return matcher && { type, matcher };
  }
  if (type === 'OTHER_NAME') {
    const oid = oidOf(message.oid ?? '');
    if (oid !== undefined) return matcher && { type, oid, matcher };
    const problem = `Failed to create SAN matcher for OTHER_NAME with OID: ${message.oid ?? ''}`;
    scope.at('oid').error('conflict', problem);
    return undefined;
  }
  scope.at('san_type').unsupported(`subject alternative names of type ${String(type)} are`);
  return undefined;
}

function resolveHash(hash: string, scope: Scope): string {
  const plain = hash.replaceAll(':', '').toLowerCase();
  if (!SHA256.test(plain)) scope.error('conflict', `Invalid hex-encoded SHA-256 ${hash}`);
  return plain;
}

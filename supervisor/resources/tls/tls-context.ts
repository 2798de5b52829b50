/**
 * Resolves the configuration of TLS transport sockets: UpstreamTlsContext and DownstreamTlsContext.
 */
import type {
  CommonTlsContext,
  CommonTlsContext_CombinedCertificateValidationContext as CombinedMessage,
  DownstreamTlsContext,
  UpstreamTlsContext,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/tls.ts';
import type { DownstreamTls, TlsContext, UpstreamTls } from '../../../shared/resources/tls.ts';
import { layOver } from '../../../shared/tls/complete-tls.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMs } from '../values.ts';
import { resolveCertificate } from './certificates.ts';
import { OTHER_KIND, resolveSecretReference, UNKNOWN } from './secret-references.ts';
import { resolveTickets } from './ticket-keys.ts';
import { resolveTlsParameters } from './tls-parameters.ts';
import { resolveValidation } from './validation.ts';

const COMMON_FIELDS = knownFields<CommonTlsContext>([
  'tls_params',
  'tls_certificates',
  'tls_certificate_sds_secret_configs',
  'validation_context',
  'validation_context_sds_secret_config',
  'combined_validation_context',
  'alpn_protocols',
]);
const COMBINED_FIELDS = knownFields<CombinedMessage>([
  'default_validation_context',
  'validation_context_sds_secret_config',
]);
const UPSTREAM_FIELDS = knownFields<UpstreamTlsContext>([
  'common_tls_context',
  'sni',
  'auto_host_sni',
  'auto_sni_san_validation',
  'max_session_keys',
  'allow_renegotiation',
  'enforce_rsa_key_usage',
]);
const DOWNSTREAM_FIELDS = knownFields<DownstreamTlsContext>(
  [
    'common_tls_context',
    'require_client_certificate',
    'require_sni',
    'session_ticket_keys',
    'session_ticket_keys_sds_secret_config',
    'disable_stateless_session_resumption',
    'session_timeout',
    'prefer_client_ciphers',
    'full_scan_certs_on_sni_mismatch',
  ],
  // Sessions live in tickets only; nothing is stapled.
  ['disable_stateful_session_resumption', 'ocsp_staple_policy'],
);

/** TLS writes names with their length in a byte, and the list with its length in two. */
const MAX_ALPN_BYTES = 255;
const MAX_ALPN_LIST_BYTES = 65_535;

const SESSION_TIMEOUT_S = 7200;

export function resolveUpstreamTls(message: UpstreamTlsContext, scope: Scope): UpstreamTls {
  refuseOtherFields(message, UPSTREAM_FIELDS, scope);
  if (message.enforce_rsa_key_usage === true) {
    scope
      .at('enforce_rsa_key_usage')
      .warning(
        'no_effect',
        'enforce_rsa_key_usage has no effect: OpenSSL judges key usage its own way',
      );
  }
  const common = resolveCommon(message.common_tls_context ?? {}, 'client', commonScope(scope));
  if (common.certificates.length + common.certificateSecrets.length > 1) {
    scope.error('conflict', 'Multiple TLS certificates are not supported for client contexts');
  }
  return {
    ...common,
    ...(message.allow_renegotiation === true ? { allowsRenegotiation: true } : {}),
    serverName: message.sni ?? '',
    autoHostServerName: message.auto_host_sni ?? false,
    autoSanValidation: message.auto_sni_san_validation ?? false,
    maxSessionKeys: message.max_session_keys ?? 1,
  };
}

export function resolveDownstreamTls(message: DownstreamTlsContext, scope: Scope): DownstreamTls {
  refuseOtherFields(message, DOWNSTREAM_FIELDS, scope);
  const context = message.common_tls_context ?? {};
  const common = resolveCommon(context, 'server', commonScope(scope));
  const configured = [
    ...(context.tls_certificates ?? []),
    ...(context.tls_certificate_sds_secret_configs ?? []),
  ];
  if (configured.length === 0) {
    scope.error('conflict', 'No TLS certificates found for server context');
  }
  if (message.ocsp_staple_policy === 'MUST_STAPLE') {
    scope.at('ocsp_staple_policy').unsupported('stapling answers of OCSP is');
  }
  if (message.full_scan_certs_on_sni_mismatch === true) {
    scope
      .at('full_scan_certs_on_sni_mismatch')
      .warning(
        'no_effect',
        'full_scan_certs_on_sni_mismatch has no effect: unknown names get the first certificate',
      );
  }
  const { session_timeout: timeout } = message;
  return {
    ...common,
    requireClientCertificate: message.require_client_certificate ?? false,
    requireServerName: message.require_sni ?? false,
    preferClientCiphers: message.prefer_client_ciphers ?? false,
    ...resolveTickets(message, scope),
    usesTickets: message.disable_stateless_session_resumption !== true,
    sessionTimeoutS:
      timeout === undefined ? SESSION_TIMEOUT_S : Math.floor(durationMs(timeout) / 1000),
  };
}

function commonScope(scope: Scope): Scope {
  return scope.at('common_tls_context');
}

function resolveCommon(
  message: CommonTlsContext,
  side: 'client' | 'server',
  scope: Scope,
): TlsContext {
  refuseOtherFields(message, COMMON_FIELDS, scope);
  const material = {
    ...resolveCertificates(message, scope),
    ...resolveCommonValidation(message, scope),
  };
  const waits = material.certificateSecrets.length > 0 || material.validationSecret !== undefined;
  const parameters = message.tls_params ?? {};
  return {
    parameters: resolveTlsParameters(parameters, side, waits, scope.at('tls_params')),
    alpn: resolveAlpn(message.alpn_protocols ?? [], scope.at('alpn_protocols')),
    ...material,
  };
}

/** Each text may name several, between commas. */
function resolveAlpn(texts: readonly string[], scope: Scope): readonly string[] {
  const names = texts.flatMap((text) => text.split(',')).filter((name) => name !== '');
  const lengths = names.map((name) => Buffer.byteLength(name));
  const sum = lengths.reduce((total, length) => total + length + 1, 0);
  if (lengths.every((length) => length <= MAX_ALPN_BYTES) && sum < MAX_ALPN_LIST_BYTES) {
    return names;
  }
  scope.error('conflict', `Invalid ALPN protocol string`);
  return [];
}

/** What the context holds itself and what it waits for. */
function resolveCertificates(
  message: CommonTlsContext,
  scope: Scope,
): Pick<TlsContext, 'certificates' | 'certificateSecrets'> {
  const { tls_certificates: own = [], tls_certificate_sds_secret_configs: named = [] } = message;
  if (own.length > 0 && named.length > 0) {
    scope.error(
      'conflict',
      'TLS certificates and SDS secret configurations cannot be used together',
    );
  }
  const certificates = own.map((each, index) =>
    resolveCertificate(each, scope.at('tls_certificates', index)),
  );
  const certificateSecrets: string[] = [];
  for (const [index, each] of named.entries()) {
    const place = scope.at('tls_certificate_sds_secret_configs', index);
    const reference = resolveSecretReference(each, 'certificate', place);
    if (reference?.at === 'source') certificateSecrets.push(reference.key);
    if (reference?.at !== 'bootstrap') continue;
    const { name, secret } = reference;
    if (secret.tls_certificate === undefined) {
      place.error('reference', `${UNKNOWN.certificate}: ${name}`, OTHER_KIND);
      continue;
    }
    const resolved = resolveCertificate(secret.tls_certificate, place);
    certificates.push(resolved === undefined ? undefined : { ...resolved, secretName: name });
  }
  return {
    certificates: certificates.filter((value) => value !== undefined),
    certificateSecrets,
  };
}

type Validation = Pick<TlsContext, 'validation' | 'validationSecret'>;

function resolveCommonValidation(message: CommonTlsContext, scope: Scope): Validation {
  if (message.validation_context !== undefined) {
    const place = scope.at('validation_context');
    return { validation: resolveValidation(message.validation_context, place) };
  }
  const { combined_validation_context: combined } = message;
  if (combined !== undefined) {
    return resolveCombined(combined, scope.at('combined_validation_context'));
  }
  const { validation_context_sds_secret_config: reference } = message;
  if (reference === undefined) return {};
  return resolveNamed(reference, scope.at('validation_context_sds_secret_config'), false);
}

/** The secret is laid over the defaults. */
function resolveCombined(message: CombinedMessage, scope: Scope): Validation {
  refuseOtherFields(message, COMBINED_FIELDS, scope);
  const { default_validation_context: defaults = {} } = message;
  const own = resolveValidation(defaults, scope.at('default_validation_context'), true);
  const { validation_context_sds_secret_config: reference } = message;
  if (reference === undefined) return { validation: own };
  const place = scope.at('validation_context_sds_secret_config');
  const over = resolveNamed(reference, place, true);
  if (over.validation === undefined) return { ...over, validation: own };
  return { validation: layOver(own, over.validation) };
}

function resolveNamed(
  message: NonNullable<CommonTlsContext['validation_context_sds_secret_config']>,
  scope: Scope,
  isPartial: boolean,
): Validation {
  const reference = resolveSecretReference(message, 'validation', scope);
  if (reference === undefined) return {};
  if (reference.at === 'source') return { validationSecret: reference.key };
  const { name, secret } = reference;
  if (secret.validation_context === undefined) {
    scope.error('reference', `${UNKNOWN.validation}: ${name}`, OTHER_KIND);
    return {};
  }
  const resolved = resolveValidation(secret.validation_context, scope, isPartial);
  return { validation: { ...resolved, secretName: name } };
}

/** Resolves the configuration of TLS transport sockets: UpstreamTlsContext and DownstreamTlsContext. */
import { hkdfSync } from 'node:crypto';
import type { TlsSessionTicketKeys } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/common.ts';
import type {
  CommonTlsContext,
  CommonTlsContext_CombinedCertificateValidationContext as CombinedMessage,
  DownstreamTlsContext,
  UpstreamTlsContext,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/tls.ts';
import type {
  DownstreamTls,
  TlsCertificate,
  TlsContext,
  TlsValidation,
  UpstreamTls,
} from '../../../shared/resources/tls.ts';
import { isSkippedSecret, readDataSource } from '../data-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMs, optional } from '../values.ts';
import { resolveCertificate } from './certificates.ts';
import { findStaticSecret } from './secret-references.ts';
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
const UPSTREAM_FIELDS = knownFields<UpstreamTlsContext>(
  ['common_tls_context', 'sni', 'auto_host_sni', 'auto_sni_san_validation', 'max_session_keys'],
  ['allow_renegotiation', 'enforce_rsa_key_usage'],
);
const DOWNSTREAM_FIELDS = knownFields<DownstreamTlsContext>(
  [
    'common_tls_context',
    'require_client_certificate',
    'require_sni',
    'session_ticket_keys',
    'disable_stateless_session_resumption',
    'session_timeout',
    'prefer_client_ciphers',
  ],
  // Sessions live in tickets only; nothing is stapled; the first certificate serves unknown names.
  ['disable_stateful_session_resumption', 'ocsp_staple_policy', 'full_scan_certs_on_sni_mismatch'],
);

/** Protocols that connections can speak; what else is configured is not offered. */
const SPOKEN = new Set(['http/1.1', 'http/1.0']);

const SESSION_TIMEOUT_S = 7200;
const TICKET_KEY_BYTES = 80;
const NODE_TICKET_KEY_BYTES = 48;

export function resolveUpstreamTls(message: UpstreamTlsContext, scope: Scope): UpstreamTls {
  refuseOtherFields(message, UPSTREAM_FIELDS, scope);
  const common = resolveCommon(message.common_tls_context ?? {}, 'client', commonScope(scope));
  const { certificates } = common;
  if (certificates.length > 1) {
    scope.error('conflict', 'Multiple TLS certificates are not supported for client contexts');
  }
  return {
    ...common,
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
  const { session_timeout: timeout } = message;
  return {
    ...common,
    requireClientCertificate: message.require_client_certificate ?? false,
    requireServerName: message.require_sni ?? false,
    preferClientCiphers: message.prefer_client_ciphers ?? false,
    ...optional(
      'ticketKeys',
      resolveTicketKeys(message.session_ticket_keys, scope.at('session_ticket_keys')),
    ),
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
  return {
    parameters: resolveTlsParameters(message.tls_params ?? {}, side, scope.at('tls_params')),
    alpn: resolveAlpn(message.alpn_protocols ?? [], scope.at('alpn_protocols')),
    certificates: resolveCertificates(message, scope),
    ...optional('validation', resolveCommonValidation(message, scope)),
  };
}

function resolveAlpn(names: readonly string[], scope: Scope): readonly string[] {
  const left = names.filter((name) => !SPOKEN.has(name) && name !== '');
  if (left.length > 0) {
    scope.warning('no_effect', `not offered by ALPN, because it is not spoken: ${left.join(', ')}`);
  }
  return names.filter((name) => SPOKEN.has(name));
}

function resolveCertificates(message: CommonTlsContext, scope: Scope): readonly TlsCertificate[] {
  const { tls_certificates: own = [], tls_certificate_sds_secret_configs: named = [] } = message;
  if (own.length > 0 && named.length > 0) {
    scope.error(
      'conflict',
      'TLS certificates and SDS secret configurations cannot be used together',
    );
  }
  const inline = own.map((each, index) =>
    resolveCertificate(each, scope.at('tls_certificates', index)),
  );
  const secrets = named.map((each, index) => {
    const place = scope.at('tls_certificate_sds_secret_configs', index);
    const secret = findStaticSecret(each, place);
    if (secret === undefined) return undefined;
    if (secret.tls_certificate !== undefined) {
      return resolveCertificate(secret.tls_certificate, place);
    }
    place.error('reference', `Unknown static secret: ${each.name ?? ''}`);
    return undefined;
  });
  return [...inline, ...secrets].filter((value) => value !== undefined);
}

function resolveCommonValidation(
  message: CommonTlsContext,
  scope: Scope,
): TlsValidation | undefined {
  if (message.validation_context !== undefined) {
    return resolveValidation(message.validation_context, scope.at('validation_context'));
  }
  const { combined_validation_context: combined } = message;
  if (combined !== undefined) {
    return resolveCombined(combined, scope.at('combined_validation_context'));
  }
  const { validation_context_sds_secret_config: reference } = message;
  if (reference === undefined) return undefined;
  return resolveNamed(reference, scope.at('validation_context_sds_secret_config'), false);
}

/** The secret is laid over the defaults. */
function resolveCombined(message: CombinedMessage, scope: Scope): TlsValidation {
  refuseOtherFields(message, COMBINED_FIELDS, scope);
  const { default_validation_context: defaults = {} } = message;
  const own = resolveValidation(defaults, scope.at('default_validation_context'), true);
  const { validation_context_sds_secret_config: reference } = message;
  if (reference === undefined) return own;
  const place = scope.at('validation_context_sds_secret_config');
  const over = resolveNamed(reference, place, true);
  return over === undefined ? own : layOver(own, over);
}

function resolveNamed(
  reference: NonNullable<CommonTlsContext['validation_context_sds_secret_config']>,
  scope: Scope,
  isPartial: boolean,
): TlsValidation | undefined {
  const secret = findStaticSecret(reference, scope);
  if (secret === undefined) return undefined;
  if (secret.validation_context !== undefined) {
    return resolveValidation(secret.validation_context, scope, isPartial);
  }
  scope.error(
    'reference',
    `Unknown static certificate validation context: ${reference.name ?? ''}`,
  );
  return undefined;
}

/** As protobuf merges messages: lists are joined, single values are replaced. */
function layOver(base: TlsValidation, over: TlsValidation): TlsValidation {
  return {
    ...base,
    ...over,
    caPath: over.trustedCa === undefined ? base.caPath : over.caPath,
    allowExpired: base.allowExpired || over.allowExpired,
    acceptUntrusted: base.acceptUntrusted || over.acceptUntrusted,
    sanMatchers: [...base.sanMatchers, ...over.sanMatchers],
    certificateHashes: [...base.certificateHashes, ...over.certificateHashes],
    spkiHashes: [...base.spkiHashes, ...over.spkiHashes],
  };
}

/** One key for new tickets is all that the runtime can hold; others mean a full handshake. */
function resolveTicketKeys(
  message: TlsSessionTicketKeys | undefined,
  scope: Scope,
): string | undefined {
  const sources = message?.keys ?? [];
  const keys = sources.map((source, index) => {
    const place = scope.at('keys', index);
    if (isSkippedSecret(source, scope)) return undefined;
    const key = readDataSource(source, place);
    if (key !== undefined && key.length !== TICKET_KEY_BYTES) {
      place.error(
        'conflict',
        `Incorrect TLS session ticket key length. Length ${key.length}, expected length ${TICKET_KEY_BYTES}.`,
      );
    }
    return key;
  });
  const [first] = keys;
  if (first === undefined) return undefined;
  if (keys.length > 1) {
    scope.warning('no_effect', 'only the first key is used: tickets of the others are not resumed');
  }
  const derived = hkdfSync('sha256', first, '', 'sluice session tickets', NODE_TICKET_KEY_BYTES);
  return Buffer.from(derived).toString('base64');
}

/**
 * Statistics of TLS. Versions, ciphers, curves, signature algorithms and the expiry of each
 * certificate (`ssl.versions.TLSv1.3` and so on) are defined by name when they first occur.
 */
import { defineTemplate } from '../template.ts';
import { counter } from './spec.ts';

/** Prefix: `listener.<listener>.ssl.` or `cluster.<name>.ssl.` */
export const TLS = defineTemplate('tls', {
  connection_error: counter('TLS errors other than failed verifications'),
  fail_verify_cert_hash: counter('Peers refused: the hash of the certificate does not match'),
  fail_verify_error: counter('Peers refused: the certificate does not verify'),
  fail_verify_no_cert: counter('Peers refused: no certificate'),
  fail_verify_san: counter('Peers refused: no subject alternative name matches'),
  handshake: counter('Completed handshakes'),
  no_certificate: counter('Handshakes without a client certificate'),
  ocsp_staple_failed: counter('Never counted: OCSP answers are not stapled'),
  ocsp_staple_omitted: counter('Never counted: OCSP answers are not stapled'),
  ocsp_staple_requests: counter('Never counted: OCSP answers are not stapled'),
  ocsp_staple_responses: counter('Never counted: OCSP answers are not stapled'),
  session_reused: counter('Resumed sessions'),
});

/**
 * Prefix: `listener.<listener>.server_ssl_socket_factory.` or
 * `cluster.<name>.client_ssl_socket_factory.`
 */
export const TLS_SOCKET_FACTORY = defineTemplate('tls_socket_factory', {
  downstream_context_secrets_not_ready: counter(
    'Downstream connections that came before the secrets',
  ),
  ssl_context_update_by_sds: counter('Contexts renewed by secret discovery'),
  upstream_context_secrets_not_ready: counter(
    'Upstream connections wanted before the secrets came',
  ),
});

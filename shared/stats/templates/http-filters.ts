/**
 * Statistics of HTTP filters; unless noted the prefix is `http.<stat_prefix>.` and the block's
 * name.
 */
import { defineTemplate } from '../template.ts';
import { counter, gauge } from './spec.ts';

/**
 * Prefix: `http.<stat_prefix>.rbac.<rules_stat_prefix>`; allowed and denied per policy are dynamic.
 */
export const RBAC = defineTemplate('rbac', {
  allowed: counter('Requests allowed'),
  denied: counter('Requests denied'),
});

/** Prefix: `http.<stat_prefix>.rbac.<shadow_rules_stat_prefix>` */
export const RBAC_SHADOW = defineTemplate('rbac_shadow', {
  shadow_allowed: counter('Requests that the shadow rules would allow'),
  shadow_denied: counter('Requests that the shadow rules would deny'),
});

/** Prefix: `http.<stat_prefix>.cors.` */
export const CORS = defineTemplate('cors', {
  origin_invalid: counter('Requests from an origin that is not allowed'),
  origin_valid: counter('Requests from an allowed origin'),
});

/** Prefix: `http.<stat_prefix>.csrf.` */
export const CSRF = defineTemplate('csrf', {
  missing_source_origin: counter('Requests without an origin'),
  request_invalid: counter('Requests whose origin does not match'),
  request_valid: counter('Requests whose origin matches'),
});

/** Prefix: `http.<stat_prefix>.fault.` */
export const FAULT = defineTemplate('fault', {
  aborts_injected: counter('Requests aborted on purpose'),
  active_faults: gauge('Faults under way'),
  delays_injected: counter('Requests delayed on purpose'),
  faults_overflow: counter('Faults not injected: too many were under way'),
  response_rl_injected: counter('Answers slowed down on purpose'),
});

/** Prefix: `http.<stat_prefix>.health_check.` */
export const HEALTH_CHECK_FILTER = defineTemplate('health_check_filter', {
  cached_response: counter('Health checks answered from the cache'),
  degraded: counter('Health checks answered as degraded'),
  failed: counter('Health checks that failed'),
  failed_cluster_empty: counter('Health checks that failed: a cluster has no host'),
  failed_cluster_not_found: counter('Health checks that failed: a cluster does not exist'),
  failed_cluster_unhealthy: counter('Health checks that failed: too few hosts are healthy'),
  ok: counter('Health checks that passed'),
  request_total: counter('Health checks'),
});

/** Prefix: `<stat_prefix of the filter>.http_local_rate_limit.` */
export const HTTP_LOCAL_RATE_LIMIT = defineTemplate('http_local_rate_limit', {
  enabled: counter('Requests that the limit was asked about'),
  enforced: counter('Requests refused by the limit'),
  ok: counter('Requests within the limit'),
  rate_limited: counter('Requests beyond the limit'),
  shadow_mode: counter('Requests beyond the limit that were let through on trial'),
});

/** Prefix: `http.<stat_prefix>.compressor.<name>.<library>.` */
export const COMPRESSOR = defineTemplate('compressor', {
  header_compressor_overshadowed: counter('Requests for which another compressor is better'),
  header_compressor_used: counter('Requests that accept this encoding'),
  header_identity: counter('Requests that want no encoding'),
  header_not_valid: counter('Requests with an unusable accept-encoding'),
  header_wildcard: counter('Requests that accept every encoding'),
  no_accept_header: counter('Requests without accept-encoding'),
  not_compressed_etag: counter('Answers left as they were for their entity tag'),
});

/**
 * Prefix: as above, followed by `request.`, by `response.` where that direction is configured, or
 * by nothing.
 */
export const COMPRESSOR_DIRECTION = defineTemplate('compressor_direction', {
  compressed: counter('Compressed messages'),
  content_length_too_small: counter('Messages left as they were: too small'),
  not_compressed: counter('Messages left as they were'),
  total_compressed_bytes: counter('Bytes after compression'),
  total_uncompressed_bytes: counter('Bytes before compression'),
});

/** Prefix: `http.<stat_prefix>.basic_auth.` */
export const BASIC_AUTH = defineTemplate('basic_auth', {
  allowed: counter('Requests with a known user and password'),
  denied: counter('Requests refused for their credentials'),
});

/** Prefix: `http.<stat_prefix>.set_metadata.` */
export const SET_METADATA = defineTemplate('set_metadata', {
  overwrite_denied: counter('Entries whose namespace was taken'),
});

/** Prefix: `http.<stat_prefix>.tap.` */
export const TAP = defineTemplate('tap', {
  rq_sampled_out: counter('Requests that the share to be recorded left out'),
  rq_tapped: counter('Recorded requests'),
});

/** Prefix: `http.<stat_prefix>.decompressor.<name>.<library>.` */
export const DECOMPRESSOR = defineTemplate('decompressor', {
  'request.decompressed': counter('Decompressed requests'),
  'request.not_decompressed': counter('Requests left as they were'),
  'request.total_compressed_bytes': counter('Bytes of requests before decompression'),
  'request.total_uncompressed_bytes': counter('Bytes of requests after decompression'),
  'response.decompressed': counter('Decompressed answers'),
  'response.not_decompressed': counter('Answers left as they were'),
  'response.total_compressed_bytes': counter('Bytes of answers before decompression'),
  'response.total_uncompressed_bytes': counter('Bytes of answers after decompression'),
});

/**
 * Prefix: as above, followed by `decompressor_library.`; here zlib tells wrong data from all else.
 */
export const ZLIB_DECOMPRESSOR = defineTemplate('zlib_decompressor', {
  zlib_buf_error: counter('Bodies that ended too early'),
  zlib_data_error: counter('Bodies with wrong data, or that grew beyond the limit'),
  zlib_errno: counter('Never counted'),
  zlib_mem_error: counter('Never counted'),
  zlib_stream_error: counter('Never counted'),
  zlib_version_error: counter('Never counted'),
});

/** Prefix: as above. */
export const BROTLI_DECOMPRESSOR = defineTemplate('brotli_decompressor', {
  brotli_error: counter('Bodies with wrong data, or that grew beyond the limit'),
  brotli_output_overflow: counter('Bodies that grew beyond the limit'),
  brotli_redundant_input: counter('Never counted'),
});

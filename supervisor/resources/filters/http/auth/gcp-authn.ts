/** Resolves envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig. */
import type {
  GcpAuthnFilterConfig,
  TokenHeader,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/gcp_authn/v3/gcp_authn.ts';
import type { GcpAuthnFilterSettings } from '../../../../../shared/resources/filters/http/auth/gcp-authn.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import { resolveGcpAudience } from '../../../clusters/gcp-audience.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveHttpTarget } from '../../../http-target.ts';
import { asciiLower } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter } from '../../http-filter-row.ts';

const FIELDS = knownFields<GcpAuthnFilterConfig>([
  'http_uri',
  'retry_policy',
  'cache_config',
  'token_header',
  'cluster',
  'timeout',
  'audience',
]);
const HEADER_FIELDS = knownFields<TokenHeader>(['name', 'value_prefix', 'preserve_existing']);

export const GCP_AUTHN_FILTER = httpFilter(
  'envoy.filters.http.gcp_authn',
  'envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig',
  resolveGcpAuthn,
);

/** The cluster and the time alone count of an address: where tokens are is known. */
function resolveGcpAuthn(
  message: GcpAuthnFilterConfig,
  scope: Scope,
  name: string,
): GcpAuthnFilterSettings {
  refuseOtherFields(message, FIELDS, scope);
  const { http_uri: uri, cluster, timeout, retry_policy: retry, audience } = message;
  const target = resolveHttpTarget(
    uri ?? { ...optional('cluster', cluster), ...optional('timeout', timeout) },
    retry,
    scope,
  );
  const { token_header: header = {}, cache_config: cache } = message;
  refuseOtherFields(header, HEADER_FIELDS, scope.at('token_header'));
  const isNamed = (header.name ?? '') !== '';
  return {
    kind: 'gcp_authn',
    name,
    options: {
      cluster: target.cluster,
      timeoutMs: target.timeoutMs,
      ...optional('retryPolicy', target.retryPolicy),
      cacheSize: Number(cache?.cache_size ?? 0),
      header: isNamed ? asciiLower(header.name ?? '') : 'authorization',
      prefix: isNamed ? toByteString(header.value_prefix ?? '') : 'Bearer ',
      keepsExisting: header.preserve_existing !== undefined,
      ...optional('audience', audience && resolveGcpAudience(audience, scope.at('audience'))),
    },
  };
}

/** Settings and stats of envoy.filters.http.gcp_authn. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { GcpAudience } from '../../../clusters/gcp-audience.ts';
import type { RetryPolicy } from '../../../routes/retry-policy.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface GcpAuthnOptions {
  /** The metadata server's cluster. */
  readonly cluster: string;
  readonly timeoutMs: number;
  readonly retryPolicy?: RetryPolicy;
  /** Tokens that are remembered; 0: each request asks again. */
  readonly cacheSize: number;
  /** In lower case. */
  readonly header: string;
  readonly prefix: string;
  /** Requests that have the header are left alone. */
  readonly keepsExisting: boolean;
  /** Absent: the cluster says it. */
  readonly audience?: GcpAudience;
}

/** Prefix: `http.<stat_prefix>.gcp_authn.` */
export const GCP_AUTHN = defineTemplate('gcp_authn', {
  bound_token_fingerprint_unavailable: counter(
    'Never counted: tokens are not bound to certificates here',
  ),
  client_cert_fingerprint_calculated: counter(
    'Never counted: tokens are not bound to certificates here',
  ),
  empty_audience: counter('Requests whose cluster names an empty audience'),
  iam_token_config_error: counter('Never counted: tokens of IAM are refused in the configuration'),
  iam_token_resolution_failed: counter(
    'Never counted: tokens of IAM are refused in the configuration',
  ),
  retrieve_audience_failed: counter('Requests whose cluster names no audience'),
  token_cache_hit: counter('Requests whose token was remembered'),
  token_cache_miss: counter('Requests whose token was not remembered'),
  token_fetch_failed: counter('Tokens that the metadata server did not give'),
  token_fetch_success: counter('Tokens that the metadata server gave'),
});

export type GcpAuthnFilterSettings = FilterResource<'gcp_authn', GcpAuthnOptions>;

export const GCP_AUTHN_DECLARATION = declareKind<GcpAuthnFilterSettings>(GCP_AUTHN);

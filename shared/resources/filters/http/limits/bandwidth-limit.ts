/** Settings and stats of envoy.filters.http.bandwidth_limit. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter, gauge, histogram } from '../../../../stats/templates/spec.ts';
import type { RateLimitBucket } from '../../../routes/rate-limit-bucket.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface BandwidthLimitOptions {
  readonly statPrefix: string;
  readonly limitsRequests: boolean;
  readonly limitsResponses: boolean;
  /** Bytes, which all workers take from; absent where nothing is limited. */
  readonly bucket?: RateLimitBucket;
  readonly fillIntervalMs: number;
  readonly enabled: { readonly runtimeKey: string; readonly byDefault: boolean };
  /** Says in trailers how long bodies took; undefined: it does not. The prefix ends in a dash. */
  readonly trailerPrefix?: string;
}

/** Prefix: `<stat_prefix of the filter>.http_bandwidth_limit.` */
export const HTTP_BANDWIDTH_LIMIT = defineTemplate('http_bandwidth_limit', {
  request_enabled: counter('Requests whose body was paced'),
  request_enforced: counter('Times that a request had to wait for its next bytes'),
  request_pending: gauge('Requests whose body is on its way'),
  request_incoming_size: gauge('Bytes of the last piece of a request that came'),
  request_incoming_total_size: counter('Bytes of requests that came'),
  request_allowed_size: gauge('Bytes of the last piece of a request that went on'),
  request_allowed_total_size: counter('Bytes of requests that went on'),
  request_transfer_duration: histogram('How long bodies of requests took', 'ms'),
  response_enabled: counter('Responses whose body was paced'),
  response_enforced: counter('Times that a response had to wait for its next bytes'),
  response_pending: gauge('Responses whose body is on its way'),
  response_incoming_size: gauge('Bytes of the last piece of a response that came'),
  response_incoming_total_size: counter('Bytes of responses that came'),
  response_allowed_size: gauge('Bytes of the last piece of a response that went on'),
  response_allowed_total_size: counter('Bytes of responses that went on'),
  response_transfer_duration: histogram('How long bodies of responses took', 'ms'),
});

export type BandwidthLimitFilterSettings = FilterResource<'bandwidth_limit', BandwidthLimitOptions>;

export const BANDWIDTH_LIMIT_DECLARATION =
  declareKind<BandwidthLimitFilterSettings>(HTTP_BANDWIDTH_LIMIT);

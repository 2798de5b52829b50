/**
 * The `proxy-status` of an answer that a failure here or at a host made (RFC 9209): which of the
 * RFC's errors it was, by the first response flag that says it, and the status recommended for that.
 */
import type { ProxyStatusOptions } from '../../shared/resources/listener.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { ResponseFlag, shortFlagNames } from '../stream/response-flags.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

const BAD_GATEWAY = 502;
const UNAVAILABLE = 503;
const TIMED_OUT = 504;

interface ProxyError {
  readonly type: string;
  readonly status: number;
}

const unavailable: ProxyError = { type: 'destination_unavailable', status: UNAVAILABLE };
const limitReached: ProxyError = { type: 'connection_limit_reached', status: UNAVAILABLE };
const terminated: ProxyError = { type: 'connection_terminated', status: BAD_GATEWAY };
const timedOut: ProxyError = { type: 'http_response_timeout', status: TIMED_OUT };

/** In Envoy's order: the first flag that a stream has counts. Answers of the codecs have no such header. */
const ERRORS: readonly (readonly [flag: number, error: ProxyError])[] = [
  [ResponseFlag.failedLocalHealthCheck, unavailable],
  [ResponseFlag.noHealthyUpstream, unavailable],
  [ResponseFlag.upstreamRequestTimeout, timedOut],
  [ResponseFlag.localReset, { type: 'connection_timeout', status: TIMED_OUT }],
  [ResponseFlag.upstreamRemoteReset, terminated],
  [ResponseFlag.upstreamConnectionFailure, { type: 'connection_refused', status: BAD_GATEWAY }],
  [ResponseFlag.upstreamConnectionTermination, terminated],
  [ResponseFlag.upstreamOverflow, limitReached],
  [ResponseFlag.noRouteFound, { type: 'destination_not_found', status: 500 }],
  [ResponseFlag.rateLimited, limitReached],
  [ResponseFlag.rateLimitServiceError, limitReached],
  [ResponseFlag.upstreamRetryLimitExceeded, unavailable],
  [ResponseFlag.streamIdleTimeout, timedOut],
  [ResponseFlag.invalidEnvoyRequestHeaders, { type: 'http_request_error', status: 400 }],
  [ResponseFlag.upstreamMaxStreamDurationReached, timedOut],
  [ResponseFlag.noFilterConfigFound, { type: 'proxy_configuration_error', status: 500 }],
  [ResponseFlag.upstreamProtocolError, { type: 'http_protocol_error', status: BAD_GATEWAY }],
  [ResponseFlag.noClusterFound, unavailable],
  [ResponseFlag.dnsResolutionFailed, { type: 'dns_error', status: BAD_GATEWAY }],
];

/** Adds the header where the stream has failed, and changes the status where that is asked for. */
export function writeProxyStatus(
  headers: HeaderMap,
  info: StreamInfo,
  options: ProxyStatusOptions,
): void {
  const { responseFlags: flags } = info;
  if (flags === 0) return;
  const error = ERRORS.find(([flag]) => (flags & flag) !== 0)?.[1];
  if (error === undefined) return;
  const parts = [options.name, `error=${error.type}`];
  if (options.details !== undefined && info.responseCodeDetails !== '') {
    const words = [info.responseCodeDetails];
    const { terminationDetails } = info.connection;
    if (options.details.termination && terminationDetails !== '') words.push(terminationDetails);
    if (options.details.flags) words.push(shortFlagNames(flags));
    parts.push(`details="${words.join('; ').replaceAll(/["\\]/g, '\\$&')}"`);
  }
  headers.append('proxy-status', parts.join('; '), ', ');
  if (options.setsStatus) headers.status = error.status;
}

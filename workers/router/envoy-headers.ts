/** The router's own headers: what it tells upstreams with requests and clients with responses. */
import type { HeaderMap } from '../http/header-map.ts';
import type { StreamInfo } from '../http/stream-info.ts';
import { removeProxyHeaders, type RequestTimeouts, resolveTimeouts } from '../routing/timeouts.ts';
import type { ClusterRoute } from '../routing/types.ts';

const ALT_RESPONSE = 'x-envoy-upstream-rq-timeout-alt-response';

export interface HeaderOptions {
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedRqTimeout: boolean;
  /** `/healthcheck/fail` is in force: responses say so. */
  readonly isHealthCheckFailed: () => boolean;
}

/** Finishes a request's headers but for its host; gives the status that answers its timeouts. */
export function finalizeRequest(
  route: ClusterRoute,
  headers: HeaderMap,
  options: HeaderOptions,
  facts: { readonly info: StreamInfo; readonly timeouts: RequestTimeouts },
): number {
  const { info, timeouts } = facts;
  let timeoutStatus = 504;
  resolveTimeouts(route, headers, options, timeouts);
  if (info.isInternalRequest) {
    if (headers.has(ALT_RESPONSE)) timeoutStatus = 204;
    removeProxyHeaders(headers);
  }
  if (route.virtualHost.includeRequestAttemptCount) headers.set('x-envoy-attempt-count', '1');
  route.finalizeRequestHeaders(headers, info, !options.suppressEnvoyHeaders);
  return timeoutStatus;
}

/** `serviceMs`: from the whole request to its response; undefined when the response came before. */
export function finalizeResponse(
  route: ClusterRoute,
  headers: HeaderMap,
  options: HeaderOptions,
  facts: { readonly info: StreamInfo; readonly serviceMs: number | undefined },
): void {
  const { info, serviceMs } = facts;
  if (!options.suppressEnvoyHeaders && serviceMs !== undefined) {
    headers.set('x-envoy-upstream-service-time', String(serviceMs));
  }
  if (options.isHealthCheckFailed()) headers.set('x-envoy-immediate-health-check-fail', 'true');
  if (route.virtualHost.includeAttemptCountInResponse) {
    headers.set('x-envoy-attempt-count', String(info.attemptCount));
  }
  info.responseCodeDetails = 'via_upstream';
  info.responseCode = headers.status;
  route.finalizeResponseHeaders(headers, info);
}

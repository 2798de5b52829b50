/** The router's own headers: what it tells upstreams with requests and clients with responses. */
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { rewriteToHost } from '../routing/host-rewrite.ts';
import { removeProxyHeaders, resolveTimeouts, tellExpectedTimeout } from '../routing/timeouts.ts';
import type { ClusterRoute } from '../stream/route.ts';
import type { RequestDeadline } from './exchange/request-deadline.ts';

export interface HeaderOptions {
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedRqTimeout: boolean;
}

/** Finishes a request's headers but for its host, and takes its timeouts out of them. */
export function finalizeRequest(
  route: ClusterRoute,
  headers: HeaderMap,
  options: HeaderOptions,
  facts: { readonly info: StreamInfo; readonly deadline: RequestDeadline },
): void {
  const { info, deadline } = facts;
  resolveTimeouts(route, headers, options, deadline);
  if (info.isInternalRequest) {
    deadline.takeStatus(headers);
    removeProxyHeaders(headers);
  }
  if (route.virtualHost.includeRequestAttemptCount) headers.set('x-envoy-attempt-count', '1');
  route.finalizeRequestHeaders(headers, info, !options.suppressEnvoyHeaders);
}

/**
 * Makes a request's headers those of a further attempt; `elapsedMs`: since the whole request had
 * come.
 */
export function finalizeFurtherAttempt(
  route: ClusterRoute,
  headers: HeaderMap,
  options: HeaderOptions,
  facts: {
    readonly attempt: number;
    readonly isAfterTimeout: boolean;
    readonly deadline: RequestDeadline;
    readonly elapsedMs: number;
    readonly hostname: string;
  },
): void {
  const { suppressEnvoyHeaders } = options;
  const { attempt, deadline, elapsedMs, hostname } = facts;
  if (route.virtualHost.includeRequestAttemptCount) {
    headers.set('x-envoy-attempt-count', String(attempt));
  }
  if (route.virtualHost.includeIsTimeoutRetry === true) {
    headers.set('x-envoy-is-timeout-retry', String(facts.isAfterTimeout));
  }
  tellExpectedTimeout(route, headers, deadline, { suppressEnvoyHeaders, elapsedMs });
  rewriteToHost(headers, hostname, route.action, !suppressEnvoyHeaders);
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
  info.responseCodeDetails = 'via_upstream';
  info.responseCode = headers.status;
  route.finalizeResponseHeaders(headers, info);
  if (route.virtualHost.includeAttemptCountInResponse) {
    headers.set('x-envoy-attempt-count', String(info.attemptCount));
  }
}

/** The router's own answers for requests that no upstream answered. */
import type { TerminalCallbacks } from '../http/filter.ts';
import { ResponseFlag } from '../http/response-flags.ts';
import type { ClusterRoute } from '../routing/types.ts';

export interface Failure {
  readonly status: number;
  readonly body: string;
  readonly details: string;
  /** Adds `x-envoy-overloaded`. */
  readonly isOverload: boolean;
}

export function answerFailure(
  callbacks: TerminalCallbacks,
  route: ClusterRoute,
  { status, body, details, isOverload }: Failure,
): void {
  const { info } = callbacks;
  const saysAttempts = route.virtualHost.includeAttemptCountInResponse;
  callbacks.sendLocalReply({
    status,
    body,
    details,
    modifyHeaders: (headers) => {
      if (isOverload) headers.set('x-envoy-overloaded', 'true');
      if (saysAttempts) headers.set('x-envoy-attempt-count', String(info.attemptCount));
      route.finalizeResponseHeaders(headers, info);
    },
  });
}

export function answerNoRoute(callbacks: TerminalCallbacks): void {
  callbacks.info.responseFlags |= ResponseFlag.noRouteFound;
  callbacks.sendLocalReply({ status: 404, body: '', details: 'route_not_found' });
}

export function answerNoCluster(callbacks: TerminalCallbacks, route: ClusterRoute): void {
  const { info } = callbacks;
  info.responseFlags |= ResponseFlag.noClusterFound;
  callbacks.sendLocalReply({
    status: route.action.clusterNotFoundStatus,
    body: '',
    details: 'cluster_not_found',
    modifyHeaders: (answer) => route.finalizeResponseHeaders(answer, info),
  });
}

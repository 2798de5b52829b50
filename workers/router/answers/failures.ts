/** The router's own answers for requests that no upstream answered. */
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { TerminalCallbacks } from '../../stream/filter.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import type { ClusterRoute } from '../../stream/route.ts';
import { failureBody, resetDetails, resetTexts } from '../attempt/reset-reasons.ts';

export interface Failure {
  readonly status: number;
  /** Bit of `ResponseFlag`, 0 for none. */
  readonly flag: number;
  readonly body: string;
  readonly details: string;
  /** Adds `x-envoy-overloaded`. */
  readonly isOverload: boolean;
}

export function answerFailure(
  callbacks: TerminalCallbacks,
  route: ClusterRoute,
  { status, body, details, isOverload }: Failure,
  addsEnvoyHeaders: boolean,
): void {
  const { info } = callbacks;
  const saysAttempts = route.virtualHost.includeAttemptCountInResponse;
  callbacks.sendLocalReply({
    status,
    body,
    details,
    modifyHeaders: (headers) => {
      if (isOverload && addsEnvoyHeaders) headers.set('x-envoy-overloaded', 'true');
      if (saysAttempts) headers.set('x-envoy-attempt-count', String(info.attemptCount));
    },
  });
}

export function answerNoRoute(callbacks: TerminalCallbacks): void {
  callbacks.info.responseFlags |= ResponseFlag.noRouteFound;
  callbacks.sendLocalReply({ status: 404, body: '', details: 'route_not_found' });
}

export function answerOverload(callbacks: TerminalCallbacks): void {
  callbacks.sendLocalReply({ status: 503, body: 'envoy overloaded', details: 'overload' });
}

export function answerNoCluster(callbacks: TerminalCallbacks, route: ClusterRoute): void {
  const { info } = callbacks;
  info.responseFlags |= ResponseFlag.noClusterFound;
  info.upstreamCluster = '';
  callbacks.sendLocalReply({
    status: route.action.clusterNotFoundStatus,
    body: '',
    details: 'cluster_not_found',
  });
}

/** What an upstream's reset is for the client; `isStarted`: it has a part of the response. */
export function resetFailure(
  reason: ResetReason,
  detail: string,
  { isStarted, isRetried }: { readonly isStarted: boolean; readonly isRetried: boolean },
): Failure {
  return {
    status: resetTexts(reason).status,
    flag: resetTexts(reason).flag,
    body: failureBody(reason, isRetried),
    details: resetDetails(isStarted, reason, detail),
    isOverload: reason === 'overflow',
  };
}

const TIMEOUT_DETAILS = {
  response: 'response_timeout',
  whole: 'upstream_per_try_timeout',
  idle: 'upstream_per_try_idle_timeout',
} as const;

/** The whole response, or one attempt, took longer than the request's deadline allows. */
export function timedOut(
  { status, body }: { readonly status: number; readonly body: string },
  limit: keyof typeof TIMEOUT_DETAILS,
): Failure {
  const flag = ResponseFlag.upstreamRequestTimeout;
  return { status, flag, body, details: TIMEOUT_DETAILS[limit], isOverload: false };
}

/** The request, as routes and filters have changed it, is none that may leave for a host. */
export function unfitRequest(fault: string): Failure {
  const details = `filter_removed_required_request_headers{${fault.replaceAll(' ', '_')}}`;
  const flag = ResponseFlag.downstreamProtocolError;
  return { status: 503, flag, body: fault, details, isOverload: false };
}

const noHealthyUpstream: Failure = {
  status: 503,
  flag: ResponseFlag.noHealthyUpstream,
  body: 'no healthy upstream',
  details: 'no_healthy_upstream',
  isOverload: false,
};

/** A session whose host is gone may have a status of its own. */
export function withoutHost({ overrideHost }: StreamInfo): Failure {
  const status = overrideHost?.strictStatus;
  return status === undefined ? noHealthyUpstream : { ...noHealthyUpstream, status };
}

export const outlivedStream: Failure = {
  status: 504,
  flag: ResponseFlag.upstreamMaxStreamDurationReached,
  body: 'upstream max stream duration reached',
  details: 'upstream_max_stream_duration_reached',
  isOverload: false,
};

/** The request's body can no longer be sent again, and no attempt is under way. */
export const exceededRetryBuffer: Failure = {
  status: 507,
  flag: 0,
  body: 'exceeded request buffer limit while retrying upstream',
  details: 'request_payload_exceeded_retry_buffer_limit',
  isOverload: false,
};

/**
 * The seam between an exchange and those who stand on it, the router and the upstream client: what
 * they give it, and what they hear of it.
 */
import type { Endable } from '../../../shared/process/exceptions.ts';
import type { ClusterRouteAction } from '../../../shared/resources/routes/route.ts';
import type { UpstreamLogs } from '../attempt/upstream-log.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { Metadata } from '../../stream/codec.ts';
import type { FilterFactory, LocalReply } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { ClusterManager } from '../../upstream/cluster-manager.ts';
import type { Failure } from '../answers/failures.ts';
import type { RoutedRequest } from '../ledger/routed-request.ts';
import type { RouterLedger } from '../ledger/router-ledger.ts';
import type { RequestBalance } from '../request-balance.ts';
import type { RequestDeadline } from './request-deadline.ts';

/** What an exchange has in common with all others of its router or client. */
export interface ExchangeContext {
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly ledger: RouterLedger;
  /** Written once per attempt. */
  readonly upstreamLogs: UpstreamLogs | undefined;
  /** What attempts pass before the codec, at clusters without filters of their own. */
  readonly attemptFilters: readonly FilterFactory[];
}

/** One request, whose headers are ready to be sent when the exchange starts. */
export interface ExchangeRequest {
  readonly request: RoutedRequest;
  readonly balance: RequestBalance;
  readonly deadline: RequestDeadline;
  readonly action: Pick<ClusterRouteAction, 'priority' | 'upgrades'>;
  /** What may wait of the body while there is no connection. */
  readonly bufferLimitBytes: number;
}

/** Whose request it is. The exchange ends with a failure or with the end of the response. */
export interface ExchangeOwner extends Endable {
  /** A failure now comes too late to be answered. */
  readonly isResponseStarted: boolean;
  /** Makes the headers those of a further attempt at this host. */
  finalizeRetry(hostname: string, isAfterTimeout: boolean, elapsedMs: number): void;
  /** The response led to another request: the exchange is given up, and was ended. */
  followsRedirect(headers: HeaderMap): boolean;
  /** The response is the one; `elapsedMs`: since the whole request, undefined when before that. */
  finalizeResponse(headers: HeaderMap, elapsedMs: number | undefined): void;
  on1xx(headers: HeaderMap): void;
  onHeaders(headers: HeaderMap, endStream: boolean): void;
  onData(data: Buffer, endStream: boolean): void;
  onTrailers(trailers: HeaderMap): void;
  /** Absent where nobody wants it. */
  onMetadata?(metadata: Metadata): void;
  /** In place of the response, or of the rest of it. */
  onFailure(failure: Failure): void;
  /** Likewise: what a filter of an attempt answers. The exchange was ended. */
  onFilterAnswer(reply: LocalReply): void;
  /** Back-pressure towards the sender of the body; counted. */
  pauseRequest(paused: boolean): void;
}

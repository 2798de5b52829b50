/** The seam between an attempt and the exchange that makes it. */
import type { Endable } from '../../../shared/process/exceptions.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { RequestTimeouts } from '../../routing/timeouts.ts';
import type { Metadata, ResetReason } from '../../stream/codec.ts';
import type { LocalReply } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { AttemptTrace } from '../../stream/request-trace.ts';
import type { UpstreamConnectionInfo } from '../../upstream/pools/http-pool.ts';
import type { AttemptMeter } from '../ledger/cluster-ledger.ts';
import type { UpstreamAttemptLog } from './upstream-log.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** What an attempt tells its owner. */
export interface UpstreamRequestOwner extends Endable {
  /** The request reached for its host, whether or not a connection came of it. */
  onHostTried(upstream: UpstreamRequest): void;
  onUpstreamConnected(upstream: UpstreamRequest, connection: UpstreamConnectionInfo): void;
  onUpstream1xx(headers: HeaderMap): void;
  onUpstreamHeaders(upstream: UpstreamRequest, headers: HeaderMap, endStream: boolean): void;
  onUpstreamData(upstream: UpstreamRequest, data: Buffer, endStream: boolean): void;
  onUpstreamTrailers(upstream: UpstreamRequest, trailers: HeaderMap): void;
  onUpstreamMetadata(metadata: Metadata): void;
  /** The attempt is over without a complete response. `detail` is the operating system's word. */
  onUpstreamReset(upstream: UpstreamRequest, reason: ResetReason, detail: string): void;
  /** The request is none that may leave; `fault` says why. Nothing of it was sent. */
  onRequestRefused(upstream: UpstreamRequest, fault: string): void;
  /** A filter before the codec answered in place of the host; the owner ends all attempts. */
  onFilterAnswer(reply: LocalReply): void;
  /** The attempt took longer than one may; it goes on unless the owner ends it. */
  onPerTryTimeout(upstream: UpstreamRequest, kind: PerTryTimeout): void;
  /** Back-pressure towards the client; counted. */
  pauseRequest(paused: boolean): void;
}

/** `idle`: nothing came or went for too long. `duration`: the stream is older than one may be. */
export type PerTryTimeout = 'whole' | 'idle' | 'duration';

export interface AttemptOptions {
  readonly endStream: boolean;
  /** The head waits for `headPassed`. */
  readonly isHeadHeld: boolean;
  /** What follows the head needs nobody's agreement: it leaves HTTP here. */
  readonly isTunnel: boolean;
  readonly bufferLimitBytes: number;
  readonly loop: WorkerLoop;
  readonly timeouts: RequestTimeouts;
  /** From the moment that there is a connection; 0: none. */
  readonly maxDurationMs: number;
  readonly log: UpstreamAttemptLog | undefined;
  readonly trace: AttemptTrace | undefined;
  readonly meter: AttemptMeter | undefined;
}

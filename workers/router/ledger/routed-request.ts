/**
 * One request on its way to a cluster, as the ledgers of router and cluster see it: where it is
 * counted, and what they have to remember of it until its end. Counts nothing itself.
 */
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { AnswerOrigin, AnswerStats } from '../../upstream/answer-stats.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';

/** An attempt as far as it is counted. */
export interface CountedAttempt {
  readonly host: UpstreamHost;
  /** False where a limit refused the attempt before the host was involved. */
  readonly hasTriedHost: boolean;
  readonly isAwaitingHeaders: boolean;
}

export class RoutedRequest implements AnswerOrigin {
  readonly cluster: UpstreamCluster;
  readonly info: StreamInfo;
  readonly ownZone: string;
  isCanary = false;
  /** The host of a gRPC call whose end has not come. */
  calledHost: UpstreamHost | undefined = undefined;
  /** The request holds its cluster, so that the cluster's statistics stay. */
  isHolding = false;
  /** Where the client wants its answers to be counted, too. */
  readonly alternative: AnswerStats | undefined;

  constructor(cluster: UpstreamCluster, info: StreamInfo, ownZone: string) {
    this.cluster = cluster;
    this.info = info;
    this.ownZone = ownZone;
    this.alternative = info.isInternalRequest ? alternativeOf(cluster, info) : undefined;
  }
}

/** Internal clients may name where their answers are counted, too. */
function alternativeOf(cluster: UpstreamCluster, info: StreamInfo): AnswerStats | undefined {
  const name = info.requestHeaders?.get('x-envoy-upstream-alt-stat-name') ?? '';
  return name === '' ? undefined : cluster.stats.alternative(name);
}

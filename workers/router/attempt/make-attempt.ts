/**
 * Makes one attempt of a request: through the host's pool, or as a tunnel where the route ends a
 * CONNECT.
 */
import { filtersOfStream } from '../../filter-chain/active-filters.ts';
import type { FilterFactory } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { RequestTimeouts } from '../../routing/timeouts.ts';
import type { AttemptTrace } from '../../stream/request-trace.ts';
import type { Protocol, StreamInfo } from '../../stream/stream-info.ts';
import type { ClusterRouteAction } from '../../../shared/resources/routes/route.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type { ConnectionInfo } from '../../net/connection-info.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import { TcpTunnel } from './tcp-tunnel.ts';
import { tunnelOf } from './tunnel-kind.ts';
import { UdpTunnel } from './udp-tunnel.ts';
import { AttemptMeter } from '../ledger/cluster-ledger.ts';
import { sharedState } from '../../net/mesh/shared-state.ts';
import { upstreamNames } from './upstream-names.ts';
import { UpstreamAttemptLog, type UpstreamLogs } from './upstream-log.ts';
import type { UpstreamRequestOwner } from './attempt-seam.ts';
import { FilteredRequest } from './filtered-request.ts';
import { UpstreamRequest } from './upstream-request.ts';

interface AttemptTarget {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly action: Pick<ClusterRouteAction, 'priority' | 'upgrades'>;
  /** Whose request it is. */
  readonly client: ConnectionInfo;
  /** What its client speaks. */
  readonly protocol: Protocol | undefined;
  readonly trace: AttemptTrace | undefined;
  /** The facts of the request. */
  readonly info: StreamInfo;
}

interface AttemptParts {
  readonly endStream: boolean;
  readonly bufferLimitBytes: number;
  readonly timeouts: RequestTimeouts;
  /** Written when the attempt is over. */
  readonly upstreamLogs: UpstreamLogs | undefined;
  /** The filters of clusters without filters of their own. */
  readonly attemptFilters: readonly FilterFactory[];
  readonly loop: WorkerLoop;
}

export function makeAttempt(
  owner: UpstreamRequestOwner,
  { cluster, host, action, client, protocol, trace, info }: AttemptTarget,
  headers: HeaderMap,
  { endStream, bufferLimitBytes, timeouts, upstreamLogs, attemptFilters, loop }: AttemptParts,
): UpstreamRequest {
  const { clock } = loop;
  const { upstreamHttp } = (host.home ?? cluster).resource;
  const tunnel = tunnelOf(action.upgrades, headers);
  const pool =
    tunnel === 'tcp'
      ? new TcpTunnel(cluster, host, info)
      : tunnel === 'udp'
        ? new UdpTunnel(cluster, host, loop)
        : cluster.poolOf(host, action.priority, {
            client,
            names: upstreamNames(upstreamHttp, headers, info),
            shared: sharedState(info.filterState, info.connection.filterState),
            protocol,
          });
  const log =
    upstreamLogs &&
    new UpstreamAttemptLog(upstreamLogs, { info, loop, onException: () => owner.onException() });
  const options = {
    endStream,
    isHeadHeld: false,
    isTunnel: tunnel !== undefined,
    bufferLimitBytes,
    loop,
    timeouts,
    maxDurationMs: upstreamHttp.maxStreamDurationMs,
    log,
    trace,
    meter: AttemptMeter.of(cluster.stats, timeouts.perTryMs, clock),
  };
  const filters = cluster.attemptFilters ?? attemptFilters;
  const active = filters.length === 0 ? filters : filtersOfStream(filters, info.route);
  if (active.length === 0) return new UpstreamRequest(owner, { host, pool }, headers, options);
  return new FilteredRequest(owner, { host, pool, info }, headers, { ...options, filters: active });
}

/**
 * Which host a connection of the TCP proxy is tried at next, in Envoy's order of refusals, and the
 * upstream that is opened there: a connection of its own, or a tunnel by HTTP.
 */
import { TCP_PROXY } from '../../shared/resources/filters/network/tcp-proxy.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type { ProxiedUpstream, UpstreamOwner } from './proxied-upstream.ts';
import { balanceOf } from './tcp-balance.ts';
import type { TcpProxyServer } from './tcp-proxy.ts';
import { TcpUpstream } from './tcp-upstream.ts';
import { TunnelUpstream } from './tunnel-upstream.ts';

export interface TcpTarget {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
}

/** The response flag instead, where there is none. */
export function chooseTarget(
  server: TcpProxyServer,
  info: StreamInfo,
  attempts: number,
): TcpTarget | number {
  const { upstreamCluster: named } = info.connection;
  const { subset } = server.config;
  const target = named === undefined ? server.pickCluster() : { name: named, subset };
  const cluster = server.parts.clusters.get(target.name);
  if (cluster === undefined) {
    server.count(TCP_PROXY.index.downstream_cx_no_route);
    return ResponseFlag.noClusterFound;
  }
  info.upstreamCluster = target.name;
  info.upstreamClusterAlias = cluster.resource.observabilityName ?? '';
  info.upstreamClusterMetadata = cluster.resource.metadata;
  if (!cluster.limits.DEFAULT.canOpen('connections')) {
    countOf(cluster, CLUSTER.index.upstream_cx_overflow);
    return ResponseFlag.upstreamOverflow;
  }
  const { maxConnectAttempts, hashPolicy } = server.config;
  if (attempts >= maxConnectAttempts) {
    countOf(cluster, CLUSTER.index.upstream_cx_connect_attempts_exceeded);
    return ResponseFlag.upstreamRetryLimitExceeded;
  }
  const host = cluster.chooseHost(balanceOf(info, hashPolicy, target.subset));
  if (host !== undefined) return { cluster, host };
  countOf(cluster, CLUSTER.index.upstream_cx_none_healthy);
  return ResponseFlag.noHealthyUpstream;
}

/** What is to be started there. */
export function makeUpstream(
  { cluster, host }: TcpTarget,
  server: TcpProxyServer,
  info: StreamInfo,
  owner: UpstreamOwner,
): ProxiedUpstream {
  const tunnels = server.tunnelsFor(info);
  if (tunnels === undefined) return new TcpUpstream(cluster, host, owner);
  info.upstreamConnectStartMs = server.parts.loop.clock.ms;
  return new TunnelUpstream(cluster, host, owner, tunnels.make(info));
}

/** The client takes no more from the host for now, or takes more again. */
export function countReading({ stats }: UpstreamCluster, isPaused: boolean): void {
  stats.writer.increment(
    stats.base +
      (isPaused
        ? CLUSTER.index.upstream_flow_control_paused_reading_total
        : CLUSTER.index.upstream_flow_control_resumed_reading_total),
  );
}

/** The host takes no more for now, or takes more again. */
export function countWriting({ stats }: UpstreamCluster, isBlocked: boolean): void {
  stats.writer.increment(
    stats.base +
      (isBlocked
        ? CLUSTER.index.upstream_flow_control_backed_up_total
        : CLUSTER.index.upstream_flow_control_drained_total),
  );
}

function countOf(cluster: UpstreamCluster, offset: number): void {
  cluster.stats.writer.increment(cluster.stats.base + offset);
}

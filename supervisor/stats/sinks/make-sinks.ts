/** Makes the sinks that a bootstrap names. */
import type { StatStore } from '../stat-store.ts';
import type { TagExtractor } from '../tags/tag-extractor.ts';
import type { DashboardSink } from './dashboard-sink.ts';
import type { SinkConfig, SocketAddress, StatsSink } from './stats-sink.ts';

export interface SinkParts {
  readonly store: StatStore;
  readonly extractor: TagExtractor;
  /** Made early, since its page is mounted before the first flush. */
  readonly dashboard: DashboardSink | undefined;
  /** A host of a cluster by the cluster's name. */
  hostOf(cluster: string): SocketAddress | undefined;
}

/** Sockets and their modules are only loaded where a sink is configured. */
export async function makeSinks(
  configs: readonly SinkConfig[],
  parts: SinkParts,
): Promise<readonly StatsSink[]> {
  const sinks: StatsSink[] = [];
  for (const config of configs) {
    const sink = await makeSink(config, parts);
    if (sink !== undefined) sinks.push(sink);
  }
  return sinks;
}

async function makeSink(config: SinkConfig, parts: SinkParts): Promise<StatsSink | undefined> {
  const { plainNames, taggedNames } = await import('./statsd-lines.ts');
  switch (config.kind) {
    case 'statsd_udp': {
      const { UdpStatsdSink } = await import('./udp-statsd-sink.ts');
      const { target, prefix } = config;
      return new UdpStatsdSink({ target, form: plainNames(prefix), maxBytes: 0 });
    }
    case 'dog_statsd': {
      const { UdpStatsdSink } = await import('./udp-statsd-sink.ts');
      const { target, prefix, maxBytesPerDatagram: maxBytes } = config;
      return new UdpStatsdSink({ target, form: taggedNames(prefix, parts.extractor), maxBytes });
    }
    case 'statsd_tcp': {
      const { TcpStatsdSink } = await import('./tcp-statsd-sink.ts');
      const { cluster, prefix } = config;
      return new TcpStatsdSink({ hostOf: () => parts.hostOf(cluster), form: plainNames(prefix) });
    }
    case 'dashboard':
      return parts.dashboard;
  }
}

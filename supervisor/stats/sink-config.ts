/** Which stats sinks a bootstrap can name. Types only. */
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { Exporter, ResourceAttributes } from '../../shared/resources/telemetry/collector.ts';

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** Where datagrams go: a host, or a datagram socket in the file system. */
export type DatagramTarget = SocketAddress | { readonly path: string };

export interface MetricsServiceConfig {
  readonly kind: 'metrics_service';
  readonly target: GrpcTarget;
  /** Counters are sent as gains since the flush before, otherwise as totals. */
  readonly reportsDeltas: boolean;
  /** Names are sent without their tags, which become labels. */
  readonly tagsAsLabels: boolean;
  readonly emitsSummaries: boolean;
  readonly emitsHistograms: boolean;
  /** Families per message; 0: as many as a message holds. */
  readonly batchSize: number;
}

export interface OpenTelemetrySinkConfig {
  readonly kind: 'open_telemetry';
  readonly exporter: Exporter;
  readonly userAgent: string;
  readonly resource: ResourceAttributes;
  readonly reportsCounterDeltas: boolean;
  readonly reportsHistogramDeltas: boolean;
  readonly tagsAsAttributes: boolean;
  /** Names are sent without their tags. */
  readonly usesExtractedNames: boolean;
  /** Empty, or with a dot at its end. */
  readonly prefix: string;
  /** 0: all in one request. */
  readonly pointsPerRequest: number;
}

/** What all sinks that send statsd lines have. */
interface LineSettings {
  readonly prefix: string;
  readonly scalesToMs: boolean;
}

/** Resolved from `stats_sinks`. */
export type SinkConfig =
  | (LineSettings & {
      readonly kind: 'statsd';
      /** A host of a cluster is sent a stream, everything else datagrams. */
      readonly target: DatagramTarget | { readonly cluster: string };
    })
  | (LineSettings & {
      readonly kind: 'dog_statsd' | 'graphite_statsd';
      readonly target: DatagramTarget;
      /** 0: one statistic per datagram. */
      readonly maxBytesPerDatagram: number;
    })
  | MetricsServiceConfig
  | OpenTelemetrySinkConfig
  | { readonly kind: 'dashboard'; readonly windowFlushes: number };

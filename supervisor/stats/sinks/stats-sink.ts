/** What a sink is to the flush cycle, and which sinks a bootstrap can name. */
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import type { FlushSnapshot } from './flush-snapshot.ts';

export interface StatsSink {
  /** Hands one flush on. Rejects when it could not; the values of that flush are lost then. */
  flush(snapshot: FlushSnapshot): Promise<void>;
  /** Resolves when what was handed over is sent, where a sink can know. */
  close(): void | Promise<void>;
}

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

/** What all sinks that send statsd lines have. */
interface LineSettings {
  readonly prefix: string;
  readonly scalesToMs: boolean;
}

/** Resolved from `stats_sinks`. */
export type SinkConfig =
  | (LineSettings & { readonly kind: 'statsd_datagram'; readonly target: DatagramTarget })
  | (LineSettings & { readonly kind: 'statsd_tcp'; readonly cluster: string })
  | (LineSettings & {
      readonly kind: 'dog_statsd' | 'graphite_statsd';
      readonly target: DatagramTarget;
      /** 0: one statistic per datagram. */
      readonly maxBytesPerDatagram: number;
    })
  | MetricsServiceConfig
  | { readonly kind: 'dashboard'; readonly windowFlushes: number };

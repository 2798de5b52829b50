/** What a sink is to the flush cycle, and which sinks a bootstrap can name. */
import type { FlushSnapshot } from './flush-snapshot.ts';

export interface StatsSink {
  /** Hands one flush on. Rejects when it could not; the values of that flush are lost then. */
  flush(snapshot: FlushSnapshot): Promise<void>;
  close(): void;
}

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** Resolved from `stats_sinks`. */
export type SinkConfig =
  | { readonly kind: 'statsd_udp'; readonly target: SocketAddress; readonly prefix: string }
  | { readonly kind: 'statsd_tcp'; readonly cluster: string; readonly prefix: string }
  | {
      readonly kind: 'dog_statsd';
      readonly target: SocketAddress;
      readonly prefix: string;
      /** 0: one statistic per datagram. */
      readonly maxBytesPerDatagram: number;
    }
  | { readonly kind: 'dashboard'; readonly windowFlushes: number };

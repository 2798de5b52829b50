/** Where a proxy of datagrams counts: for itself, and for each cluster that it sends to. */
import { scopePrefix } from '../../shared/stats/stat-scope.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { UDP_CLUSTER, UDP_PROXY } from '../../shared/stats/templates/udp.ts';
import { dictionary, type Struct } from '../../shared/text/dictionary.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';

export type ProxyCounter = keyof typeof UDP_PROXY.index;
type ClusterCounter = keyof typeof UDP_CLUSTER.index;

/** What access logs tell, under Envoy's names. */
export class Traffic {
  bytesReceived = 0;
  bytesSent = 0;
  datagramsReceived = 0;
  datagramsSent = 0;
  errorsReceived = 0;
  errorsSent = 0;
}

export class UdpStats {
  readonly total = new Traffic();
  readonly #stats: StatWriter;
  readonly #base: number;
  readonly #clusters = new Map<string, number>();
  #sessions = 0;
  #noRoute = 0;
  #idle = 0;

  constructor(statPrefix: string, stats: StatWriter) {
    this.#stats = stats;
    this.#base = stats.defineBlock(UDP_PROXY, scopePrefix(`udp.${statPrefix}`));
  }

  began(): void {
    this.#sessions += 1;
    this.#count('downstream_sess_total');
    this.#count('downstream_sess_active');
  }

  ended(isIdle: boolean): void {
    this.#stats.subtract(this.#base + UDP_PROXY.index.downstream_sess_active, 1);
    if (!isIdle) return;
    this.#idle += 1;
    this.#count('idle_timeout');
  }

  /** Envoy counts it though it never was. */
  refused(): void {
    this.#sessions += 1;
    this.#count('downstream_sess_total');
  }

  noRoute(): void {
    this.#noRoute += 1;
    this.#count('downstream_sess_no_route');
  }

  received(own: Traffic, bytes: number): void {
    for (const each of [own, this.total]) {
      each.bytesReceived += bytes;
      each.datagramsReceived += 1;
    }
    this.#count('downstream_sess_rx_bytes', bytes);
    this.#count('downstream_sess_rx_datagrams');
  }

  sent(own: Traffic, bytes: number): void {
    for (const each of [own, this.total]) {
      each.bytesSent += bytes;
      each.datagramsSent += 1;
    }
    this.#count('downstream_sess_tx_bytes', bytes);
    this.#count('downstream_sess_tx_datagrams');
  }

  sendFailed(own: Traffic): void {
    for (const each of [own, this.total]) each.errorsSent += 1;
    this.#count('downstream_sess_tx_errors');
  }

  receiveFailed(): void {
    this.total.errorsReceived += 1;
    this.#count('downstream_sess_rx_errors');
  }

  sentToHost({ stats, name }: UpstreamCluster, bytes: number): void {
    this.ofCluster(name, stats.prefix, 'sess_tx_datagrams');
    stats.writer.add(stats.base + CLUSTER.index.upstream_cx_tx_bytes_total, bytes);
  }

  receivedFromHost({ stats, name }: UpstreamCluster, bytes: number): void {
    this.ofCluster(name, stats.prefix, 'sess_rx_datagrams');
    stats.writer.add(stats.base + CLUSTER.index.upstream_cx_rx_bytes_total, bytes);
  }

  ofCluster(name: string, prefix: string, counter: ClusterCounter): void {
    let base = this.#clusters.get(name);
    if (base === undefined) {
      base = this.#stats.defineBlock(UDP_CLUSTER, `${prefix}udp.`);
      this.#clusters.set(name, base);
    }
    this.#stats.increment(base + UDP_CLUSTER.index[counter]);
  }

  /** For the line that is written when the proxy ends. */
  describe(): Struct {
    const { total } = this;
    return dictionary<unknown>([
      ['bytes_received', total.bytesReceived],
      ['bytes_sent', total.bytesSent],
      ['datagrams_received', total.datagramsReceived],
      ['datagrams_sent', total.datagramsSent],
      ['errors_received', total.errorsReceived],
      ['errors_sent', total.errorsSent],
      ['idle_timeout', this.#idle],
      ['no_route', this.#noRoute],
      ['session_total', this.#sessions],
    ]);
  }

  release(): void {
    for (const base of this.#clusters.values()) this.#stats.releaseBlock(base);
    this.#stats.releaseBlock(this.#base);
  }

  #count(counter: ProxyCounter, by = 1): void {
    this.#stats.add(this.#base + UDP_PROXY.index[counter], by);
  }
}

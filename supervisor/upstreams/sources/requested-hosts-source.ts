/** Hosts that requests named: each stays while some worker uses it within the clean-up interval. */
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { HostSink, HostSource } from './host-source.ts';

/** No request may fill the memory: what comes beyond is used by its worker alone. */
const HOSTS_MAX = 10_000;

export class RequestedHostsSource implements HostSource {
  readonly #sink: HostSink;
  readonly #timer: Timer;
  readonly #hosts = new Map<string, HostResource>();
  readonly #used = new Set<string>();

  constructor(cleanupIntervalMs: number, clock: Clock, sink: HostSink) {
    this.#sink = sink;
    this.#timer = clock.every(cleanupIntervalMs, () => this.#cleanUp());
  }

  start(): void {
    this.#sink.initialized();
  }

  close(): void {
    this.#timer.cancel();
  }

  requested(host: HostResource): void {
    this.#used.add(host.id);
    if (this.#hosts.has(host.id) || this.#hosts.size >= HOSTS_MAX) return;
    this.#hosts.set(host.id, host);
    this.#sink.setHosts([...this.#hosts.values()]);
  }

  #cleanUp(): void {
    const before = this.#hosts.size;
    for (const id of this.#hosts.keys()) if (!this.#used.has(id)) this.#hosts.delete(id);
    this.#used.clear();
    if (this.#hosts.size !== before) this.#sink.setHosts([...this.#hosts.values()]);
  }
}

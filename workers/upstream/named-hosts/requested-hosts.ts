/**
 * Hosts of a cluster that requests name themselves. The first worker that needs one makes it and
 * tells the supervisor, which gives it to all and takes back those that nobody has used for a
 * while.
 */
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';

export interface RequestedHostsParts {
  readonly cluster: string;
  readonly cleanupIntervalMs: number;
  readonly nowMs: () => number;
  make(resource: HostResource): UpstreamHost;
  /** The host is in use: told at most twice within a clean-up interval. */
  used(resource: HostResource): void;
}

interface Known {
  readonly host: UpstreamHost;
  sentMs: number;
}

export class RequestedHosts {
  readonly #parts: RequestedHostsParts;
  readonly #known = new Map<string, Known>();
  /** Made here, and not yet in the supervisor's list. */
  readonly #unconfirmed = new Set<UpstreamHost>();

  constructor(parts: RequestedHostsParts) {
    this.#parts = parts;
  }

  /** The host with this address; made when it is not there. */
  at(ip: string, port: number): UpstreamHost {
    const id = ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
    const { nowMs, cleanupIntervalMs } = this.#parts;
    let known = this.#known.get(id);
    if (known === undefined) {
      const host = this.#parts.make(requestedHost(this.#parts.cluster, id, { ip, port }));
      known = { host, sentMs: Number.NEGATIVE_INFINITY };
      this.#known.set(id, known);
      this.#unconfirmed.add(host);
    }
    if (nowMs() - known.sentMs >= cleanupIntervalMs / 2) {
      known.sentMs = nowMs();
      this.#parts.used(known.host.resource);
    }
    return known.host;
  }

  /** The supervisor's list, with those that it does not know yet. */
  join(hosts: readonly UpstreamHost[]): readonly UpstreamHost[] {
    for (const host of hosts) this.#unconfirmed.delete(host);
    const all = [...hosts, ...this.#unconfirmed];
    const before = new Map(this.#known);
    this.#known.clear();
    for (const host of all) {
      const sentMs = before.get(host.id)?.sentMs ?? Number.NEGATIVE_INFINITY;
      this.#known.set(host.id, { host, sentMs });
    }
    return all;
  }
}

function requestedHost(
  cluster: string,
  id: string,
  { ip, port }: { readonly ip: string; readonly port: number },
): HostResource {
  return {
    id,
    address: { kind: 'ip', address: ip, port },
    hostname: cluster + id,
    weight: 1,
    priority: 0,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
    canary: false,
  };
}

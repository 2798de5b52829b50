/**
 * Clusters that a dynamic forward proxy makes, one for each name that requests carry, and takes
 * back when they were not used for a while. The proxy itself has no hosts.
 */
import { parseAuthority } from '../../../shared/addresses/authority.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import { subClusterName } from '../../../shared/resources/clusters/sub-cluster.ts';
import type { ResolvedCluster, SubClusterSettings } from '../../resolved/resolved-bootstrap.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { HostAnswered, HostSink, HostSource } from './host-source.ts';

export interface SubClusterParts {
  /** The forward proxy's own. */
  readonly name: string;
  readonly settings: SubClusterSettings;
  readonly store: ResourceStore;
  readonly clock: Clock;
  readonly sink: HostSink;
  /** Undefined for a message with an error. */
  readonly resolve: (message: JsonObject) => ResolvedCluster | undefined;
  /** Clusters came or went. */
  readonly counted: (change: 'added' | 'removed') => void;
}

interface SubCluster {
  readonly name: string;
  lastUsedMs: number;
  readonly waiting: HostAnswered[];
}

const DNS_CLUSTER = 'type.googleapis.com/envoy.extensions.clusters.dns.v3.DnsCluster';
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const FOUND = { outcome: 'found', details: '' } as const;

export class SubClusterSource implements HostSource {
  readonly #parts: SubClusterParts;
  readonly #clusters = new Map<string, SubCluster>();
  #timer: Timer | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(parts: SubClusterParts) {
    this.#parts = parts;
  }

  start(): void {
    const { store, clock, settings, sink } = this.#parts;
    this.#timer = clock.every(settings.ttlMs, () => this.#removeUnused());
    this.#unsubscribe = store.subscribe(({ kind, name, change }) => {
      if (kind === 'cluster' && change === 'active') this.#became(name);
    });
    sink.initialized();
  }

  close(): void {
    this.#timer?.cancel();
    this.#unsubscribe?.();
    for (const host of this.#clusters.keys()) this.#remove(host);
  }

  wanted(host: string, answered: HostAnswered): void {
    const { settings, store } = this.#parts;
    const known = this.#clusters.get(host);
    if (known === undefined) {
      if (this.#clusters.size >= settings.maxClusters) {
        answered({ outcome: 'cluster_overflow', details: '' });
        return;
      }
      this.#add(host, answered);
      return;
    }
    known.lastUsedMs = this.#parts.clock.monotonicMs();
    if (store.get('cluster', known.name)?.active === undefined) known.waiting.push(answered);
    else answered(FOUND);
  }

  used(host: string): void {
    const known = this.#clusters.get(host);
    if (known !== undefined) known.lastUsedMs = this.#parts.clock.monotonicMs();
  }

  #add(host: string, answered: HostAnswered): void {
    const { store, clock, name: parent, settings, resolve, counted } = this.#parts;
    const entry = store.get('cluster', parent);
    const { message } = entry?.active ?? entry?.warming ?? {};
    const own = message && messageOf(message, host, settings);
    const resolved = own && resolve(own);
    if (own === undefined || resolved === undefined) {
      answered({ outcome: 'failed', details: '' });
      return;
    }
    const name = subClusterName(host);
    const lastUsedMs = clock.monotonicMs();
    this.#clusters.set(host, { name, lastUsedMs, waiting: [answered] });
    counted('added');
    const lastUpdatedMs = clock.wallMs();
    store.putWarming('cluster', name, { message: own, versionInfo: '', lastUpdatedMs, resolved });
  }

  #became(name: string): void {
    for (const cluster of this.#clusters.values()) {
      if (cluster.name !== name) continue;
      for (const answered of cluster.waiting.splice(0)) answered(FOUND);
    }
  }

  #removeUnused(): void {
    const { clock, settings } = this.#parts;
    const sinceMs = clock.monotonicMs() - settings.ttlMs - settings.touchIntervalMs;
    for (const [host, { lastUsedMs }] of this.#clusters) {
      if (lastUsedMs < sinceMs) this.#remove(host);
    }
  }

  #remove(host: string): void {
    const cluster = this.#clusters.get(host);
    if (cluster === undefined) return;
    this.#clusters.delete(host);
    for (const answered of cluster.waiting) answered({ outcome: 'failed', details: '' });
    if (this.#parts.store.remove('cluster', cluster.name)) this.#parts.counted('removed');
  }
}

/** The forward proxy's own message, about one name. */
function messageOf(parent: JsonObject, host: string, settings: SubClusterSettings): JsonObject {
  const { cluster_type: _, ...rest } = parent;
  const { host: address, port } = parseAuthority(host, 0);
  const name = subClusterName(host);
  const lbEndpoints = [
    { endpoint: { address: { socket_address: { address, port_value: port } } } },
  ];
  const type =
    settings.dnsCluster === undefined
      ? { type: 'STRICT_DNS' }
      : { cluster_type: { name: 'envoy.cluster.dns', typed_config: typedDns(settings) } };
  return {
    ...rest,
    ...checkedNames(parent),
    name,
    lb_policy: settings.lbPolicy,
    ...type,
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: lbEndpoints }] },
  };
}

/** Its message is one of the configuration's own, in the form that all of them have. */
function typedDns({ dnsCluster }: SubClusterSettings): JsonObject {
  return { '@type': DNS_CLUSTER, ...(dnsCluster as unknown as JsonObject) };
}

/**
 * Over TLS the name is sent and found in the certificate, unless the forward proxy says otherwise.
 */
function checkedNames(parent: JsonObject): JsonObject {
  const names = { auto_sni: true, auto_san_validation: true };
  const typed = parent['typed_extension_protocol_options'] as JsonObject | undefined;
  const options = typed?.[HTTP_OPTIONS] as JsonObject | undefined;
  if (options === undefined) return { upstream_http_protocol_options: names, ...own(parent) };
  const checked = { upstream_http_protocol_options: names, ...options };
  return { typed_extension_protocol_options: { ...typed, [HTTP_OPTIONS]: checked } };
}

function own({ upstream_http_protocol_options: names }: JsonObject): JsonObject {
  return names === undefined ? {} : { upstream_http_protocol_options: names };
}

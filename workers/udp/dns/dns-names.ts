/** What a DNS filter answers of itself: from its table, and from hosts of clusters. */
import { isIP } from '../../../shared/addresses/ip-text.ts';
import type { DnsDomain, DnsFilter, DnsService } from '../../../shared/resources/udp-listener.ts';
import type { ClusterManager } from '../../upstream/cluster-manager.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import {
  addressRecord,
  type DnsQuestion,
  type DnsRecord,
  serviceRecord,
  TYPE_A,
  TYPE_AAAA,
  TYPE_SRV,
} from './dns-question.ts';

/** Seconds that answers hold where nothing says it. */
export const TTL_S = 300;
const FAMILIES: ReadonlyMap<number, number> = new Map([
  [TYPE_A, 4],
  [TYPE_AAAA, 6],
]);

export interface OwnAnswer {
  readonly source: 'local' | 'cluster';
  readonly records: readonly DnsRecord[];
  /** Addresses of services. */
  readonly additional: readonly DnsRecord[];
}

export class DnsNames {
  readonly #clusters: ClusterManager;
  readonly #ignoresCase: boolean;
  readonly #domains: ReadonlyMap<string, DnsDomain>;
  /** The last two labels of each domain. */
  readonly #suffixes: ReadonlySet<string>;

  constructor({ domains, ignoresCase }: DnsFilter, clusters: ClusterManager) {
    this.#clusters = clusters;
    this.#ignoresCase = ignoresCase;
    this.#domains = new Map(domains.map((each) => [each.name, each]));
    this.#suffixes = new Set(domains.map(({ name }) => suffixOf(name)));
  }

  /** Whether the table has something below the same two labels. */
  knows(name: string): boolean {
    return this.#suffixes.has(suffixOf(this.#key(name)));
  }

  /** Undefined for what others may know. */
  answer({ name, type }: DnsQuestion): OwnAnswer | undefined {
    if (type === TYPE_SRV) return this.#services(name);
    const family = FAMILIES.get(type);
    if (family === undefined) return undefined;
    const domain = this.#find(this.#key(name));
    const { endpoint, ttlS = TTL_S } = domain ?? {};
    const cluster = endpoint?.kind === 'cluster' ? endpoint.name : name;
    const hosts = this.#hostsOf(cluster).filter(({ ip }) => isIP(ip) === family);
    if (hosts.length > 0) {
      const records = hosts.map(({ ip }) => addressRecord(name, ttlS, ip));
      return { source: 'cluster', records: turned(records), additional: [] };
    }
    if (endpoint?.kind !== 'addresses') return undefined;
    const own = endpoint.addresses.filter((each) => isIP(each) === family);
    const records = own.map((each) => addressRecord(name, ttlS, each));
    return { source: 'local', records: turned(records), additional: [] };
  }

  /** Of `_service._protocol.domain`. */
  #services(name: string): OwnAnswer | undefined {
    const [service = '', protocol = '', ...rest] = this.#key(name).split('.');
    const endpoint = this.#find(rest.join('.'))?.endpoint;
    if (endpoint?.kind !== 'services') return undefined;
    const wanted = `${service}.${protocol}`;
    const found = endpoint.services.find((each) => this.#key(each.name) === wanted);
    return found && this.#recordsOf(name, found);
  }

  #recordsOf(name: string, { targets, ttlS }: DnsService): OwnAnswer {
    const records: DnsRecord[] = [];
    const additional: DnsRecord[] = [];
    let source: OwnAnswer['source'] = 'local';
    for (const target of targets) {
      if (target.kind === 'host') {
        records.push(serviceRecord(name, ttlS, target));
        for (const type of [TYPE_A, TYPE_AAAA]) {
          const addresses = this.answer({ name: target.name, type, hasMore: false });
          additional.push(...(addresses?.records ?? []));
        }
        continue;
      }
      source = 'cluster';
      for (const { ip, port } of this.#hostsOf(target.name)) {
        const own = target.port === 0 ? port : target.port;
        records.push(serviceRecord(name, ttlS, { ...target, port: own }));
        if (isIP(ip) !== 0) additional.push(addressRecord(target.name, TTL_S, ip));
      }
    }
    return { source, records, additional };
  }

  #hostsOf(cluster: string): readonly UpstreamHost[] {
    return this.#clusters.get(cluster)?.hosts ?? [];
  }

  /** The domain itself, or the nearest one above it that stands for all below. */
  #find(key: string): DnsDomain | undefined {
    const exact = this.#domains.get(key);
    if (exact !== undefined) return exact;
    for (let dot = key.indexOf('.'); dot >= 0; dot = key.indexOf('.', dot + 1)) {
      const wild = this.#domains.get(`*${key.slice(dot)}`);
      if (wild !== undefined) return wild;
    }
    return undefined;
  }

  #key(name: string): string {
    return this.#ignoresCase ? name.toLowerCase() : name;
  }
}

/** Answers begin anywhere, so that no address is always the first. */
function turned(records: readonly DnsRecord[]): readonly DnsRecord[] {
  const start = Math.floor(Math.random() * records.length);
  return [...records.slice(start), ...records.slice(0, start)];
}

function suffixOf(name: string): string {
  const last = name.lastIndexOf('.');
  const before = last < 0 ? -1 : name.lastIndexOf('.', last - 1);
  return name.slice(before + 1);
}

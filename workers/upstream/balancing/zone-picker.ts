/**
 * Prefers the hosts of the server's own locality: all requests stay there while its share of the
 * cluster's hosts is at least its share of the servers in front of them, else what is too much for
 * it goes to localities that have more hosts than servers. Where zones cannot help, all hosts
 * alike.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { ZoneAwareOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import { readFraction, readInteger } from '../../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../../loop/runtime.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { HostPicker, MakePicker } from './load-balancer.ts';
import { groupByLocality, localityKey } from '../hosts/localities.ts';

const { index } = CLUSTER;
const MIN_CLUSTER_SIZE_KEY = 'upstream.zone_routing.min_cluster_size';
const FORCE_MIN_SIZE_KEY = 'upstream.zone_routing.force_local_zone.min_size';
const ENABLED_KEY = 'upstream.zone_routing.enabled';
const SHARES = 10_000;

/** The servers of which this one is one. */
export interface LocalCluster {
  readonly hosts: readonly UpstreamHost[];
  /** Another number after each change of the hosts or their health. */
  readonly version: number;
  /** How many there are, and how many of them may be asked. */
  health(): { readonly total: number; readonly usable: number };
}

export interface ZonePickerParts {
  readonly options: ZoneAwareOptions;
  /** In percent, of the cluster that is balanced. */
  panicThreshold(): number;
  readonly makePicker: MakePicker;
  /** What hosts they are, as for `makePicker`. */
  readonly source: string;
  /** All of the priority. */
  readonly peers: readonly UpstreamHost[];
  /** Undefined while the local cluster is not there. */
  localCluster(): LocalCluster | undefined;
  readonly ownLocality: {
    readonly region: string;
    readonly zone: string;
    readonly subZone: string;
  };
  readonly runtime: Pick<Runtime, 'snapshot'>;
  readonly random: () => number;
  /** Counts one of the cluster's statistics. */
  readonly count: (offset: number) => void;
  /** Counts what belongs to making plans, not to choices. */
  readonly countStructure: (offset: number, change: number) => void;
}

interface Locality {
  readonly picker: HostPicker;
  readonly isOwn: boolean;
  /** This locality's part of all servers and of all hosts, in 10,000. */
  readonly servers: number;
  readonly hosts: number;
}

/** So many of 10,000 requests stay; the rest goes by what others have free. */
interface Plan {
  readonly localities: readonly Locality[];
  readonly own: Locality;
  readonly stay: number;
  readonly free: number;
}

export class ZonePicker implements HostPicker {
  readonly #parts: ZonePickerParts;
  readonly #hosts: readonly UpstreamHost[];
  readonly #anywhere: HostPicker;
  #plan: Plan | undefined = undefined;
  #plannedFor: LocalCluster | undefined = undefined;
  #version = -1;

  constructor(hosts: readonly UpstreamHost[], parts: ZonePickerParts) {
    this.#hosts = hosts;
    this.#parts = parts;
    this.#anywhere = parts.makePicker(hosts, parts.peers, parts.source);
    this.#replan();
  }

  pick(): UpstreamHost | undefined {
    const local = this.#parts.localCluster();
    if (local !== this.#plannedFor || local?.version !== this.#version) this.#replan();
    if (this.#plan === undefined || local === undefined) return this.#anywhere.pick();
    const { options, runtime, random, count } = this.#parts;
    const enabled = readFraction(runtime.snapshot, ENABLED_KEY, {
      numerator: options.routingEnabled,
      denominator: 100,
    });
    if (random() * enabled.denominator >= enabled.numerator) return this.#anywhere.pick();
    const { total, usable } = local.health();
    if (total === 0 || (100 * usable) / total < this.#parts.panicThreshold()) {
      count(index.lb_local_cluster_not_ok);
      return this.#anywhere.pick();
    }
    return this.#choose(this.#plan).picker.pick();
  }

  #choose({ localities, own, stay, free }: Plan): Locality {
    const { random, count } = this.#parts;
    if (stay >= SHARES) {
      count(index.lb_zone_routing_all_directly);
      return own;
    }
    if (random() * SHARES < stay) {
      count(index.lb_zone_routing_sampled);
      return own;
    }
    if (free === 0) {
      count(index.lb_zone_no_capacity_left);
      return localities[Math.floor(random() * localities.length)] ?? own;
    }
    count(index.lb_zone_routing_cross_zone);
    let point = random() * free;
    for (const locality of localities) {
      point -= freeOf(locality);
      if (point < 0) return locality;
    }
    return own;
  }

  #replan(): void {
    const local = this.#parts.localCluster();
    this.#plannedFor = local;
    this.#version = local?.version ?? -1;
    this.#plan = local === undefined ? undefined : this.#makePlan(local);
  }

  #makePlan(local: LocalCluster): Plan | undefined {
    const { options, ownLocality, countStructure, makePicker, peers, source } = this.#parts;
    countStructure(index.lb_recalculate_zone_structures, 1);
    const forced = this.#forcedMinSize();
    const servers = groupByLocality(local.hosts);
    const ownKey = localityKey(ownLocality);
    if (groupByLocality(peers).size < 2 || (servers.size < 2 && forced === undefined))
      return undefined;
    if (!servers.has(ownKey)) {
      countStructure(index.lb_local_cluster_not_ok, 1);
      return undefined;
    }
    if (this.#hosts.length < this.#minClusterSize()) {
      countStructure(index.lb_zone_cluster_too_small, 1);
      return undefined;
    }
    const sizeOf = options.countsWeights === true ? totalWeight : numberOf;
    const healthy = local.hosts.filter(({ health }) => health === 'healthy');
    const healthyServers = groupByLocality(healthy);
    const [allServers, allHosts] = [sizeOf(healthy), sizeOf(this.#hosts)];
    const localities = [...groupByLocality(this.#hosts)].map(([key, hosts]) => ({
      picker: makePicker(hosts, peers, `${source} ${key}`),
      isOwn: key === ownKey,
      servers: shareOf(sizeOf(healthyServers.get(key) ?? []), allServers),
      hosts: shareOf(sizeOf(hosts), allHosts),
      isForced: key === ownKey && forced !== undefined && hosts.length >= forced,
    }));
    const none = { picker: this.#anywhere, isOwn: true, servers: 0, hosts: 0, isForced: false };
    const own = localities.find(({ isOwn }) => isOwn) ?? none;
    const staysWhole = own.isForced || own.hosts >= own.servers;
    const stay = staysWhole ? SHARES : Math.floor((SHARES * own.hosts) / own.servers);
    return {
      localities,
      own,
      stay: own === none ? 0 : stay,
      free: localities.reduce((sum, each) => sum + freeOf(each), 0),
    };
  }

  #minClusterSize(): number {
    const { options, runtime } = this.#parts;
    return readInteger(runtime.snapshot, MIN_CLUSTER_SIZE_KEY, options.minClusterSize);
  }

  /** Undefined: nothing keeps requests in their zone but its share. */
  #forcedMinSize(): number | undefined {
    const { options, runtime } = this.#parts;
    const given = options.forceLocalZoneMinSize;
    if (given === undefined) return undefined;
    return readInteger(runtime.snapshot, FORCE_MIN_SIZE_KEY, given);
  }
}

function totalWeight(hosts: readonly UpstreamHost[]): number {
  return hosts.reduce((sum, { weight }) => sum + weight, 0);
}

function numberOf({ length }: readonly UpstreamHost[]): number {
  return length;
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.floor((SHARES * part) / whole);
}

/** What a locality can take of others' requests. */
function freeOf({ isOwn, hosts, servers }: Locality): number {
  return isOwn ? 0 : Math.max(0, hosts - servers);
}

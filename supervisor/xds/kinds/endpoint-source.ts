/** Hosts of a cluster from a control plane or a file: one load assignment, replaced as a whole. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ClusterLoadAssignment } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import { canonicalName } from '../../resolved/resource-locator.ts';
import { atOnce, LoopTurns } from '../../loop/loop-turns.ts';
import { durationMsOr } from '../../resources/values.ts';
import type { EndpointDiscovery, ResolvedCluster } from '../../resolved/resolved-bootstrap.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { HostSink, HostSource } from '../../upstreams/sources/host-source.ts';
import { keepSameHostsInSteps } from '../../upstreams/sources/same-host.ts';
import { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import type { DiscoverySources, OpenSubscription } from '../subscriptions/discovery-sources.ts';
import type {
  DiscoveredResource,
  DiscoveryConsumer,
  DiscoveryUpdate,
} from '../subscriptions/discovery-update.ts';
import { type HostsByEndpoint, KnownHosts } from './known-hosts.ts';
import type { ResourceResolver } from './resource-resolver.ts';

export interface EndpointEnvironment {
  readonly sources: DiscoverySources;
  readonly resolver: ResourceResolver;
  readonly statStore: StatStore;
  readonly clock: Clock;
  readonly log: (level: 'warning', text: string) => void;
}

/** More hosts are resolved, compared and put in force in a turn of the loop each. */
const LARGE_SET = 500;

export class EndpointSource implements HostSource, DiscoveryConsumer {
  readonly #cluster: string;
  readonly #serviceName: string;
  readonly #sink: HostSink;
  readonly #resolver: ResourceResolver;
  readonly #subscription: OpenSubscription;
  /**
   * The hosts of the last answer with many hosts, parts of which come again as the same objects.
   */
  #known: HostsByEndpoint | undefined;
  #present: ClusterHostsResource | undefined;
  readonly #clock: Clock;
  readonly #turns: LoopTurns;
  readonly #log: EndpointEnvironment['log'];
  /** Until the present assignment is too old. */
  #lifetime: Timer | undefined;
  #isClosed = false;

  constructor(
    { resource }: ResolvedCluster,
    { source, serviceName }: EndpointDiscovery,
    sink: HostSink,
    { sources, resolver, statStore, clock, log }: EndpointEnvironment,
  ) {
    this.#clock = clock;
    this.#turns = new LoopTurns(clock);
    this.#log = log;
    this.#cluster = resource.name;
    this.#serviceName = serviceName;
    this.#sink = sink;
    this.#resolver = resolver;
    this.#subscription = sources.open({
      kind: 'endpoints',
      source,
      names: [serviceName],
      stats: DiscoveryStats.ofCluster(statStore, resource.statName),
      consumer: this,
    });
  }

  start(): void {
    this.#subscription.start();
  }

  close(): void {
    this.#isClosed = true;
    this.#lifetime?.cancel();
    this.#subscription.close();
  }

  /** An answer without this assignment changes nothing: the hosts stay. */
  async update({ resources }: DiscoveryUpdate): Promise<string | undefined> {
    const [found] = resources;
    if (found === undefined) {
      this.#sink.count('update_empty');
      return undefined;
    }
    const mistake = this.#mistakeIn(resources);
    if (mistake !== undefined) return this.#refuse(mistake);
    const known = new KnownHosts(this.#known);
    const { resolved: sent, error } = this.#resolver.hosts(this.#cluster, found.message, known);
    if (error !== undefined) return error;
    const isLarge = sent.hosts.length > LARGE_SET;
    this.#known = isLarge ? known.resolved : undefined;
    this.#beginLifetime(found.message);
    const { hosts: before = [] } = this.#present ?? {};
    const comparing = keepSameHostsInSteps(before, sent.hosts);
    if (!isLarge) {
      this.#sink.confirmed(sent.hosts);
      this.#takeOther({ ...sent, hosts: atOnce(comparing) });
      return undefined;
    }
    await nextTurn();
    if (!this.#isClosed) this.#sink.confirmed(sent.hosts);
    const hosts = await this.#turns.run(comparing);
    await nextTurn();
    if (!this.#isClosed) this.#takeOther({ ...sent, hosts });
    return undefined;
  }

  #takeOther(resolved: ClusterHostsResource): void {
    const before = this.#present;
    const isSame = before?.hosts === resolved.hosts && isDeepStrictEqual(before, resolved);
    if (isSame) this.#sink.count('update_no_rebuild');
    else this.#take(resolved);
  }

  /** Envoy's words. */
  #mistakeIn([found, ...more]: readonly DiscoveredResource[]): string | undefined {
    if (more.length > 0) return `Unexpected EDS resource length: ${more.length + 1}`;
    const { cluster_name: own = '' } = (found?.message ?? {}) as ClusterLoadAssignment;
    if (canonicalName(own) === canonicalName(this.#serviceName)) return undefined;
    return `Unexpected EDS cluster (expecting ${this.#serviceName}): ${own}`;
  }

  /** Envoy says by itself what is wrong with an answer as a whole, and returns it. */
  #refuse(reason: string): string {
    this.#log('warning', `eds: cluster '${this.#cluster}' config rejected: ${reason}`);
    return reason;
  }

  /** Hosts go when no other assignment comes in time. */
  #beginLifetime(message: ClusterLoadAssignment): void {
    this.#lifetime?.cancel();
    const staleAfterMs = durationMsOr(message.policy?.endpoint_stale_after, 0);
    if (staleAfterMs <= 0) return;
    this.#sink.count('assignment_timeout_received');
    this.#lifetime = this.#clock.after(staleAfterMs, () => {
      this.#sink.count('assignment_stale');
      if (this.#present !== undefined) this.#take({ ...this.#present, hosts: [] });
    });
  }

  #take(resolved: ClusterHostsResource): void {
    this.#present = resolved;
    this.#sink.setMaxHostWeight(maxWeightOfLast(resolved.hosts));
    this.#sink.setPolicy(resolved);
    const isOther = this.#sink.setHosts(resolved.hosts);
    if (!isOther) this.#sink.count('update_no_rebuild');
  }

  refused(): void {}

  settled(): void {
    this.#sink.initialized();
  }
}

/** As Envoy shows it: each priority overwrites what the one before it had. */
function maxWeightOfLast(hosts: readonly HostResource[]): number {
  let [last, most] = [0, 1];
  for (const { priority, weight } of hosts) {
    if (priority > last) [last, most] = [priority, weight];
    else if (priority === last) most = Math.max(most, weight);
  }
  return most;
}

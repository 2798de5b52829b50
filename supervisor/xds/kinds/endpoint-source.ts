/** Hosts of a cluster from a control plane or a file: one load assignment, replaced as a whole. */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterLoadAssignment } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import { canonicalName } from '../../resolved/resource-locator.ts';
import { atOnce, type LoopTurns, type Steps } from '../../loop/loop-turns.ts';
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
  /** For large assignments of all clusters. */
  readonly turns: LoopTurns;
  readonly log: (level: 'warning', text: string) => void;
}

/** More hosts are resolved, compared and put in force in steps. */
const LARGE_SET = 500;
const WEIGHTS_PER_STEP = 1024;

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
    { sources, resolver, statStore, clock, turns, log }: EndpointEnvironment,
  ) {
    this.#clock = clock;
    this.#turns = turns;
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
    const { message } = found;
    const taking = this.#whileOpen(this.#takeAssignment(message));
    return isLarge(message) ? await this.#turns.run(taking) : atOnce(taking);
  }

  /** Nobody waits for the rest of a cluster that is gone. */
  *#whileOpen<Result>(steps: Steps<Result>): Steps<Result | undefined> {
    while (!this.#isClosed) {
      const step = steps.next();
      if (step.done === true) return step.value;
      yield;
    }
    return undefined;
  }

  /** The hosts before these stay in force until the last step. */
  *#takeAssignment(message: JsonObject): Steps<string | undefined> {
    const known = new KnownHosts(this.#known);
    const resolving = this.#resolver.hostsInSteps(this.#cluster, message, known);
    const { resolved: sent, error } = yield* resolving;
    if (error !== undefined) return error;
    this.#known = sent.hosts.length > LARGE_SET ? known.resolved : undefined;
    this.#beginLifetime(message);
    yield* this.#sink.confirmed(sent.hosts);
    const hosts = yield* keepSameHostsInSteps(this.#present?.hosts ?? [], sent.hosts);
    yield* this.#takeOther({ ...sent, hosts });
    return undefined;
  }

  *#takeOther(resolved: ClusterHostsResource): Steps<void> {
    const before = this.#present;
    const isSame = before?.hosts === resolved.hosts && isDeepStrictEqual(before, resolved);
    if (isSame) this.#sink.count('update_no_rebuild');
    else yield* this.#take(resolved);
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
      if (this.#present === undefined) return;
      void this.#turns.run(this.#whileOpen(this.#take({ ...this.#present, hosts: [] })));
    });
  }

  *#take(resolved: ClusterHostsResource): Steps<void> {
    this.#present = resolved;
    this.#sink.setMaxHostWeight(yield* maxWeightOfLast(resolved.hosts));
    this.#sink.setPolicy(resolved);
    const isOther = yield* this.#sink.setHostsInSteps(resolved.hosts);
    if (!isOther) this.#sink.count('update_no_rebuild');
  }

  refused(): void {}

  settled(): void {
    this.#sink.initialized();
  }
}

function isLarge({ endpoints = [] }: ClusterLoadAssignment): boolean {
  let hosts = endpoints.length;
  for (const { lb_endpoints: some = [] } of endpoints) hosts += some.length;
  return hosts > LARGE_SET;
}

/** As Envoy shows it: each priority overwrites what the one before it had. */
function* maxWeightOfLast(hosts: readonly HostResource[]): Steps<number> {
  let [last, most] = [0, 1];
  for (let at = 0; at < hosts.length; at++) {
    const { priority, weight } = hosts[at] as HostResource;
    if ((at + 1) % WEIGHTS_PER_STEP === 0) yield;
    if (priority > last) [last, most] = [priority, weight];
    else if (priority === last) most = Math.max(most, weight);
  }
  return most;
}

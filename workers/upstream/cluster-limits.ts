/**
 * The circuit breakers of one cluster, by priority, and of its hosts. They count over all workers
 * once the supervisor has said in which slots, and within this worker until then.
 */
import { NO_LIMIT } from '../../shared/limits/breaker-limits.ts';
import type {
  ClusterHostsResource,
  ClusterResource,
} from '../../shared/resources/clusters/cluster.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { UpstreamHost } from './hosts/host.ts';
import { SharedLimits } from './resource-limits.ts';

export type Priority = 'DEFAULT' | 'HIGH';
type ByPriority = Readonly<Record<Priority, SharedLimits>>;

/** Runtime keys limit clusters, not hosts. */
const NO_RUNTIME: Pick<Runtime, 'snapshot'> = { snapshot: new Map() };

interface LimitsContext extends Pick<ClusterContext, 'breakerPage'> {
  readonly duty: Pick<ClusterContext['duty'], 'workerIndex'>;
  readonly runtime: Pick<Runtime, 'snapshot'>;
}

export class ClusterLimits {
  readonly byPriority: ByPriority;
  readonly #resource: ClusterResource;
  readonly #context: LimitsContext;
  #boundSlot: number | undefined = undefined;

  constructor(resource: ClusterResource, context: LimitsContext) {
    this.#resource = resource;
    this.#context = context;
    const make = (priority: Priority): SharedLimits =>
      new SharedLimits({
        cluster: resource.name,
        priority,
        thresholds: resource.circuitBreakers[priority],
        runtime: context.runtime,
      });
    this.byPriority = { DEFAULT: make('DEFAULT'), HIGH: make('HIGH') };
  }

  bind({ breakerSlots }: Pick<ClusterHostsResource, 'breakerSlots'>): void {
    if (breakerSlots === undefined || breakerSlots.DEFAULT === this.#boundSlot) return;
    this.#boundSlot = breakerSlots.DEFAULT;
    this.#bindBoth(this.byPriority, breakerSlots);
  }

  /** Gives a host whose connections are limited its limits. */
  limitConnections(host: Pick<UpstreamHost, 'resource' | 'connectionLimits'>): void {
    const { breakerSlot } = host.resource;
    if (breakerSlot === undefined || host.connectionLimits !== undefined) return;
    const own = (priority: Priority): SharedLimits => {
      const thresholds = this.#resource.circuitBreakers[priority];
      const maxConnections = thresholds.maxConnectionsPerHost ?? NO_LIMIT;
      return new SharedLimits({
        cluster: this.#resource.name,
        priority,
        thresholds: { ...thresholds, maxConnections },
        runtime: NO_RUNTIME,
      });
    };
    const limits = { DEFAULT: own('DEFAULT'), HIGH: own('HIGH') };
    this.#bindBoth(limits, { DEFAULT: breakerSlot, HIGH: breakerSlot });
    host.connectionLimits = limits;
  }

  #bindBoth(limits: ByPriority, slots: Readonly<Record<Priority, number>>): void {
    const page = this.#context.breakerPage();
    const { workerIndex } = this.#context.duty;
    limits.DEFAULT.bind(page, workerIndex, slots.DEFAULT);
    limits.HIGH.bind(page, workerIndex, slots.HIGH);
  }
}

/**
 * What an operator has ordered for single hosts: that they drain, are down, or have another weight.
 * An order holds over updates of the cluster and of its hosts, until it is taken back or its time
 * is over; the next epoch begins with those that are in force. It says nothing of checks: a host
 * that fails them fails all the same.
 */
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS, healthOf } from '../../../shared/resources/clusters/host-health.ts';

/** Orders that are in force at the same time. */
export const ORDERS_MAX = 10_000;
/** The limit of names and addresses; longer ones are no host's. */
const NAME_MAX = 1_000;

export interface HostOrder {
  /** `drain`: open requests go on, new ones go elsewhere. */
  readonly state?: 'drain' | 'down';
  readonly weight?: number;
  /** Unix milliseconds; absent: until it is taken back. */
  readonly untilMs?: number;
}

export interface NamedOrder extends HostOrder {
  readonly cluster: string;
  /** As `/clusters` shows it. */
  readonly host: string;
}

interface Kept {
  readonly order: HostOrder;
  readonly timer: Timer | undefined;
}

const STATE_BITS = {
  drain: HEALTH_BITS.eds_status_draining,
  down: HEALTH_BITS.failed_eds_health,
} as const;

export interface HostOrdersOptions {
  readonly clock: Clock;
  /** Hosts of this cluster are to be looked at again. */
  readonly changed: (cluster: string) => void;
  /** How many are in force. */
  readonly counted: (count: number) => void;
}

/** Where nobody orders anything. */
export const NO_ORDERS: Pick<HostOrders, 'apply'> = { apply: (_, hosts) => hosts };

export class HostOrders {
  readonly #options: HostOrdersOptions;
  readonly #byCluster = new Map<string, Map<string, Kept>>();
  #count = 0;

  constructor(options: HostOrdersOptions) {
    this.#options = options;
  }

  /** Takes the place of an earlier order for the host. Returns false where there are too many. */
  put({ cluster, host, ...order }: NamedOrder): boolean {
    const known = this.#byCluster.get(cluster)?.get(host);
    if (known === undefined && this.#count >= ORDERS_MAX) return false;
    this.#forget(cluster, host);
    const orders = this.#byCluster.get(cluster) ?? new Map<string, Kept>();
    this.#byCluster.set(cluster, orders);
    orders.set(host, { order, timer: this.#expiry(cluster, host, order) });
    this.#count += 1;
    this.#tell(cluster);
    return true;
  }

  /** Returns whether there was one. */
  takeBack(cluster: string, host: string): boolean {
    const wasThere = this.#forget(cluster, host);
    if (wasThere) this.#tell(cluster);
    return wasThere;
  }

  of(cluster: string, host: string): HostOrder | undefined {
    return this.#byCluster.get(cluster)?.get(host)?.order;
  }

  /** The hosts with what is ordered for them; the same list where nothing is. */
  apply(cluster: string, hosts: readonly HostResource[]): readonly HostResource[] {
    const orders = this.#byCluster.get(cluster);
    if (orders === undefined) return hosts;
    return hosts.map((host) => {
      const kept = orders.get(host.id);
      return kept === undefined ? host : ordered(host, kept.order);
    });
  }

  /** All that are in force. */
  *list(): Generator<NamedOrder> {
    for (const [cluster, orders] of this.#byCluster) {
      for (const [host, { order }] of orders) yield { cluster, host, ...order };
    }
  }

  /** For the next epoch; undefined where there are none. */
  export(): string | undefined {
    return this.#count === 0 ? undefined : JSON.stringify([...this.list()]);
  }

  /** Those of the epoch before. What is no list of orders is passed over. */
  import(text: string): void {
    const orders = readOrders(text);
    for (const order of orders) this.put(order);
  }

  close(): void {
    for (const orders of this.#byCluster.values()) {
      for (const { timer } of orders.values()) timer?.cancel();
    }
    this.#byCluster.clear();
  }

  #expiry(cluster: string, host: string, { untilMs }: HostOrder): Timer | undefined {
    if (untilMs === undefined) return undefined;
    const { clock } = this.#options;
    const delayMs = Math.max(0, untilMs - clock.wallMs());
    return clock.after(delayMs, () => this.takeBack(cluster, host), { unref: true });
  }

  #forget(cluster: string, host: string): boolean {
    const orders = this.#byCluster.get(cluster);
    const known = orders?.get(host);
    if (orders === undefined || known === undefined) return false;
    known.timer?.cancel();
    orders.delete(host);
    if (orders.size === 0) this.#byCluster.delete(cluster);
    this.#count -= 1;
    return true;
  }

  #tell(cluster: string): void {
    this.#options.counted(this.#count);
    this.#options.changed(cluster);
  }
}

function ordered(host: HostResource, { state, weight }: HostOrder): HostResource {
  const healthBits = (host.healthBits ?? 0) | (state === undefined ? 0 : STATE_BITS[state]);
  return {
    ...host,
    healthBits,
    health: healthOf(healthBits),
    ...(weight !== undefined && { weight }),
  };
}

function readOrders(text: string): readonly NamedOrder[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return [];
  }
  return Array.isArray(list) ? list.filter(isOrder) : [];
}

function isOrder(value: unknown): value is NamedOrder {
  if (typeof value !== 'object' || value === null) return false;
  const { cluster, host, state, weight, untilMs } = value as Partial<NamedOrder>;
  return (
    isName(cluster) &&
    isName(host) &&
    (state === undefined || Object.hasOwn(STATE_BITS, state)) &&
    (weight === undefined || isHostWeight(weight)) &&
    (untilMs === undefined || Number.isFinite(untilMs))
  );
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= NAME_MAX;
}

const WEIGHT_MAX = 0xffff_ffff;

/** As the API has it: from 1 on. */
export function isHostWeight(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= WEIGHT_MAX;
}

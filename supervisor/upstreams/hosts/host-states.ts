/**
 * What is known of each host of one cluster, by id, with the slots in shared pages that a host has
 * as long as the cluster has the host.
 */
import { hasSlowStart } from '../../../shared/resources/clusters/lb-policy.ts';
import type { Clock } from '../../../shared/process/clock.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { OutlierSlots } from '../../health/outlier-slots.ts';
import type { ResolvedCluster } from '../../resolved/resolved-bootstrap.ts';
import type { BreakerSlots } from '../breakers/breaker-slots.ts';
import type { HostState } from './host-state.ts';

export interface HostStatesOptions {
  readonly resolved: ResolvedCluster;
  readonly clock: Clock;
  slots(): OutlierSlots;
  readonly breakers: BreakerSlots;
}

export class HostStates {
  readonly #options: HostStatesOptions;
  readonly #states = new Map<string, HostState>();

  constructor(options: HostStatesOptions) {
    this.#options = options;
  }

  get(id: string): HostState | undefined {
    return this.#states.get(id);
  }

  /** A host that was not there: it counts as `bits` say until more is known. */
  add(host: HostResource, bits: number): HostState {
    const { resolved, clock, breakers } = this.#options;
    const startsSlowly = hasSlowStart(resolved.resource.lbPolicy);
    const state: HostState = {
      given: host,
      host,
      set: 0,
      position: -1,
      bits,
      wasChecked: false,
      readySinceMs: startsSlowly ? clock.monotonicMs() : undefined,
      slot: resolved.outlierDetection === undefined ? undefined : this.#options.slots().take(),
      breakerSlot: this.#limitsConnections ? breakers.take() : undefined,
    };
    this.#states.set(host.id, state);
    return state;
  }

  forget(state: HostState): void {
    this.#giveBack(state);
    this.#states.delete(state.given.id);
  }

  clear(): void {
    for (const state of this.#states.values()) this.#giveBack(state);
    this.#states.clear();
  }

  #giveBack({ slot, breakerSlot }: HostState): void {
    if (slot !== undefined) this.#options.slots().giveBack(slot);
    if (breakerSlot !== undefined) this.#options.breakers.giveBack(breakerSlot);
  }

  /** Those whose answers workers count. */
  *watched(): Generator<{ readonly id: string; readonly slot: number }> {
    for (const [id, { slot }] of this.#states) if (slot !== undefined) yield { id, slot };
  }

  get #limitsConnections(): boolean {
    const { DEFAULT, HIGH } = this.#options.resolved.resource.circuitBreakers;
    return (DEFAULT.maxConnectionsPerHost ?? HIGH.maxConnectionsPerHost) !== undefined;
  }
}

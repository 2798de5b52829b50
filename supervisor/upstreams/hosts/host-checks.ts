/**
 * What active checks mean for the hosts of one cluster: which are checked, what a host counts as
 * before its first result, which may not go while they pass, and how many pass now. It holds no
 * host.
 */
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { ACTIVE_CHECK_BITS, HEALTH_BITS } from '../../../shared/resources/clusters/host-health.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import type { ResolvedCluster } from '../../resolved/resolved-bootstrap.ts';
import { CheckGauges } from './check-gauges.ts';
import type { HostState } from './host-state.ts';

export class HostChecks {
  readonly #resolved: ResolvedCluster;
  readonly #gauges: CheckGauges;
  #counts = noneChecked();

  constructor(resolved: ResolvedCluster, writer: StatWriter) {
    this.#resolved = resolved;
    this.#gauges = new CheckGauges(resolved.resource, writer);
  }

  isChecked(host: HostResource): boolean {
    return this.#resolved.resource.healthChecks !== undefined && host.check?.isDisabled !== true;
  }

  /** A host is not used before it has passed a check. */
  firstBits(host: HostResource): number {
    const { resource, discovery } = this.#resolved;
    // The one host of a logical name is there before it is checked.
    const isLogical = discovery?.kind === 'dns' && discovery.isLogical;
    if (!this.isChecked(host) || isLogical) return 0;
    // A set that never changes has no new host.
    const isIgnored = resource.ignoreNewHostsUntilFirstHealthCheck && discovery !== undefined;
    return HEALTH_BITS.failed_active_hc | (isIgnored ? HEALTH_BITS.pending_active_hc : 0);
  }

  /** Its checks begin, or end for good: what they found before holds no more. */
  learnAgain(state: HostState, host: HostResource): void {
    state.bits = (state.bits & ~ACTIVE_CHECK_BITS) | this.firstBits(host);
    state.wasChecked = false;
  }

  /** The result of a check. Returns whether the host passes. */
  take(state: HostState, bits: number): boolean {
    state.bits = (state.bits & ~ACTIVE_CHECK_BITS) | (bits & ACTIVE_CHECK_BITS);
    if (!state.wasChecked) this.#counts.unchecked -= 1;
    state.wasChecked = true;
    return !hasFailed(state);
  }

  /** A host that passes its checks stays until it fails, whatever its source says. */
  keeps(state: HostState): boolean {
    if (!this.isChecked(state.host) || this.#resolved.ignoresHealthOnRemoval === true) return false;
    return !hasFailed(state);
  }

  /** There are hosts that wait for the result of their first check. */
  get areUnderWay(): boolean {
    return this.#counts.unchecked !== 0;
  }

  /** One more host of a set that is counted, or one less. */
  note(counts: CheckCounts, host: HostResource, change: 1 | -1): void {
    if (!this.isChecked(host)) return;
    if (host.wasChecked !== true) counts.unchecked += change;
    countPassing(counts, host, change);
  }

  /** The counts of the whole set. */
  countedAll(counts: CheckCounts): void {
    this.#counts = counts;
    this.#gauges.show(counts);
  }

  /** One host says something else than before. */
  recount(before: HostResource, after: HostResource): void {
    if (this.isChecked(before)) countPassing(this.#counts, before, -1);
    if (this.isChecked(after)) countPassing(this.#counts, after, 1);
    this.#gauges.show(this.#counts);
  }

  /** Another version of the cluster may have shown its own figures. */
  showAgain(): void {
    this.#gauges.show(this.#counts, true);
  }

  release(): void {
    this.#gauges.release();
  }
}

/** Of a set: hosts that wait for their first result, and those that pass. */
export interface CheckCounts {
  unchecked: number;
  healthy: number;
  degraded: number;
}

export function noneChecked(): CheckCounts {
  return { unchecked: 0, healthy: 0, degraded: 0 };
}

function countPassing(counts: CheckCounts, { healthBits = 0 }: HostResource, change: 1 | -1): void {
  if ((healthBits & HEALTH_BITS.failed_active_hc) === 0) counts.healthy += change;
  if ((healthBits & HEALTH_BITS.degraded_active_hc) !== 0) counts.degraded += change;
}

function hasFailed({ bits }: HostState): boolean {
  return (bits & HEALTH_BITS.failed_active_hc) !== 0;
}

/**
 * One cluster with the hosts that it has now: takes host sets from its source, keeps what stays, joins
 * what the configuration, active checks and outlier detection say of each host, and knows when the
 * cluster may be used for the first time. It sends nothing: its owner hears of changes.
 */
import type { ClusterHostsResource, HostResource } from '../../shared/resources/cluster.ts';
import { ACTIVE_CHECK_BITS, HEALTH_BITS, healthOf } from '../../shared/resources/host-health.ts';
import { HEALTH_CHECK } from '../../shared/stats/templates/cluster-features.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { ResolvedCluster } from '../resources/resolved-bootstrap.ts';
import type { HostSink, HostSource, UpdateCounter } from './host-source.ts';
import { MembershipStats } from './membership-stats.ts';

export interface LiveClusterOptions {
  readonly resolved: ResolvedCluster;
  readonly writer: StatWriter;
  /** Undefined: the hosts are those of the configuration. */
  makeSource(sink: HostSink): HostSource | undefined;
  /** The hosts are others than before; with an id, only that host's health is. */
  changed(cluster: LiveCluster, host?: string): void;
}

/** What is known of a host beside its configuration. */
interface HostState {
  bits: number;
  wasChecked: boolean;
}

export class LiveCluster implements HostSink {
  readonly resolved: ResolvedCluster;
  /** Resolves when the first hosts are there and were checked, or when it is known that there are none. */
  readonly ready: Promise<void>;
  readonly #options: LiveClusterOptions;
  readonly #stats: MembershipStats;
  readonly #checkStats: number | undefined;
  readonly #source: HostSource | undefined;
  readonly #states = new Map<string, HostState>();
  #resolveReady: (() => void) | undefined;
  #isInitialized = false;
  #isReady = false;
  #hasTraffic = false;
  #hosts: readonly HostResource[] = [];
  #overprovisioningFactor: number | undefined;

  constructor(options: LiveClusterOptions) {
    const { resolved, writer } = options;
    this.resolved = resolved;
    this.#options = options;
    this.#stats = new MembershipStats(resolved.resource, writer);
    this.#checkStats =
      resolved.resource.healthCheck === undefined
        ? undefined
        : writer.defineBlock(HEALTH_CHECK, `cluster.${resolved.resource.statName}.health_check.`);
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    this.#source = options.makeSource(this);
    if (this.#source === undefined) {
      if (resolved.hosts.hosts.length > 0) this.setHosts(resolved.hosts.hosts);
      this.initialized();
    } else {
      this.#source.start();
    }
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get name(): string {
    return this.resolved.resource.name;
  }

  /** As workers get them and as `/clusters` shows them. */
  get hosts(): ClusterHostsResource {
    const overprovisioningFactor =
      this.#overprovisioningFactor ?? this.resolved.hosts.overprovisioningFactor;
    return {
      ...this.resolved.hosts,
      hosts: this.#hosts,
      overprovisioningFactor,
      ...(this.#hasTraffic ? { hasTraffic: true } : {}),
    };
  }

  setHosts(hosts: readonly HostResource[]): void {
    const unique = new Map<string, HostResource>();
    for (const host of hosts) if (!unique.has(host.id)) unique.set(host.id, host);
    for (const host of this.#hosts) {
      if (!unique.has(host.id) && this.#mustStay(host)) unique.set(host.id, host);
    }
    const listed = new Set(hosts.map(({ id }) => id));
    let added = 0;
    for (const host of unique.values()) {
      let state = this.#states.get(host.id);
      if (state === undefined) {
        state = { bits: this.#firstBits(host), wasChecked: false };
        this.#states.set(host.id, state);
        added += 1;
      }
      state.bits &= ~HEALTH_BITS.pending_dynamic_removal;
      if (!listed.has(host.id)) state.bits |= HEALTH_BITS.pending_dynamic_removal;
    }
    const isOther = added > 0 || this.#states.size !== unique.size;
    for (const id of this.#states.keys()) if (!unique.has(id)) this.#states.delete(id);
    this.#hosts = [...unique.values()].sort((left, right) => left.priority - right.priority);
    if (isOther) this.#stats.membershipChanged(added);
    this.#apply();
  }

  /** What an active check says of a host from now on. A host that is gone needs nothing more. */
  setActiveBits(id: string, bits: number): void {
    const state = this.#states.get(id);
    if (state === undefined) return;
    state.bits = (state.bits & ~ACTIVE_CHECK_BITS) | (bits & ACTIVE_CHECK_BITS);
    state.wasChecked = true;
    const hasFailed = (state.bits & HEALTH_BITS.failed_active_hc) !== 0;
    if (hasFailed && (state.bits & HEALTH_BITS.pending_dynamic_removal) !== 0) {
      this.setHosts(this.#hosts.filter((host) => host.id !== id && !this.#isLeaving(host)));
    } else {
      this.#apply(id);
    }
    this.#checkReady();
  }

  /** Checks come at their usual interval from now on. */
  beginTraffic(): void {
    if (this.#hasTraffic) return;
    this.#hasTraffic = true;
    this.#options.changed(this);
  }

  count(counter: UpdateCounter): void {
    this.#stats.count(counter);
  }

  setOverprovisioningFactor(percent: number): void {
    this.#overprovisioningFactor = percent;
  }

  setMaxHostWeight(weight: number): void {
    this.#stats.setMaxHostWeight(weight);
  }

  initialized(): void {
    this.#isInitialized = true;
    this.#checkReady();
  }

  /** The cluster is gone; whoever waits for it need not any more. */
  close(): void {
    this.#source?.close();
    this.#stats.release();
    if (this.#checkStats !== undefined) this.#options.writer.releaseBlock(this.#checkStats);
    this.#becomeReady();
  }

  #checkReady(): void {
    if (!this.#isInitialized) return;
    const isWaiting = (host: HostResource): boolean =>
      this.#isChecked(host) && this.#states.get(host.id)?.wasChecked === false;
    if (!this.#hosts.some(isWaiting)) this.#becomeReady();
  }

  #becomeReady(): void {
    this.#isReady = true;
    this.#resolveReady?.();
  }

  #isChecked(host: HostResource): boolean {
    return this.#checkStats !== undefined && host.check?.isDisabled !== true;
  }

  /** A host is not used before it has passed a check. */
  #firstBits(host: HostResource): number {
    if (!this.#isChecked(host)) return 0;
    const { ignoreNewHostsUntilFirstHealthCheck: isIgnored } = this.resolved.resource;
    return HEALTH_BITS.failed_active_hc | (isIgnored ? HEALTH_BITS.pending_active_hc : 0);
  }

  /** A host that passes its checks stays until it fails, whatever its source says. */
  #mustStay(host: HostResource): boolean {
    if (!this.#isChecked(host) || this.resolved.ignoresHealthOnRemoval === true) return false;
    return ((this.#states.get(host.id)?.bits ?? 0) & HEALTH_BITS.failed_active_hc) === 0;
  }

  #isLeaving(host: HostResource): boolean {
    return ((this.#states.get(host.id)?.bits ?? 0) & HEALTH_BITS.pending_dynamic_removal) !== 0;
  }

  /** Joins configuration and states, counts and tells. */
  #apply(only?: string): void {
    this.#hosts = this.#hosts.map((host) => this.#joined(host));
    this.#stats.setHosts(this.#hosts);
    this.#countChecked();
    this.#options.changed(this, only);
  }

  #joined(host: HostResource): HostResource {
    const state = this.#states.get(host.id);
    const configured = CONFIGURED_BITS & (host.healthBits ?? 0);
    const healthBits = configured | (state?.bits ?? 0);
    if (
      healthBits === (host.healthBits ?? 0) &&
      (state?.wasChecked ?? false) === (host.wasChecked ?? false)
    ) {
      return host;
    }
    return {
      ...host,
      healthBits,
      health: healthOf(healthBits),
      ...(state?.wasChecked === true ? { wasChecked: true } : {}),
    };
  }

  #countChecked(): void {
    if (this.#checkStats === undefined) return;
    const count = (mask: number, wanted: number): number =>
      this.#hosts.filter(({ healthBits = 0 }) => (healthBits & mask) === wanted).length;
    const { writer } = this.#options;
    const { index } = HEALTH_CHECK;
    const degraded = HEALTH_BITS.degraded_active_hc;
    writer.setGauge(this.#checkStats + index.healthy, count(HEALTH_BITS.failed_active_hc, 0));
    writer.setGauge(this.#checkStats + index.degraded, count(degraded, degraded));
  }
}

const CONFIGURED_BITS =
  HEALTH_BITS.failed_eds_health | HEALTH_BITS.eds_status_draining | HEALTH_BITS.degraded_eds_health;

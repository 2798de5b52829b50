/**
 * The active checks of one cluster in this worker: a session for each host that is this worker's to
 * check. Which hosts these are follows from the workers that live, which the supervisor says.
 */
import { HTTP1_CODEC } from '../../shared/stats/templates/codecs.ts';
import { isDeepStrictEqual } from 'node:util';
import type { CheckEvent } from '../../shared/health/check-event.ts';
import { checkingWorker } from './checking-worker.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../shared/resources/clusters/cluster.ts';
import type { HealthCheckResource } from '../../shared/resources/clusters/health-check.ts';
import { ACTIVE_CHECK_BITS, HEALTH_BITS } from '../../shared/resources/clusters/host-health.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { HEALTH_CHECK, REDIS_CHECK } from '../../shared/stats/templates/cluster-features.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { Steps } from '../loop/sliced-work.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { CheckConnections } from './check-target.ts';
import { HealthSession } from './health-session.ts';
import { HostChecks } from './host-checks.ts';
import { ProbeMaker } from './probe-maker.ts';
import { isSamePlace } from '../../shared/resources/clusters/host-place.ts';

const PASSIVE = { failureType: 'PASSIVE', status: 0 } as const;

const VERIFY_KEY = 'health_check.verify_cluster';

/** What the metadata of a host says of the socket that it is asked through. */
const SOCKET_MATCH = 'envoy.transport_socket_match';

/** Beginning to check one takes some microseconds. */
const HOSTS_PER_STEP = 64;

/** What checks of all clusters share. */
export interface CheckingDuty {
  readonly clock: Clock;
  readonly workerIndex: number;
  /** Indices of the workers that share the checks; empty until the supervisor has said. */
  living: readonly number[];
  /** `bits` are those of active checks; the supervisor is told. */
  report(host: CheckedHost, bits: number): void;
  /** For the event log of the cluster's checks. */
  logEvent(host: CheckedHost, check: number, event: CheckEvent): void;
}

/** A host in a version of a cluster. */
interface CheckedHost {
  readonly cluster: string;
  readonly version: number | undefined;
  /** Its id. */
  readonly host: string;
}

export interface HealthCheckerOptions {
  readonly cluster: string;
  /** Not empty. */
  readonly checks: readonly HealthCheckResource[];
  readonly runtime: Pick<Runtime, 'snapshot'>;
  readonly writer: StatWriter;
  /** `cluster.<name>.` */
  readonly statPrefix: string;
  readonly duty: CheckingDuty;
  readonly ways: CheckConnections;
  hasTraffic(): boolean;
}

interface CheckedHostSession {
  /** As it was when its checks began. */
  readonly host: HostResource;
  readonly checks: HostChecks;
}

/** Whether checks of the one ask for the other, too. */
function isCheckedAlike(one: HostResource, other: HostResource): boolean {
  return (
    one === other ||
    (one.hostname === other.hostname &&
      isDeepStrictEqual(one.address, other.address) &&
      isDeepStrictEqual(one.check, other.check) &&
      isSamePlace(one, other) &&
      isDeepStrictEqual(one.metadata?.[SOCKET_MATCH], other.metadata?.[SOCKET_MATCH]))
  );
}

export class HealthChecker {
  readonly #options: HealthCheckerOptions;
  /** By check. */
  readonly #statBases: readonly number[];
  /** By check. */
  readonly #probes: readonly ProbeMaker[];
  /** Checks over HTTP have the cluster's codec. */
  readonly #codecBase: number | undefined;
  readonly #redisBase: number | undefined;
  readonly #sessions = new Map<string, CheckedHostSession>();
  #hosts: readonly HostResource[] = [];
  #version: number | undefined = undefined;

  constructor(options: HealthCheckerOptions) {
    this.#options = options;
    const { writer, statPrefix, checks } = options;
    this.#statBases = checks.map(({ name }) => {
      const own = name === undefined ? '' : `name.${name}.`;
      return writer.defineBlock(HEALTH_CHECK, `${statPrefix}health_check.${own}`);
    });
    this.#probes = checks.map(
      (check, position) =>
        new ProbeMaker({
          check,
          ways: options.ways,
          clock: options.duty.clock,
          mustVerify: () => this.#mustVerify(this.#statBases[position] ?? 0),
          keyFound: () => this.#countKeyFound(),
        }),
    );
    this.#redisBase = checks.some(({ probe }) => probe.kind === 'redis')
      ? writer.defineBlock(REDIS_CHECK, `${statPrefix}health_check.redis.`)
      : undefined;
    this.#codecBase = checks.some(({ probe }) => probe.kind === 'http')
      ? writer.defineBlock(HTTP1_CODEC, `${statPrefix}http1.`)
      : undefined;
  }

  #countKeyFound(): void {
    if (this.#redisBase === undefined) return;
    this.#options.writer.increment(this.#redisBase + REDIS_CHECK.index.exists_failure);
  }

  *putHosts({ hosts, version }: ClusterHostsResource): Steps {
    this.#hosts = hosts;
    this.#version = version;
    yield* this.share();
  }

  /** The hosts or the living workers changed: begins and ends sessions. */
  *share(): Steps {
    const { cluster, duty } = this.#options;
    const ended = new Set(this.#sessions.keys());
    for (const [at, host] of this.#hosts.entries()) {
      if (at % HOSTS_PER_STEP === HOSTS_PER_STEP - 1) yield;
      if (host.check?.isDisabled === true) continue;
      if (checkingWorker(cluster, host.id, duty.living) !== duty.workerIndex) continue;
      ended.delete(host.id);
      const known = this.#sessions.get(host.id);
      if (known !== undefined && isCheckedAlike(known.host, host)) continue;
      known?.checks.close();
      this.#sessions.set(host.id, { host, checks: this.#begin(host) });
    }
    for (const id of ended) {
      this.#sessions.get(id)?.checks.close();
      this.#sessions.delete(id);
    }
  }

  /**
   * An ordinary answer said that the host's checks fail: they have to pass before it is asked
   * again.
   */
  failPassively(host: HostResource): void {
    const { duty, writer, checks } = this.#options;
    const failed = HEALTH_BITS.failed_active_hc | HEALTH_BITS.excluded_via_immediate_hc_fail;
    const known = host.healthBits ?? 0;
    const isNews = (known & HEALTH_BITS.failed_active_hc) === 0;
    for (const [position, { eventLog }] of checks.entries()) {
      const base = this.#statBases[position] ?? 0;
      writer.increment(base + HEALTH_CHECK.index.passive_failure);
      writer.increment(base + HEALTH_CHECK.index.failure);
      const log = (event: CheckEvent): void => duty.logEvent(this.#checked(host), position, event);
      if (eventLog !== undefined && isNews) log({ kind: 'eject_unhealthy', ...PASSIVE });
      if (eventLog?.failures === true) log({ kind: 'failure', ...PASSIVE, isFirst: false });
    }
    if ((known & failed) === failed) return;
    duty.report(this.#checked(host), (known & ACTIVE_CHECK_BITS) | failed);
  }

  /** What is known of a host from elsewhere. */
  noteBits(id: string, bits: number): void {
    this.#sessions.get(id)?.checks.noteBits(bits);
  }

  close(): void {
    for (const { checks } of this.#sessions.values()) checks.close();
    this.#sessions.clear();
    for (const base of this.#statBases) this.#options.writer.releaseBlock(base);
    for (const base of [this.#codecBase, this.#redisBase]) {
      if (base !== undefined) this.#options.writer.releaseBlock(base);
    }
  }

  #begin(host: HostResource): HostChecks {
    const { checks, duty } = this.#options;
    const wasChecked = host.wasChecked === true;
    return new HostChecks({
      sessions: checks.map((_, position) => (report) => this.#beginOne(host, position, report)),
      bits: wasChecked ? (host.healthBits ?? 0) : undefined,
      report: (bits) => duty.report(this.#checked(host), bits),
      changed: (position, before, now) => this.#count(position, before, now),
    });
  }

  #beginOne(host: HostResource, position: number, report: (bits: number) => void): HealthSession {
    const { checks, writer, duty, runtime } = this.#options;
    const check = checks[position] as HealthCheckResource;
    const stats = { writer, base: this.#statBases[position] ?? 0 };
    const probes = this.#probes[position] as ProbeMaker;
    return new HealthSession({
      check,
      probe: probes.for(host),
      clock: duty.clock,
      runtime,
      stats,
      bits: host.healthBits ?? 0,
      wasChecked: host.wasChecked === true,
      hasTraffic: () => this.#options.hasTraffic(),
      report,
      log:
        check.eventLog === undefined
          ? undefined
          : (event) => duty.logEvent(this.#checked(host), position, event),
    });
  }

  #checked({ id: host }: HostResource): CheckedHost {
    return { cluster: this.#options.cluster, version: this.#version, host };
  }

  /** Whether the name of the service counts now. */
  #mustVerify(base: number): boolean {
    const { runtime, writer } = this.#options;
    if (readInteger(runtime.snapshot, VERIFY_KEY, 100) <= Math.random() * 100) return false;
    writer.increment(base + HEALTH_CHECK.index.verify_cluster);
    return true;
  }

  /** Counts in the gauges of a check with a name; others are the supervisor's. */
  #count(position: number, before: number | undefined, now: number | undefined): void {
    const base = this.#statBases[position];
    if (base === undefined || this.#options.checks[position]?.name === undefined) return;
    for (const [offset, holds] of GAUGES) {
      const change = Number(holds(now)) - Number(holds(before));
      if (change !== 0) this.#options.writer.add(base + offset, change);
    }
  }
}

const { healthy, degraded } = HEALTH_CHECK.index;
const GAUGES = [
  [
    healthy,
    (bits: number | undefined) => bits !== undefined && (bits & HEALTH_BITS.failed_active_hc) === 0,
  ],
  [degraded, (bits: number | undefined) => ((bits ?? 0) & HEALTH_BITS.degraded_active_hc) !== 0],
] as const;

/**
 * Checks hosts for a control plane (`hds_config`): a stream on which it says which hosts are to be
 * checked and how, and gets a report on all of them in the interval that it asks for.
 * API: envoy.service.health.v3.HealthDiscoveryService.
 */
import type { HealthCheckSpecifier } from '../../shared/api/generated/envoy/service/health/v3/hds.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { HEALTH_DISCOVERY } from '../../shared/stats/templates/health-discovery.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import { durationMsOr } from '../resources/values.ts';
import type { GrpcStream } from '../services/grpc-client.ts';
import { type OpenStream, RenewedStream } from '../services/renewed-stream.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';
import { checkedName, clusterMessage, reportOn } from './checked-cluster.ts';
import type { HealthMessages } from './health-messages.ts';

const METHOD = '/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck';
/** A stream that ended is opened again after up to so long, twice as long each time. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
const DEFAULT_INTERVAL_MS = 1_000;
const LEAST_INTERVAL_MS = 1;
/** Clusters that a control plane may ask for at once. */
const CLUSTERS_MAX = 10_000;

export interface HealthDiscoveryOptions {
  readonly target: GrpcTarget;
  readonly clock: Clock;
  readonly random: () => number;
  readonly stats: StatStore;
  /** This server, as it names itself. */
  readonly node: JsonObject;
  readonly messages: HealthMessages;
  readonly open: OpenStream;
  /** Throws when the message is wrong. */
  readonly resolve: (message: JsonObject) => ResolvedCluster;
  readonly probed: {
    add(resolved: ResolvedCluster): LiveCluster;
    remove(name: string): void;
  };
  readonly log: (text: string) => void;
}

interface Checked {
  readonly live: LiveCluster;
  /** The text of its message: what was said again changes nothing. */
  readonly text: string;
}

export class HealthDiscovery {
  readonly #options: HealthDiscoveryOptions;
  readonly #base: number;
  readonly #checked = new Map<string, Checked>();
  readonly #link: RenewedStream;
  #failuresInARow = 0;
  #retry: Timer | undefined;
  #period: Timer | undefined;
  #intervalMs = DEFAULT_INTERVAL_MS;

  constructor(options: HealthDiscoveryOptions) {
    this.#options = options;
    this.#base = options.stats.defineBlock(HEALTH_DISCOVERY, 'hds_delegate.');
    this.#link = new RenewedStream((handlers) => options.open(options.target, METHOD, handlers), {
      opened: (stream) => this.#askForWork(stream),
      received: (bytes) => this.#received(bytes),
      lost: (reason) => this.#lost(reason),
    });
  }

  start(): void {
    void this.#link.connect();
  }

  close(): void {
    this.#period?.cancel();
    this.#retry?.cancel();
    this.#link.close();
    for (const name of this.#checked.keys()) this.#options.probed.remove(checkedName(name));
    this.#checked.clear();
  }

  #askForWork(stream: GrpcStream): void {
    this.#send(stream, {
      health_check_request: {
        node: this.#options.node,
        capability: { health_check_protocols: ['HTTP', 'TCP'] },
      },
    });
  }

  /** What is checked goes on to be checked. */
  #lost(reason: string): void {
    this.#count('errors');
    this.#options.log(`health discovery stream ended: ${reason}`);
    this.#period?.cancel();
    this.#link.close();
    const limitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failuresInARow++);
    const retryMs = this.#options.random() * limitMs;
    this.#retry = this.#options.clock.after(retryMs, () => void this.#link.connect(), {
      unref: true,
    });
  }

  /** A message that cannot be used changes nothing and does not end the stream. */
  #received(bytes: Uint8Array): void {
    this.#count('requests');
    this.#failuresInARow = 0;
    try {
      this.#take(this.#options.messages.decode(bytes));
    } catch (error) {
      this.#count('errors');
      this.#options.log(`health discovery message refused: ${errorText(error)}`);
    }
    this.#arm();
  }

  #take({ cluster_health_checks: checks = [], interval }: HealthCheckSpecifier): void {
    if (checks.length > CLUSTERS_MAX) {
      throw new Error(`${checks.length} clusters, at most ${CLUSTERS_MAX} are checked`);
    }
    const wanted = checks.map((check) => {
      const message = clusterMessage(check);
      const name = check.cluster_name ?? '';
      const text = JSON.stringify(message);
      const isKnown = this.#checked.get(name)?.text === text;
      return { name, text, resolved: isKnown ? undefined : this.#options.resolve(message) };
    });
    // Nothing is changed before all of it was found right.
    const names = new Set(wanted.map(({ name }) => name));
    const gone = [...this.#checked.keys()].filter((name) => !names.has(name));
    for (const name of gone) {
      this.#options.probed.remove(checkedName(name));
      this.#checked.delete(name);
    }
    const others = wanted.filter(({ resolved }) => resolved !== undefined);
    for (const { name, text, resolved } of others) {
      if (resolved === undefined) continue;
      this.#checked.set(name, { text, live: this.#options.probed.add(resolved) });
    }
    if (gone.length + others.length > 0) this.#count('updates');
    this.#intervalMs = Math.max(LEAST_INTERVAL_MS, durationMsOr(interval, DEFAULT_INTERVAL_MS));
  }

  #arm(): void {
    this.#period?.cancel();
    this.#period = this.#options.clock.every(this.#intervalMs, () => this.#report(), {
      unref: true,
    });
  }

  #report(): void {
    const stream = this.#link.current;
    // Only the latest report counts: a control plane that does not read gets none meanwhile.
    if (stream === undefined || stream.isCongested) return;
    const reports = [...this.#checked].map(([name, { live }]) => reportOn(name, live));
    this.#send(stream, {
      endpoint_health_response: {
        endpoints_health: reports.flatMap(({ endpoints }) => endpoints),
        cluster_endpoints_health: reports.map(({ cluster }) => cluster),
      },
    });
  }

  #send(stream: GrpcStream, message: JsonObject): void {
    stream.send(this.#options.messages.encode(message));
    this.#count('responses');
  }

  #count(name: keyof typeof HEALTH_DISCOVERY.index): void {
    this.#options.stats.add(this.#base + HEALTH_DISCOVERY.index[name], 1);
  }
}

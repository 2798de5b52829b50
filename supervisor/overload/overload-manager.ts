/**
 * Watches the resources that the bootstrap names, and tells what is to be refused while they are
 * short. What it decides is carried out by others: workers refuse requests and connections, the
 * server takes listening sockets from them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { OverloadState } from '../../shared/resources/overload.ts';
import { CALM, SHED_POINT_PREFIX } from '../../shared/resources/overload.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import {
  OVERLOAD,
  OVERLOAD_ACTION,
  OVERLOAD_MONITOR,
  OVERLOAD_SHED_POINT,
  OVERLOAD_SHRINK,
} from '../../shared/stats/templates/server.ts';
import type { LoadShedPoint, OverloadAction, OverloadConfig, Trigger } from './overload-config.ts';
import { makePressureReader, type PressureEnvironment, type ReadPressure } from './pressure.ts';

export interface OverloadOptions {
  readonly config: OverloadConfig | undefined;
  readonly stats: StatWriter;
  readonly clock: Clock;
  readonly pids: PressureEnvironment['pids'];
  /** Resolves when all workers know it. */
  publish(state: OverloadState): Promise<unknown>;
  /** New connections wait in the kernel while this holds. */
  holdConnections(isHeld: boolean): void;
  readonly log: (level: 'info', text: string) => void;
}

interface WatchedMonitor {
  readonly name: string;
  readonly base: number;
  readonly read: ReadPressure;
  pressure: number;
}

interface WatchedAction {
  readonly action: OverloadAction;
  readonly base: number;
  /** From 0 to 1. */
  scale: number;
}

interface WatchedPoint {
  readonly point: LoadShedPoint;
  readonly base: number;
  /** From 0 to 1. */
  scale: number;
}

const PREFIX = 'envoy.overload_actions.';
const CONNECTION_LIMIT = 'envoy.resource_monitors.global_downstream_max_connections';

export class OverloadManager {
  readonly #options: OverloadOptions;
  readonly #monitors: readonly WatchedMonitor[];
  readonly #actions: readonly WatchedAction[];
  readonly #points: readonly WatchedPoint[];
  readonly #delay: number;
  #timer: Timer | undefined;
  #refreshedMs = 0;
  #isHeld = false;
  #state = CALM;

  constructor(options: OverloadOptions) {
    const { config, stats, clock, pids } = options;
    this.#options = options;
    this.#delay = stats.defineBlock(OVERLOAD, 'overload.') + OVERLOAD.index.refresh_interval_delay;
    const environment = { pids, monotonicMs: () => clock.monotonicMs() };
    this.#monitors = (config?.monitors ?? []).map((monitor) => ({
      name: monitor.name,
      base: stats.defineBlock(OVERLOAD_MONITOR, `overload.${monitor.name}.`),
      read: makePressureReader(monitor, environment),
      pressure: 0,
    }));
    if (config?.maxConnections !== undefined) {
      stats.defineCounter(`overload.${CONNECTION_LIMIT}.failed_updates`);
      stats.setGauge(stats.defineGauge(`overload.${CONNECTION_LIMIT}.pressure`), 0);
    }
    this.#actions = (config?.actions ?? []).map((action) => {
      const prefix = `overload.${action.name}.`;
      if (action.name === `${PREFIX}shrink_heap`) stats.defineBlock(OVERLOAD_SHRINK, prefix);
      return { action, base: stats.defineBlock(OVERLOAD_ACTION, prefix), scale: 0 };
    });
    this.#points = (config?.shedPoints ?? []).map((point) => this.#watchPoint(point));
  }

  #watchPoint(point: LoadShedPoint): WatchedPoint {
    const { stats } = this.#options;
    const prefix = `overload.${SHED_POINT_PREFIX}${point.point}.`;
    return { point, base: stats.defineBlock(OVERLOAD_SHED_POINT, prefix), scale: 0 };
  }

  /** What new workers are told. */
  get state(): OverloadState {
    return this.#state;
  }

  /** Begins to look; a server without monitors needs no timer. */
  start(): void {
    const { config, clock } = this.#options;
    if (config === undefined || this.#monitors.length === 0) return;
    this.#refreshedMs = clock.monotonicMs();
    this.#timer = clock.every(config.refreshMs, () => this.#refresh(), { unref: true });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #refresh(): void {
    const { stats, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    stats.record(this.#delay, Math.round(nowMs - this.#refreshedMs));
    this.#refreshedMs = nowMs;
    for (const monitor of this.#monitors) {
      const { index } = OVERLOAD_MONITOR;
      const pressure = monitor.read();
      if (pressure === undefined) {
        stats.increment(monitor.base + index.failed_updates);
      } else {
        monitor.pressure = pressure;
        stats.setGauge(monitor.base + index.pressure, Math.floor(pressure * 100));
      }
    }
    for (const watched of this.#actions) this.#weigh(watched);
    for (const watched of this.#points) this.#weighPoint(watched);
    this.#tell();
  }

  #weigh(watched: WatchedAction): void {
    const { stats, log } = this.#options;
    const { action, base } = watched;
    const scale = this.#strongest(action.triggers);
    if (scale === watched.scale) return;
    if (scale === 1 || watched.scale === 1) {
      log('info', `Overload action ${action.name} became ${scale === 1 ? '' : 'in'}active`);
    }
    watched.scale = scale;
    stats.setGauge(base + OVERLOAD_ACTION.index.active, scale === 1 ? 1 : 0);
    stats.setGauge(base + OVERLOAD_ACTION.index.scale_percent, Math.round(scale * 100));
  }

  #weighPoint(watched: WatchedPoint): void {
    const { stats } = this.#options;
    watched.scale = this.#strongest(watched.point.triggers);
    const gauge = watched.base + OVERLOAD_SHED_POINT.index.scale_percent;
    stats.setGauge(gauge, Math.round(watched.scale * 100));
  }

  #strongest(triggers: readonly Trigger[]): number {
    return Math.max(0, ...triggers.map((trigger) => this.#scaleOf(trigger)));
  }

  #scaleOf(trigger: Trigger): number {
    const pressure = this.#monitors.find(({ name }) => name === trigger.monitor)?.pressure ?? 0;
    if (trigger.kind === 'threshold') return pressure >= trigger.value ? 1 : 0;
    const { from, to } = trigger;
    return pressure <= from ? 0 : Math.min(1, (pressure - from) / (to - from));
  }

  #tell(): void {
    const state: OverloadState = {
      refusedRequests: this.#scale('stop_accepting_requests'),
      endedKeepalives: this.#scale('disable_http_keepalive'),
      rejectedConnections: this.#scale('reject_incoming_connections'),
      shed: Object.fromEntries(
        this.#points
          .filter(({ scale }) => scale > 0)
          .map(({ point, scale }) => [point.point, scale]),
      ),
      timeoutScale: this.#scale('reduce_timeouts'),
      leastTimeouts: this.#options.config?.leastTimeouts ?? [],
    };
    const told = isDeepStrictEqual(state, this.#state) ? undefined : this.#options.publish(state);
    this.#state = state;
    const isHeld = this.#scale('stop_accepting_connections') === 1;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    // Who accepts again knows by then what to do with the connections that waited.
    void Promise.resolve(told).then(() => this.#options.holdConnections(isHeld));
  }

  #scale(action: string): number {
    return this.#actions.find((each) => each.action.name === PREFIX + action)?.scale ?? 0;
  }
}

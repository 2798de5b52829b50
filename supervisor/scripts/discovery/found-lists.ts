/**
 * Runs a module that finds hosts, for each of its clusters: asks it for one list after the other,
 * and for the next one only when the supervisor has looked at the one before.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type {
  ClusterDiscoveryDefinition,
  DiscoveryContext,
} from '../../../shared/scripts/cluster-discovery.ts';
import type { Logger } from '../../../shared/scripts/context.ts';
import { errorText } from '../../../shared/text/error-text.ts';
import type { DiscoveryOrder, DiscoveryReport } from './discovery-messages.ts';
import { encodeHosts } from './encode-hosts.ts';

type StartOrder = Extract<DiscoveryOrder, { readonly order: 'start' }>;
type LogLevel = keyof Logger;

/** For all clusters of a thread together. */
const LINES_PER_MINUTE = 100;
const MINUTE_MS = 60_000;
const TEXT_MAX = 4_096;

/** One cluster. */
interface Running {
  readonly abort: AbortController;
  /** The supervisor has looked at the list. */
  looked: ((pauseMs: number) => void) | undefined;
}

export class FoundLists {
  readonly #definition: ClusterDiscoveryDefinition;
  readonly #report: (report: DiscoveryReport) => void;
  readonly #running = new Map<number, Running>();
  #linesLeft = LINES_PER_MINUTE;
  #lineMinute = 0;

  constructor(definition: ClusterDiscoveryDefinition, report: (report: DiscoveryReport) => void) {
    this.#definition = definition;
    this.#report = report;
  }

  take(order: DiscoveryOrder): void {
    switch (order.order) {
      case 'start':
        return void this.#run(order);
      case 'next':
        return this.#running.get(order.id)?.looked?.(order.pauseMs);
      case 'stop':
        this.#running.get(order.id)?.abort.abort();
        this.#running.delete(order.id);
        return;
      case 'ping':
        this.#report({ report: 'pong' });
    }
  }

  async #run(order: StartOrder): Promise<void> {
    const { id } = order;
    const running: Running = { abort: new AbortController(), looked: undefined };
    this.#running.set(id, running);
    let reason: string | undefined;
    try {
      await this.#follow(order, running);
    } catch (error) {
      const stack = error instanceof Error ? error.stack : undefined;
      reason = (stack ?? errorText(error)).slice(0, TEXT_MAX);
    }
    if (running.abort.signal.aborted) return;
    this.#running.delete(id);
    running.abort.abort();
    this.#report({ report: 'ended', id, ...(reason === undefined ? {} : { reason }) });
  }

  async #follow(order: StartOrder, running: Running): Promise<void> {
    const { signal } = running.abort;
    const settings = await this.#checked(order.settings);
    for await (const list of this.#definition.discover(settings, this.#contextOf(order, signal))) {
      if (signal.aborted) return;
      const looked = new Promise<number>((resolve) => void (running.looked = resolve));
      this.#report(this.#encode(order, list));
      await pause(await looked, undefined, { signal });
    }
  }

  #encode({ id, cluster }: StartOrder, list: unknown): DiscoveryReport {
    try {
      return { report: 'hosts', id, answer: encodeHosts(cluster, list) };
    } catch (error) {
      return { report: 'refused', id, reason: errorText(error).slice(0, TEXT_MAX) };
    }
  }

  async #checked(text: string): Promise<unknown> {
    const given: unknown = JSON.parse(text);
    const { schema } = this.#definition;
    if (schema === undefined) return given;
    const checked = await schema['~standard'].validate(given);
    if (checked.issues !== undefined) throw new Error('its settings are wrong');
    return checked.value;
  }

  #contextOf({ id, cluster }: StartOrder, signal: AbortSignal): DiscoveryContext {
    const write = (level: LogLevel) => (text: string) => this.#log(id, level, text);
    return {
      cluster,
      signal,
      log: {
        debug: write('debug'),
        info: write('info'),
        warning: write('warning'),
        error: write('error'),
      },
      wait: async (ms) => await pause(ms, undefined, { signal }),
    };
  }

  #log(id: number, level: LogLevel, text: string): void {
    const minute = Math.floor(performance.now() / MINUTE_MS);
    if (minute !== this.#lineMinute) {
      this.#lineMinute = minute;
      this.#linesLeft = LINES_PER_MINUTE;
    }
    if (this.#linesLeft === 0) return;
    this.#linesLeft -= 1;
    this.#report({ report: 'log', id, level, text: String(text).slice(0, TEXT_MAX) });
  }
}

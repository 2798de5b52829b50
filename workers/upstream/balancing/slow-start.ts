/**
 * How much of its weight a host has so soon after it came or was found healthy: it grows over the
 * window from the least share to the whole.
 */
import { readDouble } from '../../../shared/runtime/read-runtime.ts';
import type { SlowStartOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import type { Runtime } from '../../loop/runtime.ts';
import type { UpstreamHost } from '../hosts/host.ts';

export class SlowStart {
  readonly #options: SlowStartOptions;
  readonly #runtime: Pick<Runtime, 'snapshot'>;
  readonly #nowMs: () => number;

  constructor(options: SlowStartOptions, runtime: Pick<Runtime, 'snapshot'>, nowMs: () => number) {
    this.#options = options;
    this.#runtime = runtime;
    this.#nowMs = nowMs;
  }

  /** Above 0, at most 1. */
  factorOf({ readySinceMs }: UpstreamHost): number {
    if (readySinceMs === undefined) return 1;
    const { windowMs, aggression, aggressionKey, minWeightPercent } = this.#options;
    const share = Math.max(this.#nowMs() - readySinceMs, 1) / windowMs;
    if (share >= 1) return 1;
    const { snapshot } = this.#runtime;
    const given = aggressionKey ? readDouble(snapshot, aggressionKey, aggression) : aggression;
    return Math.max(given > 0 ? share ** (1 / given) : share, minWeightPercent / 100, LEAST);
  }

  /** When the last of the hosts has its whole weight. */
  endMs(hosts: readonly UpstreamHost[]): number {
    const last = hosts.reduce((most, { readySinceMs = 0 }) => Math.max(most, readySinceMs), 0);
    return last === 0 ? 0 : last + this.#options.windowMs;
  }

  isOver(endMs: number): boolean {
    return this.#nowMs() >= endMs;
  }
}

/** A host without any weight would never be chosen again. */
const LEAST = 0.001;

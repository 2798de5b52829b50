/** Hosts in turn; where weights differ, as often as their weights say, without bursts. */
import { TurnSchedule } from './turn-schedule.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { HostPicker } from './load-balancer.ts';
import type { SlowStart } from './slow-start.ts';

/**
 * How many hosts were chosen in turn, from a whole number on that differs between workers, so that
 * they do not all begin with the same host.
 */
export interface Turns {
  next: number;
}

const NO_WEIGHTS = new Float64Array(0);

export class RoundRobinPicker implements HostPicker {
  readonly #hosts: readonly UpstreamHost[];
  readonly #slowStart: SlowStart | undefined;
  readonly #turns: Turns;
  /** Turns by weight; only where weights differ. */
  readonly #schedule: TurnSchedule | undefined;
  /** By position: a host's own weight is several steps away. */
  readonly #weights: Float64Array;

  /**
   * `turns` say where the round goes on, where weights are equal. `weights` are those of the hosts
   * unless others are given.
   */
  constructor(
    hosts: readonly UpstreamHost[],
    turns: Turns,
    slowStart?: SlowStart,
    weights?: readonly number[],
  ) {
    this.#hosts = hosts;
    this.#turns = turns;
    this.#slowStart = slowStart;
    const isEven = slowStart === undefined && areEqual(weights ?? hosts);
    this.#weights = isEven
      ? NO_WEIGHTS
      : Float64Array.from(weights ?? hosts.map(({ weight }) => weight));
    this.#schedule = isEven
      ? undefined
      : new TurnSchedule(hosts.map((host, at) => 1 / this.#weightOf(host, at)));
  }

  pick(): UpstreamHost | undefined {
    if (this.#schedule !== undefined) return this.#pickWeighted(this.#schedule);
    const count = this.#hosts.length;
    if (count === 0) return undefined;
    return this.#hosts[this.#turns.next++ % count];
  }

  /** Earliest deadline first: each choice moves a host back by the inverse of its weight. */
  #pickWeighted(schedule: TurnSchedule): UpstreamHost | undefined {
    const at = schedule.first;
    const host = this.#hosts[at];
    if (host !== undefined) schedule.delayFirst(1 / this.#weightOf(host, at));
    return host;
  }

  #weightOf(host: UpstreamHost, at: number): number {
    const weight = this.#weights[at] ?? 1;
    return this.#slowStart === undefined ? weight : weight * this.#slowStart.factorOf(host);
  }
}

function areEqual(weights: readonly (number | UpstreamHost)[]): boolean {
  const weightOf = (of: number | UpstreamHost): number => (typeof of === 'number' ? of : of.weight);
  const [first] = weights;
  return first === undefined || weights.every((each) => weightOf(each) === weightOf(first));
}

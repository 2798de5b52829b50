/** Hosts in turn; where weights differ, as often as their weights say, without bursts. */
import { TurnSchedule } from './turn-schedule.ts';
import type { UpstreamHost } from './host.ts';
import type { HostPicker } from './load-balancer.ts';
import type { SlowStart } from './slow-start.ts';

const NO_WEIGHTS = new Float64Array(0);

export class RoundRobinPicker implements HostPicker {
  readonly #hosts: readonly UpstreamHost[];
  readonly #slowStart: SlowStart | undefined;
  #next: number;
  /** Turns by weight; only where weights differ. */
  readonly #schedule: TurnSchedule | undefined;
  /** By position: a host's own weight is several steps away. */
  readonly #weights: Float64Array;

  /**
   * `seed` is where the round begins: a whole number that differs between workers, so that they do
   * not all begin with the same host. `weights` are those of the hosts unless others are given.
   */
  constructor(
    hosts: readonly UpstreamHost[],
    seed: number,
    slowStart?: SlowStart,
    weights?: readonly number[],
  ) {
    this.#hosts = hosts;
    this.#next = seed;
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
    if (this.#next >= count) this.#next %= count;
    return this.#hosts[this.#next++];
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

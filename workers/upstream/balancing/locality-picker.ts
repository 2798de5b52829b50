/**
 * Chooses a locality by its weight, then a host within it. A locality whose usable hosts are too
 * few for its share hands the rest of it to the others.
 */
import { isCounted } from '../../../shared/resources/clusters/host-health.ts';
import { TurnSchedule } from './turn-schedule.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { HostPicker, MakePicker } from './load-balancer.ts';
import { groupByLocality } from '../hosts/localities.ts';

export interface LocalityPickerParts {
  readonly makePicker: MakePicker;
  /** What hosts they are, as for `makePicker`. */
  readonly source: string;
  /** Where no locality has a weight. */
  readonly otherwise: HostPicker;
  /** In percent: a locality keeps its weight while so much more than its share is usable. */
  readonly overprovisioningFactor: number;
  /** What a locality's weight is multiplied by, by `localityKey`; 1 for all where it is missing. */
  readonly scale?: ((locality: string) => number) | undefined;
}

interface LocalityTurn {
  readonly picker: HostPicker;
  readonly weight: number;
}

class LocalityPicker implements HostPicker {
  readonly #turns: readonly LocalityTurn[];
  readonly #schedule: TurnSchedule;

  constructor(turns: readonly LocalityTurn[]) {
    this.#turns = turns;
    this.#schedule = new TurnSchedule(turns.map(({ weight }) => 1 / weight));
  }

  pick(): UpstreamHost | undefined {
    const next = this.#turns[this.#schedule.first];
    if (next === undefined) return undefined;
    this.#schedule.delayFirst(1 / next.weight);
    return next.picker.pick();
  }
}

/** `usable` are those of a priority's hosts `all` that may be chosen. */
export function makeLocalityPicker(
  usable: readonly UpstreamHost[],
  all: readonly UpstreamHost[],
  { makePicker, source, otherwise, overprovisioningFactor, scale }: LocalityPickerParts,
): HostPicker {
  const counted = all.filter(({ resource }) => isCounted(resource));
  const sizes = new Map([...groupByLocality(counted)].map(([key, { length }]) => [key, length]));
  const turns: LocalityTurn[] = [];
  for (const [key, hosts] of groupByLocality(usable)) {
    const share = hosts.length / (sizes.get(key) ?? hosts.length);
    const configured = hosts[0]?.resource.localityWeight ?? 0;
    const scaled = scale === undefined ? configured : Math.round(configured * scale(key));
    const weight = scaled * Math.min(1, (overprovisioningFactor / 100) * share);
    if (weight > 0) turns.push({ picker: makePicker(hosts, all, `${source} ${key}`), weight });
  }
  return turns.length === 0 ? otherwise : new LocalityPicker(turns);
}

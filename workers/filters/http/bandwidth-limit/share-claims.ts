/**
 * What part of a bandwidth the bodies that wait in one worker may have, beside those that wait in others.
 * A tenant that waits in several workers shares its weight between them by its bodies.
 */
import type { SharedCount } from '../../../loop/shared-count.ts';

/** Parts of a weight; counts in shared memory have 31 bits. */
const UNITS = 100;
const WEIGHT_MAX = 1_000_000;
const CLAIM_MAX = 1_000_000_000;
/** Tenants whose bodies are counted over all workers; more are weighed in each worker by themselves. */
const TENANTS_MAX = 256;

export interface Claimant {
  readonly tenant: string;
  readonly weight: number;
  /** Of this worker. */
  readonly bodies: number;
}

export class ShareClaims {
  readonly #all: SharedCount;
  readonly #countOf: (tenant: string) => SharedCount;
  /** Of tenants that configuration names: clients choose the others. */
  readonly #counts = new Map<string, SharedCount>();
  /** What this worker has told the others. */
  readonly #told = new Map<string, number>();
  #claim = 0;

  /** `all` adds up what everybody claims who waits. */
  constructor(all: SharedCount, countOf: (tenant: string) => SharedCount) {
    this.#all = all;
    this.#countOf = countOf;
  }

  /** A tenant that configuration names. */
  expect(tenant: string): void {
    if (this.#counts.has(tenant) || this.#counts.size >= TENANTS_MAX) return;
    this.#counts.set(tenant, this.#countOf(tenant));
  }

  /** Whether bodies wait in other workers. */
  get othersWait(): boolean {
    return this.#all.count() > this.#claim;
  }

  /** The part of a tenant's weight that its bodies here have: a whole number, at least 1. */
  weightHere({ tenant, weight, bodies }: Claimant): number {
    const all = this.#counts.get(tenant)?.count() ?? bodies;
    return Math.ceil((Math.min(weight, WEIGHT_MAX) * UNITS * bodies) / Math.max(bodies, all));
  }

  /** What those who wait here may take, from 0 to 1. */
  claim(claimants: readonly Claimant[]): number {
    this.#tell(claimants);
    const sum = claimants.reduce((weights, claimant) => weights + this.weightHere(claimant), 0);
    const claim = Math.min(CLAIM_MAX, sum);
    this.#all.add(claim - this.#claim);
    this.#claim = claim;
    return claim === 0 ? 0 : claim / Math.max(claim, this.#all.count());
  }

  #tell(claimants: readonly Claimant[]): void {
    const present = new Map(claimants.map(({ tenant, bodies }) => [tenant, bodies]));
    for (const [tenant, count] of this.#counts) {
      const bodies = present.get(tenant) ?? 0;
      const change = bodies - (this.#told.get(tenant) ?? 0);
      if (change === 0) continue;
      count.add(change);
      this.#told.set(tenant, bodies);
    }
  }
}

/**
 * Which share of a cluster's requests is dropped at present. What an assignment says of it comes
 * into force with the cluster's first set of hosts, later with a change of the hosts only, as in
 * Envoy.
 */
import type { DropOverload } from '../../../shared/resources/clusters/cluster.ts';
import type { RuntimeSnapshot } from '../../../shared/resources/runtime.ts';
import { readInteger } from '../../../shared/runtime/read-runtime.ts';

const LIMIT_KEY = 'load_balancing_policy.drop_overload_limit';

export class DropPolicy {
  readonly #runtime: () => RuntimeSnapshot;
  #present: DropOverload | undefined;
  #next: DropOverload | undefined;
  #hasHosts = false;

  constructor(configured: DropOverload | undefined, runtime: () => RuntimeSnapshot) {
    this.#runtime = runtime;
    this.plan(configured);
    this.#present = this.#next;
  }

  /** Undefined: nothing is dropped. */
  get present(): DropOverload | undefined {
    return this.#present;
  }

  /** What comes into force with other hosts, which the admin pages show already, as in Envoy. */
  get planned(): DropOverload | undefined {
    return this.#next;
  }

  /** The limit is looked at once per assignment; more than 100 percent is none. */
  plan(drop: DropOverload | undefined): void {
    this.#next = drop === undefined ? undefined : limited(drop, this.#runtime());
  }

  /** A set of hosts is there; `isOther`: than the one before. */
  hostsSet(isOther: boolean): void {
    if (isOther || !this.#hasHosts) this.#present = this.#next;
    this.#hasHosts = true;
  }
}

function limited(drop: DropOverload, runtime: RuntimeSnapshot): DropOverload | undefined {
  const most = readInteger(runtime, LIMIT_KEY, 100) / 100;
  if (drop.share <= most) return drop;
  return most === 0 ? undefined : { ...drop, share: most };
}

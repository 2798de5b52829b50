/**
 * Chooses among the hosts whose `envoy.lb` metadata is what the request asks for: each selector
 * makes one subset per combination of its keys' values, and each subset has a balancer of its own.
 * What to do without a subset is the selector's word, else the cluster's.
 */
import { dictionary, joined, memberOf } from '../../../shared/text/dictionary.ts';
import type {
  SubsetOptions,
  SubsetSelector,
} from '../../../shared/resources/clusters/subset-policy.ts';
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { ITEMS_PER_STEP, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { BalanceContext, LoadBalancer } from './load-balancer.ts';
import type { SubsetCriteria } from '../../stream/route.ts';
import { groupByLocality } from '../hosts/localities.ts';
import { criteriaKey, hasCriteria, subsetKeysOf } from './subset-keys.ts';

const { index } = CLUSTER;
const FALLBACK_LIST = 'fallback_list';

export interface SubsetBalancerParts {
  makeBalancer(localityScale: ((locality: string) => number) | undefined): LoadBalancer;
  /** Counts one of the cluster's statistics. */
  readonly count: (offset: number) => void;
  /** Counts what the balancer is made of. */
  readonly countStructure: (offset: number, change: number) => void;
  /** How many hosts are left out, since a subset has one already where it may have one only. */
  readonly onDuplicates: (count: number) => void;
}

interface Subset {
  readonly balancer: LoadBalancer;
  readonly sizes: Map<string, number>;
}

export class SubsetBalancer implements LoadBalancer {
  readonly #options: SubsetOptions;
  readonly #parts: SubsetBalancerParts;
  /** Most keys first, so that the first one that fits is the best. */
  readonly #selectors: readonly SubsetSelector[];
  /** By `criteriaKey`. */
  #subsets: ReadonlyMap<string, Subset> = new Map();
  readonly #any: LoadBalancer | undefined;
  readonly #default: LoadBalancer | undefined;
  /** Hosts of the whole cluster by locality. */
  #totals: ReadonlyMap<string, number> = new Map();
  isPanicking = false;

  constructor(options: SubsetOptions, parts: SubsetBalancerParts) {
    this.#options = options;
    this.#parts = parts;
    this.#selectors = withoutLostFallbacks(options.selectors).toSorted(
      (left, right) => right.keys.length - left.keys.length || compareKeys(left, right),
    );
    const fallbacks = [options.fallback, ...options.selectors.map(({ fallback }) => fallback)];
    if (fallbacks.includes('ANY_ENDPOINT') || options.panicsToAny) {
      this.#any = parts.makeBalancer(undefined);
    }
    if (fallbacks.includes('DEFAULT_SUBSET')) this.#default = parts.makeBalancer(undefined);
  }

  choose(context: BalanceContext, draw: number): UpstreamHost | undefined {
    this.isPanicking = false;
    const { subset } = context;
    const list = memberOf(subset, FALLBACK_LIST);
    if (subset === undefined || list === undefined || !this.#options.triesFallbackList) {
      return this.#chooseFor(subset, context, draw);
    }
    const { [FALLBACK_LIST]: _, ...rest } = subset;
    const further = Array.isArray(list) ? (list as readonly SubsetCriteria[]) : [];
    for (const more of further) {
      const host = this.#chooseFor(joined(rest, more), context, draw);
      if (host !== undefined) return host;
    }
    return further.length > 0 ? undefined : this.#chooseFor(rest, context, draw);
  }

  *prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void> {
    const members = new Map<string, UpstreamHost[]>();
    let duplicates = 0;
    for (const selector of this.#options.selectors) {
      duplicates += yield* this.#sort(selector, hosts, members);
    }
    this.#totals = sizesOf(hosts);
    yield;
    const prepared: (() => void)[] = [];
    const subsets = new Map<string, Subset>();
    for (const [balancer, some] of this.#wholes(hosts)) {
      prepared.push(yield* balancer.prepare(some, overprovisioningFactor));
    }
    for (const [key, some] of members) {
      const subset = this.#subsets.get(key) ?? this.#make();
      subset.sizes.clear();
      for (const [locality, size] of sizesOf(some)) subset.sizes.set(locality, size);
      prepared.push(yield* subset.balancer.prepare(some, overprovisioningFactor));
      subsets.set(key, subset);
    }
    return () => {
      this.#parts.onDuplicates(duplicates);
      this.#countChange(subsets);
      this.#subsets = subsets;
      for (const putInForce of prepared) putInForce();
    };
  }

  /** The balancers of fallbacks, each with its hosts. */
  #wholes(hosts: readonly UpstreamHost[]): readonly (readonly [LoadBalancer, typeof hosts])[] {
    const { defaultSubset, listsAsAny } = this.#options;
    const isDefault = (host: UpstreamHost): boolean => hasCriteria(host, defaultSubset, listsAsAny);
    return [
      ...(this.#any === undefined ? [] : ([[this.#any, hosts]] as const)),
      ...(this.#default === undefined ? [] : ([[this.#default, hosts.filter(isDefault)]] as const)),
    ];
  }

  #countChange(next: ReadonlyMap<string, Subset>): void {
    const { countStructure } = this.#parts;
    const added = [...next.keys()].filter((key) => !this.#subsets.has(key)).length;
    const removed = [...this.#subsets.keys()].filter((key) => !next.has(key)).length;
    if (added > 0) countStructure(index.lb_subsets_created, added);
    if (removed > 0) countStructure(index.lb_subsets_removed, removed);
    if (added !== removed) countStructure(index.lb_subsets_active, added - removed);
  }

  #chooseFor(
    criteria: SubsetCriteria | undefined,
    context: BalanceContext,
    draw: number,
  ): UpstreamHost | undefined {
    const selector = criteria && this.#selectorOf(criteria);
    if (criteria !== undefined && selector !== undefined) {
      const subset = this.#subsets.get(criteriaKey(selector.keys, criteria));
      if (subset !== undefined) {
        this.#parts.count(index.lb_subsets_selected);
        return this.#chooseIn(subset.balancer, context, draw);
      }
      if (selector.fallback === 'KEYS_SUBSET') {
        const fewer = pickKeys(criteria, selector.fallbackKeys);
        return this.#chooseFor(fewer, context, draw);
      }
      if (selector.fallback !== undefined) {
        return this.#chooseBeyond(selector.fallback, context, draw);
      }
    }
    const host = this.#chooseBeyond(this.#options.fallback, context, draw);
    // That of a selector is not counted.
    if (host !== undefined) this.#parts.count(index.lb_subsets_fallback);
    if (host !== undefined || !this.#options.panicsToAny) return host;
    const any = this.#any && this.#chooseIn(this.#any, context, draw);
    if (any !== undefined) this.#parts.count(index.lb_subsets_fallback_panic);
    return any;
  }

  #chooseBeyond(
    policy: SubsetOptions['fallback'],
    context: BalanceContext,
    draw: number,
  ): UpstreamHost | undefined {
    if (policy === 'NO_FALLBACK') return undefined;
    const balancer = policy === 'ANY_ENDPOINT' ? this.#any : this.#default;
    return balancer && this.#chooseIn(balancer, context, draw);
  }

  #chooseIn(
    balancer: LoadBalancer,
    context: BalanceContext,
    draw: number,
  ): UpstreamHost | undefined {
    const host = balancer.choose(context, draw);
    if (balancer.isPanicking) this.isPanicking = true;
    return host;
  }

  #selectorOf(criteria: SubsetCriteria): SubsetSelector | undefined {
    const asked = Object.keys(criteria).length;
    return this.#selectors.find(
      ({ keys }) =>
        (this.#options.allowsRedundantKeys ? keys.length > 0 : keys.length === asked) &&
        keys.every((key) => memberOf(criteria, key) !== undefined),
    );
  }

  /** Returns how many hosts were left out. */
  *#sort(
    { keys, isSingleHost }: SubsetSelector,
    hosts: readonly UpstreamHost[],
    members: Map<string, UpstreamHost[]>,
  ): Steps<number> {
    let duplicates = 0;
    for (const [at, host] of hosts.entries()) {
      if (at % ITEMS_PER_STEP === 0) yield;
      for (const key of subsetKeysOf(host, keys, this.#options.listsAsAny)) {
        const known = members.get(key);
        if (known === undefined) members.set(key, [host]);
        else if (isSingleHost) duplicates += 1;
        else if (known.at(-1) !== host) known.push(host);
      }
    }
    return duplicates;
  }

  #make(): Subset {
    const sizes = new Map<string, number>();
    const scale = (locality: string): number =>
      (sizes.get(locality) ?? 0) / (this.#totals.get(locality) ?? 1);
    const { scalesLocalityWeight } = this.#options;
    return { balancer: this.#parts.makeBalancer(scalesLocalityWeight ? scale : undefined), sizes };
  }
}

/**
 * Envoy keeps selectors as a tree by key: one that ends within an earlier one's branch has no
 * say of its own when there is no subset.
 */
function withoutLostFallbacks(selectors: readonly SubsetSelector[]): readonly SubsetSelector[] {
  return selectors.map((selector, at) => {
    const isWithin = selectors
      .slice(0, at)
      .some(
        ({ keys }) =>
          keys.length > selector.keys.length &&
          selector.keys.every((key, level) => keys[level] === key),
      );
    if (!isWithin) return selector;
    const { keys, isSingleHost, fallbackKeys } = selector;
    return { keys, isSingleHost, fallbackKeys };
  });
}

function compareKeys(left: SubsetSelector, right: SubsetSelector): number {
  const [one, other] = [left.keys.join('\0'), right.keys.join('\0')];
  return one < other ? -1 : one > other ? 1 : 0;
}

function pickKeys(criteria: SubsetCriteria, keys: readonly string[]): SubsetCriteria {
  return dictionary(Object.entries(criteria).filter(([key]) => keys.includes(key)));
}

function sizesOf(hosts: readonly UpstreamHost[]): ReadonlyMap<string, number> {
  return new Map([...groupByLocality(hosts)].map(([key, { length }]) => [key, length]));
}

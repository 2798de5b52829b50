/**
 * Takes the hosts that a request names, in a header or in its metadata, while they are in the
 * cluster, whatever their health; else the policy behind it chooses. A request may name several:
 * each choice for it takes the next one.
 */
import { dictionary, type Struct } from '../../../shared/text/dictionary.ts';
import { metadataValue } from '../../matching/metadata-value.ts';
import type { HostNamer, OverrideOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import type { MetadataKey } from '../../../shared/resources/routes/route.ts';
import { ITEMS_PER_STEP, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { BalanceContext, LoadBalancer } from './load-balancer.ts';

export class OverrideBalancer implements LoadBalancer {
  readonly #options: OverrideOptions;
  readonly #otherwise: LoadBalancer;
  #hosts: ReadonlyMap<string, UpstreamHost> = new Map();
  /** What requests named and no choice has taken yet. */
  readonly #named = new WeakMap<BalanceContext, string[]>();
  #hasNamed = false;

  constructor(options: OverrideOptions, otherwise: LoadBalancer) {
    this.#options = options;
    this.#otherwise = otherwise;
  }

  get isPanicking(): boolean {
    return !this.#hasNamed && this.#otherwise.isPanicking;
  }

  choose(context: BalanceContext, draw: number): UpstreamHost | undefined {
    const named = this.#nextNamed(context);
    this.#hasNamed = named !== undefined;
    const host = named ?? this.#otherwise.choose(context, draw);
    const { tells } = this.#options;
    if (tells !== undefined && host !== undefined) {
      context.addMetadata?.(tells.namespace, structOf(tells, host.address));
    }
    return host;
  }

  *prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void> {
    const byId = new Map<string, UpstreamHost>();
    for (const host of hosts) {
      byId.set(host.id, host);
      if (byId.size % ITEMS_PER_STEP === 0) yield;
    }
    const putInForce = yield* this.#otherwise.prepare(hosts, overprovisioningFactor);
    return () => {
      this.#hosts = byId;
      putInForce();
    };
  }

  #nextNamed(context: BalanceContext): UpstreamHost | undefined {
    let left = this.#named.get(context);
    if (left === undefined) {
      left = this.#options.sources.flatMap((source) => namesIn(context, source));
      // Most requests name none.
      if (left.length > 0) this.#named.set(context, left);
    }
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      const host = this.#hosts.get(id);
      if (host !== undefined) return host;
    }
    return undefined;
  }
}

function namesIn({ requestHeaders, dynamicMetadata }: BalanceContext, source: HostNamer): string[] {
  const value =
    source.kind === 'header'
      ? requestHeaders.get(source.name)
      : metadataValue(dynamicMetadata, source.namespace, source.path);
  if (typeof value !== 'string') return [];
  return value
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
}

function structOf({ path }: MetadataKey, value: string): Struct {
  return path.reduceRight<unknown>((inner, key) => dictionary([[key, inner]]), value) as Struct;
}

/** Stats of the tenants of one connection manager, by bucket, tenant and direction. */
import type { FilterContext } from '../../filter-context.ts';

/** Beyond so many, tenants count as the one without a name: their names may come from clients. */
const MAX_COUNTED = 1000;

export interface ShareStats {
  readonly limited: number;
  readonly notLimited: number;
  readonly bytesPending: number;
  readonly streamsLimited: number;
}

export class ShareStatsTable {
  readonly #context: FilterContext;
  readonly #known = new Map<string, ShareStats>();
  readonly #names: string[] = [];

  constructor(context: FilterContext) {
    this.#context = context;
    context.onRelease(() => {
      for (const name of this.#names) context.stats.releaseNamed(name);
    });
  }

  of(bucketId: string, tenant: string, direction: 'request' | 'response'): ShareStats {
    const key = JSON.stringify([bucketId, tenant, direction]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (tenant !== '' && this.#known.size >= MAX_COUNTED) return this.of(bucketId, '', direction);
    const { stats } = this.#context;
    const labels = `bucket_id.${bucketId}.tenant.${tenant}.direction.${direction}`;
    const named = (name: string): string => {
      this.#names.push(name);
      return name;
    };
    const bytes = `bandwidth_share.bytes.${labels}.handling`;
    const made = {
      limited: stats.defineCounter(named(`${bytes}.limited`)),
      notLimited: stats.defineCounter(named(`${bytes}.not_limited`)),
      bytesPending: stats.defineGauge(named(`bandwidth_share.bytes_pending.${labels}`)),
      streamsLimited: stats.defineGauge(
        named(`bandwidth_share.streams_currently_limited.${labels}`),
      ),
    };
    this.#known.set(key, made);
    return made;
  }
}

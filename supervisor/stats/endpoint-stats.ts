/**
 * Statistics of single hosts, for clusters that ask for them (`per_endpoint_stats`). They are the
 * figures that `/clusters` shows, named and tagged: made whenever somebody reads, stored nowhere.
 * As in Envoy they stand behind all others of their kind, count as used, and neither the statistics
 * matcher nor `/reset_counters` touches them.
 */
import { HOST } from '../../shared/stats/templates/cluster.ts';
import type { Selection } from './selection.ts';
import type { StatStore } from './stat-store.ts';
import type { ExtractedName, ExtractedTag } from './tags/tag-extractor.ts';

/** One host of a cluster that asks for them. */
export interface EndpointStatValues {
  /** As statistics name the cluster. */
  readonly cluster: string;
  /** `address:port`, or a path. */
  readonly address: string;
  /** Sanitised, with which the names begin: `cluster.web.endpoint.127.0.0.1_80.` */
  readonly prefix: string;
  readonly hostname: string;
  readonly isHealthy: boolean;
  /** The number of the host's HOST block; undefined until a worker has used the host. */
  readonly base: number | undefined;
}

export interface EndpointStat {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly value: number;
  /** Where it is in the store; undefined: it is not there. */
  readonly index: number | undefined;
  readonly extracted: ExtractedName;
}

const COUNTERS = [
  'cx_connect_fail',
  'cx_total',
  'rq_error',
  'rq_success',
  'rq_timeout',
  'rq_total',
] as const;
const GAUGES = ['cx_active', 'rq_active', 'rq_pending_active'] as const;

export class EndpointStats {
  readonly #store: Pick<StatStore, 'valueOf'>;
  readonly #figures: () => Iterable<EndpointStatValues>;
  /** Tags that every statistic has. */
  readonly #fixedTags: readonly ExtractedTag[];

  constructor(
    store: Pick<StatStore, 'valueOf'>,
    figures: () => Iterable<EndpointStatValues>,
    fixedTags: readonly ExtractedTag[],
  ) {
    this.#store = store;
    this.#figures = figures;
    this.#fixedTags = fixedTags;
  }

  /** Host by host, each one's counters before its gauges. */
  *all(): Generator<EndpointStat> {
    for (const figures of this.#figures()) yield* this.#statsOf(figures);
  }

  /** Undefined stands for one that is not selected: long work may pause there too. */
  *selected(selection: Selection): Generator<EndpointStat | undefined> {
    const { kind, acceptsName, hidden } = selection;
    if (hidden === 'only') return;
    for (const stat of this.all()) {
      const isSelected =
        (kind === undefined || stat.kind === kind) &&
        (acceptsName === undefined || acceptsName(stat.name));
      yield isSelected ? stat : undefined;
    }
  }

  *#statsOf({ prefix, isHealthy, base, ...host }: EndpointStatValues): Generator<EndpointStat> {
    const tags = this.#tagsOf(host);
    const stat = (kind: EndpointStat['kind'], name: keyof typeof HOST.index): EndpointStat => {
      const index = base === undefined ? undefined : base + HOST.index[name];
      return {
        name: prefix + name,
        kind,
        value: index === undefined ? 0 : Math.max(0, this.#store.valueOf(index)),
        index,
        extracted: { name: `cluster.endpoint.${name}`, tags },
      };
    };
    for (const name of COUNTERS) yield stat('counter', name);
    for (const name of GAUGES) yield stat('gauge', name);
    yield {
      name: `${prefix}healthy`,
      kind: 'gauge',
      value: isHealthy ? 1 : 0,
      index: undefined,
      extracted: { name: 'cluster.endpoint.healthy', tags },
    };
  }

  #tagsOf({
    cluster,
    address,
    hostname,
  }: Pick<EndpointStatValues, 'cluster' | 'address' | 'hostname'>): readonly ExtractedTag[] {
    const tags: ExtractedTag[] = [
      ...this.#fixedTags,
      { tag: 'envoy.cluster_name', value: cluster },
      { tag: 'envoy.endpoint_address', value: address },
    ];
    if (hostname !== '') tags.push({ tag: 'envoy.endpoint_hostname', value: hostname });
    return tags;
  }
}

/** Where one cluster counts in this worker: its block and what appears by response code. */
import type { ClusterResource } from '../../shared/resources/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { SUBSETS } from '../../shared/stats/templates/cluster-features.ts';
import {
  REQUEST_RESPONSE_SIZES,
  TIMEOUT_BUDGETS,
} from '../../shared/stats/templates/cluster-features.ts';
import { HTTP1_CODEC } from '../../shared/stats/templates/codecs.ts';
import { ResponseCodeStats } from './response-code-stats.ts';

export class ClusterStats {
  readonly writer: StatWriter;
  /** `cluster.<name>.` */
  readonly prefix: string;
  readonly base: number;
  readonly all: ResponseCodeStats;
  readonly internal: ResponseCodeStats;
  readonly external: ResponseCodeStats;
  readonly canary: ResponseCodeStats;
  /** Responses that nobody saw, since the request was tried again. */
  readonly retried: ResponseCodeStats;
  #subsetsBase: number | undefined = undefined;
  /** Bases of the blocks that `track_cluster_stats` asks for. */
  readonly budgetsBase: number | undefined;
  readonly sizesBase: number | undefined;
  #http1Base: number | undefined = undefined;
  readonly #zones = new Map<string, ResponseCodeStats>();

  constructor(resource: ClusterResource, writer: StatWriter) {
    this.writer = writer;
    this.prefix = `cluster.${resource.statName}.`;
    this.base = writer.defineBlock(CLUSTER, this.prefix);
    if (resource.lbPolicy.subsets !== undefined) {
      this.#subsetsBase = writer.defineBlock(SUBSETS, this.prefix);
    }
    const { timeoutBudgets, requestResponseSizes } = resource.trackClusterStats;
    this.budgetsBase = timeoutBudgets
      ? writer.defineBlock(TIMEOUT_BUDGETS, this.prefix)
      : undefined;
    this.sizesBase = requestResponseSizes
      ? writer.defineBlock(REQUEST_RESPONSE_SIZES, this.prefix)
      : undefined;
    this.all = new ResponseCodeStats(writer, this.prefix);
    this.internal = new ResponseCodeStats(writer, `${this.prefix}internal.`);
    this.external = new ResponseCodeStats(writer, `${this.prefix}external.`);
    this.retried = new ResponseCodeStats(writer, `${this.prefix}retry.`);
    this.canary = new ResponseCodeStats(writer, `${this.prefix}canary.`);
  }

  /** `zone.<from>.<to>.`, where both zones are known. */
  zone(from: string, to: string): ResponseCodeStats {
    const key = `${from}.${to}`;
    let stats = this.#zones.get(key);
    if (stats === undefined) {
      stats = new ResponseCodeStats(this.writer, `${this.prefix}zone.${key}.`);
      this.#zones.set(key, stats);
    }
    return stats;
  }

  /** Makes the codec's block appear, with the first HTTP/1 connection. */
  useHttp1(): void {
    this.#http1Base ??= this.writer.defineBlock(HTTP1_CODEC, `${this.prefix}http1.`);
  }

  setDuplicateSubsetHosts(count: number): void {
    if (this.#subsetsBase !== undefined) this.writer.setGauge(this.#subsetsBase, count);
  }

  release(): void {
    this.writer.releaseBlock(this.base);
    if (this.budgetsBase !== undefined) this.writer.releaseBlock(this.budgetsBase);
    if (this.sizesBase !== undefined) this.writer.releaseBlock(this.sizesBase);
    if (this.#subsetsBase !== undefined) this.writer.releaseBlock(this.#subsetsBase);
    if (this.#http1Base !== undefined) this.writer.releaseBlock(this.#http1Base);
  }
}

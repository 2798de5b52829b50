/** Where one cluster counts in this worker: its block and what appears by response code. */
import { findPolicy } from '../../shared/resources/clusters/lb-policy.ts';
import type { ClusterResource } from '../../shared/resources/clusters/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { LOAD_AWARE_LOCALITY, SUBSETS } from '../../shared/stats/templates/cluster-features.ts';
import {
  REQUEST_RESPONSE_SIZES,
  TIMEOUT_BUDGETS,
} from '../../shared/stats/templates/cluster-features.ts';
import { HTTP1_CODEC } from '../../shared/stats/templates/codecs.ts';
import { Http2Stats } from '../http2/codec-stats.ts';
import { CallStats } from './call-stats.ts';
import { AnswerStats } from './answer-stats.ts';
import { ResponseCodeStats } from '../../shared/stats/response-code-stats.ts';

/** Internal clients choose them freely. */
const ALTERNATIVES_MAX = 1024;
const ALTERNATIVE_LENGTH_MAX = 256;

export class ClusterStats {
  readonly writer: StatWriter;
  /** `cluster.<name>.` */
  readonly prefix: string;
  readonly base: number;
  readonly answers: AnswerStats;
  /** Responses that nobody saw, since the request was tried again. */
  readonly retried: ResponseCodeStats;
  /** Calls of gRPC, as filters count them. */
  readonly calls: CallStats;
  #subsetsBase: number | undefined = undefined;
  #loadAwareBase: number | undefined = undefined;
  /** Bases of the blocks that `track_cluster_stats` asks for. */
  readonly budgetsBase: number | undefined;
  readonly sizesBase: number | undefined;
  #http1Base: number | undefined = undefined;
  readonly #http2: Http2Stats;
  readonly #alternatives = new Map<string, AnswerStats>();

  constructor(resource: ClusterResource, writer: StatWriter) {
    this.writer = writer;
    this.prefix = `cluster.${resource.statName}.`;
    this.base = writer.defineBlock(CLUSTER, this.prefix);
    this.#http2 = new Http2Stats(writer, `${this.prefix}http2.`);
    if (findPolicy(resource.lbPolicy, 'subset') !== undefined) {
      this.#subsetsBase = writer.defineBlock(SUBSETS, this.prefix);
    }
    if (findPolicy(resource.lbPolicy, 'load_aware_locality') !== undefined) {
      this.#loadAwareBase = writer.defineBlock(
        LOAD_AWARE_LOCALITY,
        `${this.prefix}load_aware_locality.`,
      );
    }
    const { timeoutBudgets, requestResponseSizes } = resource.trackClusterStats;
    this.budgetsBase = timeoutBudgets
      ? writer.defineBlock(TIMEOUT_BUDGETS, this.prefix)
      : undefined;
    this.sizesBase = requestResponseSizes
      ? writer.defineBlock(REQUEST_RESPONSE_SIZES, this.prefix)
      : undefined;
    this.answers = new AnswerStats(writer, this.prefix);
    this.calls = new CallStats(writer, this.prefix);
    this.retried = new ResponseCodeStats(writer, `${this.prefix}retry.`);
  }

  /** Below a name that requests carry; undefined: there are too many, or it is too long. */
  alternative(given: string): AnswerStats | undefined {
    const name = given.replace(/\.+$/, '');
    const known = this.#alternatives.get(name);
    if (known !== undefined) return known;
    if (this.#alternatives.size >= ALTERNATIVES_MAX || name.length > ALTERNATIVE_LENGTH_MAX) {
      return undefined;
    }
    const made = new AnswerStats(this.writer, `${this.prefix}${name}.`);
    this.#alternatives.set(name, made);
    return made;
  }

  /** Makes the codec's block appear, with the first HTTP/1 connection. */
  useHttp1(): void {
    this.#http1Base ??= this.writer.defineBlock(HTTP1_CODEC, `${this.prefix}http1.`);
  }

  countUnsupportedMetadata(): void {
    if (this.#http1Base === undefined) return;
    this.writer.increment(this.#http1Base + HTTP1_CODEC.index.metadata_not_supported_error);
  }

  /** Likewise with the first HTTP/2 connection; gives where its codec counts. */
  useHttp2(): Http2Stats {
    this.#http2.begin();
    return this.#http2;
  }

  setDuplicateSubsetHosts(count: number): void {
    if (this.#subsetsBase !== undefined) this.writer.setGauge(this.#subsetsBase, count);
  }

  countLoadAware(name: keyof typeof LOAD_AWARE_LOCALITY.index, change: number): void {
    if (this.#loadAwareBase === undefined) return;
    this.writer.add(this.#loadAwareBase + LOAD_AWARE_LOCALITY.index[name], change);
  }

  release(): void {
    // By name below the block's prefix: a version of the cluster that follows begins with none.
    for (const stats of [this.answers, this.retried, ...this.#alternatives.values()])
      stats.release();
    this.calls.release();
    this.writer.releaseBlock(this.base);
    if (this.budgetsBase !== undefined) this.writer.releaseBlock(this.budgetsBase);
    if (this.sizesBase !== undefined) this.writer.releaseBlock(this.sizesBase);
    if (this.#subsetsBase !== undefined) this.writer.releaseBlock(this.#subsetsBase);
    if (this.#loadAwareBase !== undefined) this.writer.releaseBlock(this.#loadAwareBase);
    if (this.#http1Base !== undefined) this.writer.releaseBlock(this.#http1Base);
    this.#http2.release();
  }
}

/** What the router counts per response: by code and time, for the cluster and its views. */
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { VIRTUAL_CLUSTER } from '../../../shared/stats/templates/cluster-features.ts';
import { ROUTER } from '../../../shared/stats/templates/http-connection-manager.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { AnswerStats } from '../../upstream/answer-stats.ts';
import { routePrefix, virtualClusterPrefix } from '../route-views.ts';
import { ResponseCodeStats } from '../../../shared/stats/response-code-stats.ts';
import { withoutLastDots } from '../../../shared/stats/stat-scope.ts';

/** Virtual clusters and routes come from configuration, so their number is bounded by it. */
interface ViewStats {
  readonly base: number;
  readonly codes: ResponseCodeStats;
}

/** What is counted, and where. */
interface ChargedAnswer {
  readonly cluster: UpstreamCluster;
  readonly info: StreamInfo;
  /** The upstream said so. */
  readonly isCanary: boolean;
  /** Where the client wants it to be counted, too. */
  readonly alternative?: AnswerStats | undefined;
}

const NO_VIEWS: readonly ViewStats[] = [];

export class RouterStats {
  readonly writer: StatWriter;
  /** Base of the router's block. */
  readonly base: number;
  readonly #ownZone: string;
  readonly #views = new Map<string, ViewStats>();

  constructor(writer: StatWriter, statPrefix: string, ownZone: string) {
    this.writer = writer;
    this.base = writer.defineBlock(ROUTER, `${withoutLastDots(`http.${statPrefix}`)}.`);
    this.#ownZone = ownZone;
  }

  count(offset: number): void {
    this.writer.increment(this.base + offset);
  }

  /** A response, or an answer made here for want of one. */
  chargeCode({ cluster, info, isCanary, alternative }: ChargedAnswer, status: number): void {
    // Health checks through this server say nothing of its traffic.
    if (info.isHealthCheck) return;
    const origin = { info, isCanary, ownZone: this.#ownZone };
    cluster.stats.answers.charge(status, origin);
    alternative?.charge(status, origin);
    for (const { codes } of this.#viewsOf(info)) codes.charge(status);
  }

  /** How long a complete response took, in milliseconds. */
  chargeTime({ cluster, info, isCanary, alternative }: ChargedAnswer, milliseconds: number): void {
    const origin = { info, isCanary, ownZone: this.#ownZone };
    cluster.stats.answers.recordTime(milliseconds, origin);
    alternative?.recordTime(milliseconds, origin);
    for (const { codes } of this.#viewsOf(info)) codes.recordTime(milliseconds);
  }

  /**
   * Counts for the request's virtual cluster and route, where they count; `offset` is of
   * VIRTUAL_CLUSTER.
   */
  countVirtual(info: StreamInfo, offset: number): void {
    for (const { base } of this.#viewsOf(info)) this.writer.increment(base + offset);
  }

  release(): void {
    this.writer.releaseBlock(this.base);
    for (const { base } of this.#views.values()) this.writer.releaseBlock(base);
  }

  #viewsOf(info: StreamInfo): readonly ViewStats[] {
    const { virtualClusterName: name, routeStatPrefix: route, virtualHostName: host } = info;
    if (name === '' && route === '') return NO_VIEWS;
    const views: ViewStats[] = [];
    if (name !== '') views.push(this.#view(virtualClusterPrefix(host, name)));
    if (route !== '') views.push(this.#view(routePrefix(host, route)));
    return views;
  }

  #view(prefix: string): ViewStats {
    let stats = this.#views.get(prefix);
    if (stats === undefined) {
      stats = {
        base: this.writer.defineBlock(VIRTUAL_CLUSTER, prefix),
        codes: new ResponseCodeStats(this.writer, prefix),
      };
      this.#views.set(prefix, stats);
    }
    return stats;
  }
}

/** Resources that are asked for again and again over HTTP, from a host of a cluster. */
import { errorText } from '../../../shared/text/error-text.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { ControlPlaneClusters } from '../../services/control-plane-clusters.ts';
import { decodeResponse, type DecodeEnvironment } from './decode-response.ts';
import type { DiscoverySource } from './discovery-update.ts';
import type { RestAnswer, RestClient } from '../../services/rest-client.ts';
import type { Subscription } from './subscription.ts';

export interface RestSourceOptions {
  readonly cluster: string;
  readonly refreshMs: number;
  readonly timeoutMs: number;
  readonly clusters: ControlPlaneClusters;
  /** The client of this cluster; others use it too. */
  readonly client: RestClient;
  readonly node: JsonObject;
  readonly clock: Clock;
  readonly subscription: Subscription;
  readonly decoding: DecodeEnvironment;
}

/** Added to each wait at random, so that servers do not ask all at once. */
const JITTER_MS = 1_000;

export class RestSource implements DiscoverySource {
  readonly #options: RestSourceOptions;
  /** Ends the question that is not answered yet. */
  #asking: AbortController | undefined;
  #isClosed = false;
  #timer: Timer | undefined;
  #versionInfo = '';

  constructor(options: RestSourceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.subscription.startTimer();
    void this.#fetch();
  }

  close(): void {
    this.#isClosed = true;
    this.#asking?.abort();
    this.#timer?.cancel();
  }

  async #fetch(): Promise<void> {
    const { subscription, clock, refreshMs } = this.#options;
    subscription.attempted();
    try {
      await this.#take(await this.#ask());
    } catch (error) {
      if (this.#isClosed) return;
      subscription.failed(errorText(error));
    }
    if (this.#isClosed) return;
    const waitMs = refreshMs + Math.floor(Math.random() * Math.min(JITTER_MS, refreshMs));
    this.#timer = clock.after(waitMs, () => void this.#fetch());
  }

  async #take({ status, content }: RestAnswer): Promise<void> {
    const { subscription, decoding, cluster } = this.#options;
    // Nothing is new.
    if (status === 304) return;
    if (status !== 200) throw new Error(`${cluster} answered ${status}`);
    const source = { name: cluster, format: 'json', content } as const;
    let versionInfo = this.#versionInfo;
    const refusal = await subscription.deliver(async () => {
      const update = await decodeResponse(source, subscription.type, decoding);
      versionInfo = update.versionInfo;
      return update;
    });
    if (refusal === undefined) this.#versionInfo = versionInfo;
  }

  async #ask(): Promise<RestAnswer> {
    const { cluster, clusters, client, node, subscription, timeoutMs, clock } = this.#options;
    const host = clusters.pick(cluster);
    if (host === undefined) throw new Error(`${cluster} has no host`);
    const { type, names } = subscription;
    const body = JSON.stringify({
      ...(this.#versionInfo === '' ? {} : { version_info: this.#versionInfo }),
      node,
      ...(names.length === 0 ? {} : { resource_names: names }),
      type_url: type.typeUrl,
    });
    // A signal that is made of others may be forgotten before it speaks.
    const asking = new AbortController();
    this.#asking = asking;
    const timer = clock.after(timeoutMs, () => asking.abort());
    const { signal } = asking;
    const request = host.stats.request();
    const question = { authority: cluster, path: type.restPath, body, signal, timeoutMs, request };
    try {
      const answer = await client.post(host, question);
      request.ended();
      return answer;
    } catch (error) {
      const isLate = signal.aborted && !this.#isClosed;
      request.failed(isLate ? 'timeout' : 'connection');
      throw isLate ? new Error(`${cluster} did not answer within ${timeoutMs} ms`) : error;
    } finally {
      timer.cancel();
      this.#asking = undefined;
    }
  }
}

/** Resources that are asked for again and again over HTTP, from a host of a cluster. */
import { request } from 'node:http';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../shared/clock.ts';
import type { HostAddress } from '../../shared/resources/cluster.ts';
import { decodeResponse, type DecodeEnvironment } from './decode-response.ts';
import type { DiscoverySource } from './discovery-update.ts';
import type { Subscription } from './subscription.ts';

/** The clusters of this server, as far as its own requests need them. */
export interface ControlPlaneClusters {
  /** A host to ask; undefined when there is none. The request is counted as the cluster's. */
  pick(cluster: string): HostAddress | undefined;
}

export interface RestSourceOptions {
  readonly cluster: string;
  readonly refreshMs: number;
  readonly timeoutMs: number;
  readonly clusters: ControlPlaneClusters;
  readonly node: JsonObject;
  readonly clock: Clock;
  readonly subscription: Subscription;
  readonly decoding: DecodeEnvironment;
}

/** Added to each wait at random, so that servers do not ask all at once. */
const JITTER_MS = 1_000;
const LIMIT_BYTES = 256 * 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly content: Buffer;
}

export class RestSource implements DiscoverySource {
  readonly #options: RestSourceOptions;
  readonly #abort = new AbortController();
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
    this.#abort.abort();
    this.#timer?.cancel();
  }

  async #fetch(): Promise<void> {
    const { subscription, clock, refreshMs } = this.#options;
    subscription.attempted();
    try {
      await this.#take(await this.#ask());
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      subscription.failed(error instanceof Error ? error.message : String(error));
    }
    if (this.#abort.signal.aborted) return;
    const waitMs = refreshMs + Math.floor(Math.random() * Math.min(JITTER_MS, refreshMs));
    this.#timer = clock.after(waitMs, () => void this.#fetch());
  }

  async #take({ status, content }: Answer): Promise<void> {
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

  #ask(): Promise<Answer> {
    const { cluster, clusters, node, subscription, timeoutMs } = this.#options;
    const host = clusters.pick(cluster);
    if (host === undefined) return Promise.reject(new Error(`${cluster} has no host`));
    const { type, names } = subscription;
    const body = JSON.stringify({
      ...(this.#versionInfo === '' ? {} : { version_info: this.#versionInfo }),
      node,
      ...(names.length === 0 ? {} : { resource_names: names }),
      type_url: type.typeUrl,
    });
    const target =
      host.kind === 'pipe' ? { socketPath: host.path } : { host: host.address, port: host.port };
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          ...target,
          method: 'POST',
          path: type.restPath,
          agent: false,
          signal: AbortSignal.any([this.#abort.signal, AbortSignal.timeout(timeoutMs)]),
          headers: {
            host: cluster,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > LIMIT_BYTES) asked.destroy(new Error('the answer is too large'));
            else chunks.push(chunk);
          });
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, content: Buffer.concat(chunks) }),
          );
        },
      );
      asked.on('error', reject);
      asked.end(body);
    });
  }
}

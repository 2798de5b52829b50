/** Resources that are asked for again and again over HTTP, from a host of a cluster. */
import { request } from 'node:http';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock, Timer } from '../../shared/clock.ts';
import type { ControlPlaneClusters, PickedHost } from './control-plane-clusters.ts';
import { decodeResponse, type DecodeEnvironment } from './decode-response.ts';
import type { DiscoverySource } from './discovery-update.ts';
import type { Subscription } from './subscription.ts';

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
    const host = clusters.pick(cluster, 'http/1.1');
    if (host === undefined) return Promise.reject(new Error(`${cluster} has no host`));
    const { type, names } = subscription;
    const body = JSON.stringify({
      ...(this.#versionInfo === '' ? {} : { version_info: this.#versionInfo }),
      node,
      ...(names.length === 0 ? {} : { resource_names: names }),
      type_url: type.typeUrl,
    });
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(timeoutMs)]);
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          createConnection: (_, ready) => {
            connectTo(host, signal).then(
              (socket) => ready(null, socket),
              (error: Error) => ready(error, new Socket()),
            );
            return undefined;
          },
          method: 'POST',
          path: type.restPath,
          signal,
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

async function connectTo({ address, secure }: PickedHost, signal: AbortSignal): Promise<Socket> {
  if (address.kind === 'internal') {
    throw new Error('the host is an internal listener, which only workers reach');
  }
  const target =
    address.kind === 'pipe'
      ? { path: address.path }
      : { host: address.address, port: address.port };
  const socket = connect({ ...target, signal });
  await once(socket, 'connect');
  return secure === undefined ? socket : await secure(socket);
}

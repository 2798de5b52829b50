/**
 * A gRPC service at an address (`google_grpc`), which no cluster stands for: Envoy gives it to
 * gRPC's own library, and so does this, which loads it with the first call.
 */
import type * as Grpc from '@grpc/grpc-js';
import type { Client, Metadata } from '@grpc/grpc-js';
import { http2Module } from '../../shared/process/http2-memory.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import { scopePrefix } from '../../shared/stats/stat-scope.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { GRPC_CLIENT } from '../../shared/stats/templates/subscriptions.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { compileMetadata, isBinary, type CallMetadata } from './call-metadata.ts';
import { ChannelCall, type ChannelStream } from './channel-call.ts';
import { UnaryCallbacks } from './grpc-request.ts';
import type {
  GrpcCallOptions,
  GrpcRequest,
  GrpcRequestCallbacks,
  GrpcService,
  GrpcStatus,
  GrpcStream,
  GrpcStreamCallbacks,
} from './grpc-services.ts';

export type ChannelTarget = Extract<GrpcTarget, { readonly kind: 'uri' }>;

interface Channel {
  readonly grpc: typeof Grpc;
  readonly client: Client;
}

const STATS = GRPC_CLIENT.index;
const CLOSED = new Map<string, number>(Object.entries(STATS));
const bytes = (message: Buffer): Buffer => message;

export class ChannelService implements GrpcService {
  readonly #target: ChannelTarget;
  readonly #loop: WorkerLoop;
  readonly #stats: StatWriter;
  readonly #base: number;
  readonly #metadata: CallMetadata;
  #channel: Promise<Channel> | undefined = undefined;
  #calls = 0;
  #isReleased = false;

  constructor(target: ChannelTarget, loop: WorkerLoop, stats: StatWriter) {
    this.#target = target;
    this.#loop = loop;
    this.#stats = stats;
    this.#base = stats.defineBlock(GRPC_CLIENT, scopePrefix(`grpc.${target.statPrefix}`));
    this.#metadata = compileMetadata(target.metadata);
    stats.increment(this.#base + STATS.google_grpc_client_creation);
  }

  call(
    options: GrpcCallOptions,
    message: Uint8Array,
    callbacks: GrpcRequestCallbacks,
  ): GrpcRequest {
    const call = this.open(options, new UnaryCallbacks(callbacks));
    call.send(message);
    call.endSending();
    return call;
  }

  open(options: GrpcCallOptions, callbacks: GrpcStreamCallbacks): GrpcStream {
    this.#calls += 1;
    this.#stats.increment(this.#base + STATS.streams_total);
    const entries = this.#entries(options);
    const deadline = options.timeoutMs ? this.#loop.clock.wallMs + options.timeoutMs : Infinity;
    const open = async (): Promise<ChannelStream> => {
      const { grpc, client } = await (this.#channel ??= this.#connect());
      const metadata = metadataOf(grpc, entries);
      const { method } = options;
      return client.makeBidiStreamRequest(method, bytes, bytes, metadata, { deadline });
    };
    return new ChannelCall(open, this.#loop, {
      callbacks,
      onOver: (status) => this.#over(status),
    });
  }

  release(): void {
    this.#isReleased = true;
    this.#closeUnused();
  }

  #over({ code }: GrpcStatus): void {
    const offset = CLOSED.get(`streams_closed_${code}`);
    if (offset !== undefined) this.#stats.increment(this.#base + offset);
    this.#calls -= 1;
    this.#closeUnused();
  }

  #closeUnused(): void {
    if (!this.#isReleased || this.#calls > 0) return;
    this.#stats.releaseBlock(this.#base);
    void this.#channel?.then(({ client }) => client.close());
  }

  #entries({ parent, metadata = [] }: GrpcCallOptions): readonly (readonly [string, string])[] {
    const entries: (readonly [string, string])[] = [];
    this.#metadata(parent, (name, value) => entries.push([name, value]));
    return [...entries, ...metadata];
  }

  async #connect(): Promise<Channel> {
    http2Module();
    const grpc = await import('@grpc/grpc-js');
    const { tls, uri, args } = this.#target;
    const { roots = null, key = null, chain = null } = tls ?? {};
    const credentials =
      tls === undefined
        ? grpc.credentials.createInsecure()
        : grpc.credentials.createSsl(roots, key, chain);
    return { grpc, client: new grpc.Client(uri, credentials, { ...args }) };
  }
}

function metadataOf(grpc: typeof Grpc, entries: readonly (readonly [string, string])[]): Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of entries) {
    metadata.set(name, isBinary(name) ? Buffer.from(value) : value);
  }
  return metadata;
}

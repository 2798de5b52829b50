/**
 * One stream to a control plane that is opened again, with back-off and jitter, whenever it has
 * ended. Requests wait in its queue while the rate limit holds them back. What is said on it is its
 * owner's matter; after each opening the owner says everything again.
 */
import { shortened } from '../../shared/text/shortened.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { scopePrefix } from '../../shared/stats/stat-scope.ts';
import { CONTROL_PLANE, GRPC_CLIENT } from '../../shared/stats/templates/subscriptions.ts';
import { LoopTurns } from '../loop/loop-turns.ts';
import type { GrpcSource } from '../resolved/config-source.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { ControlPlaneClusters } from './control-plane-clusters.ts';
import { openGrpcStream, type GrpcStream } from './grpc-client.ts';
import type { GrpcConnections } from './grpc-connections.ts';
import { StreamEndLog, type StreamEnd } from './stream-end-log.ts';

export interface ControlStreamOptions {
  readonly source: GrpcSource;
  /** Such as `/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources`. */
  readonly method: string;
  readonly clusters: ControlPlaneClusters;
  readonly connections: GrpcConnections;
  readonly clock: Clock;
  readonly statStore: StatStore;
  /** Before `control_plane.`; empty or ending in a dot. */
  readonly statPrefix: string;
  readonly log: (level: 'debug' | 'warning', text: string) => void;
}

export interface ControlStreamOwner {
  /** Nothing was said on this stream yet. */
  opened(): void;
  /** Resolves when it was dealt with. Never rejects. */
  received(message: Buffer): Promise<void>;
  ended(reason: string): void;
}

/** A queue this long has the same requests again and again: the oldest go. */
const QUEUE_LIMIT = 100_000;
const UNAVAILABLE = 14;
const INTERNAL = 13;
/** Answers that may wait; a control plane that sends more is not read meanwhile. */
const UNFINISHED_LIMIT = 64;
/** The same for the bytes of all of them. The last may be as long as the transport lets it be. */
const UNFINISHED_BYTES_LIMIT = 32 * 1024 * 1024;

export class ControlStream {
  readonly #options: ControlStreamOptions;
  readonly #owner: ControlStreamOwner;
  readonly #stats: StatWriter;
  readonly #texts: StatStore;
  readonly #base: number;
  /** The number of the client that `google_grpc` asks for. */
  readonly #client: number | undefined;
  readonly #endLog: StreamEndLog;
  #stream: GrpcStream | undefined;
  /** Counts streams, so that an answer goes to the one that the question came on. */
  #generation = 0;
  /** The last stream of which the log has that it brought what nobody asked for. */
  #ignoredOn = 0;
  #retry: Timer | undefined;
  #refill: Timer | undefined;
  #queue: (() => Uint8Array)[] = [];
  #tokens: number;
  #refilledMs: number;
  #failuresInARow = 0;
  #unfinished = 0;
  #unfinishedBytes = 0;
  readonly #turns = new LoopTurns();
  /** Settles when the answers so far have had their turns. */
  #begun: Promise<void> = Promise.resolve();
  #hasStarted = false;
  #isClosed = false;

  constructor(options: ControlStreamOptions, owner: ControlStreamOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#stats = options.statStore;
    this.#texts = options.statStore;
    this.#base = options.statStore.defineBlock(
      CONTROL_PLANE,
      `${options.statPrefix}control_plane.`,
    );
    const { target } = options.source;
    if (target.kind === 'uri') {
      this.#client = this.#stats.defineBlock(GRPC_CLIENT, scopePrefix(`grpc.${target.statPrefix}`));
      this.#countCall('google_grpc_client_creation');
    }
    const peer = target.kind === 'uri' ? target.uri : target.cluster;
    this.#endLog = new StreamEndLog({ method: options.method, peer }, options.clock, options.log);
    this.#tokens = options.source.rateLimit?.maxTokens ?? 0;
    this.#refilledMs = options.clock.monotonicMs();
  }

  /** 0 while there is none; another number for each stream. */
  get generation(): number {
    return this.#stream === undefined ? 0 : this.#generation;
  }

  /** Opens the first stream; later calls do nothing. */
  start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    void this.#connect();
  }

  /** `make` is called when the request may go; it is dropped when the stream ends before. */
  send(make: () => Uint8Array): void {
    if (this.#stream === undefined) return;
    if (this.#options.source.rateLimit === undefined) return this.#stream.send(make());
    if (this.#queue.length >= QUEUE_LIMIT) this.#queue.shift();
    this.#queue.push(make);
    this.#drain();
  }

  /** The control plane spoke: it is there. */
  heard(identifier: string): void {
    this.#failuresInARow = 0;
    this.#endLog.heard();
    if (identifier !== '')
      this.#texts.setText(this.#base + CONTROL_PLANE.index.identifier, identifier);
  }

  /** Said once for each stream: it may bring a million answers that nobody asked for. */
  ignored(typeUrl: string): void {
    const text = `the control plane sent ${shortened(typeUrl)}, which nobody asked for; it is ignored`;
    const isFirst = this.#ignoredOn !== this.#generation;
    this.#ignoredOn = this.#generation;
    this.#options.log(isFirst ? 'warning' : 'debug', text);
  }

  /** Ends the stream, whose other side sends what cannot be read; another one follows. */
  break(reason: string): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#countCall(`streams_closed_${INTERNAL}`);
    stream.close();
    this.#ended({ code: INTERNAL, reason });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#refill?.cancel();
    this.#stream?.close();
    this.#stream = undefined;
    this.#stats.releaseBlock(this.#base);
    if (this.#client !== undefined) this.#stats.releaseBlock(this.#client);
  }

  async #connect(): Promise<void> {
    const { source, method, clusters, connections } = this.#options;
    const generation = this.#generation + 1;
    try {
      const stream = await openGrpcStream(
        connections,
        { target: source.target, method },
        {
          received: (message) => {
            this.#receive(message, generation);
          },
          ended: (reason, code) => {
            this.#countCall(`streams_closed_${code}`);
            this.#ended({ code, reason });
          },
        },
        (cluster) => clusters.pick(cluster, 'h2'),
      );
      if (this.#isClosed) return stream.close();
      this.#countCall('streams_total');
      this.#stream = stream;
      this.#generation = generation;
      this.#setGauge('connected_state', 1);
      this.#owner.opened();
    } catch (error) {
      this.#ended({ code: UNAVAILABLE, reason: (error as Error).message });
    }
  }

  /** Answers are begun in order, and only while the loop has nothing else to do for long. */
  #receive(message: Buffer, generation: number): void {
    if (generation !== this.#generation) return;
    const stream = this.#stream;
    this.#unfinished += 1;
    this.#unfinishedBytes += message.length;
    if (this.#isFull) stream?.pause();
    const finish = (): void => {
      this.#unfinished -= 1;
      this.#unfinishedBytes -= message.length;
      if (!this.#isFull) stream?.resume();
    };
    this.#begun = this.#begun.then(async () => {
      if (this.#turns.isOver) await this.#turns.next();
      if (generation !== this.#generation || this.#isClosed) return finish();
      void this.#owner.received(message).then(finish);
    });
  }

  get #isFull(): boolean {
    return this.#unfinished >= UNFINISHED_LIMIT || this.#unfinishedBytes >= UNFINISHED_BYTES_LIMIT;
  }

  #ended(end: StreamEnd): void {
    if (this.#isClosed) return;
    const { clock, source } = this.#options;
    this.#endLog.ended(end);
    this.#stream = undefined;
    this.#queue = [];
    this.#setGauge('connected_state', 0);
    this.#setGauge('pending_requests', 0);
    this.#owner.ended(end.reason);
    const { firstMs, maxMs } = source.backOff;
    const boundMs = Math.min(maxMs, firstMs * 2 ** this.#failuresInARow);
    this.#failuresInARow = Math.min(this.#failuresInARow + 1, 10);
    this.#retry = clock.after(1 + Math.floor(Math.random() * boundMs), () => void this.#connect());
  }

  #drain(): void {
    this.#takeTokens();
    while (this.#queue.length > 0 && this.#tokens >= 1) {
      const make = this.#queue.shift();
      this.#tokens -= 1;
      if (make !== undefined) this.#stream?.send(make());
    }
    this.#setGauge('pending_requests', this.#queue.length);
    const { rateLimit } = this.#options.source;
    if (this.#queue.length === 0 || rateLimit === undefined) return;
    this.#stats.increment(this.#base + CONTROL_PLANE.index.rate_limit_enforced);
    if (this.#refill !== undefined) return;
    const waitMs = (1 - this.#tokens) * (1000 / rateLimit.fillPerSecond);
    this.#refill = this.#options.clock.after(Math.ceil(waitMs), () => {
      this.#refill = undefined;
      this.#drain();
    });
  }

  #takeTokens(): void {
    const { rateLimit } = this.#options.source;
    if (rateLimit === undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    const gained = ((nowMs - this.#refilledMs) / 1000) * rateLimit.fillPerSecond;
    this.#tokens = Math.min(rateLimit.maxTokens, this.#tokens + gained);
    this.#refilledMs = nowMs;
  }

  #countCall(name: string): void {
    const offset = (GRPC_CLIENT.index as Readonly<Record<string, number>>)[name];
    if (this.#client === undefined || offset === undefined) return;
    this.#stats.increment(this.#client + offset);
  }

  #setGauge(name: 'connected_state' | 'pending_requests', value: number): void {
    this.#texts.setGauge(this.#base + CONTROL_PLANE.index[name], value);
  }
}

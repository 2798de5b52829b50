/** Where a connection manager counts: its own block and the listener's view of the same answers. */
import { scopePrefix } from '../../shared/stats/stat-scope.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import {
  ANSWER_DOOR,
  HTTP_CONNECTION_MANAGER,
  LISTENER_HTTP,
  TRACING,
} from '../../shared/stats/templates/http-connection-manager.ts';
import type { ProtocolTraits } from '../stream/protocol-traits.ts';
import type { Protocol, StreamInfo } from '../stream/stream-info.ts';

const index = HTTP_CONNECTION_MANAGER.index;
const listenerIndex = LISTENER_HTTP.index;
const RQ_COMPLETED = index.downstream_rq_completed;
const LISTENER_RQ_COMPLETED = listenerIndex.downstream_rq_completed;

/** Offsets of the counters by class of status, in both blocks. */
const CLASS_OFFSETS = [
  index.downstream_rq_1xx,
  index.downstream_rq_2xx,
  index.downstream_rq_3xx,
  index.downstream_rq_4xx,
  index.downstream_rq_5xx,
];
const LISTENER_CLASS_OFFSETS = [
  listenerIndex.downstream_rq_1xx,
  listenerIndex.downstream_rq_2xx,
  listenerIndex.downstream_rq_3xx,
  listenerIndex.downstream_rq_4xx,
  listenerIndex.downstream_rq_5xx,
];

/** What a protocol brings along. */
export type TraitsOf = (protocol: Protocol | undefined) => ProtocolTraits;

export class ManagerStats {
  readonly writer: StatWriter;
  /** Base of the `http.<stat_prefix>.` block. */
  readonly base: number;
  readonly #listenerBase: number;
  readonly #tracingBase: number;
  readonly #traitsOf: TraitsOf;
  readonly #codecBases = new Map<ProtocolTraits, number>();
  readonly #addedBases: number[] = [];
  #doorBase: number | undefined = undefined;
  readonly #scope: string;

  constructor(
    writer: StatWriter,
    statPrefix: string,
    listenerStatName: string,
    traitsOf: TraitsOf,
  ) {
    this.writer = writer;
    this.#traitsOf = traitsOf;
    const scope = scopePrefix(`http.${statPrefix}`);
    this.#scope = scope;
    this.base = writer.defineBlock(HTTP_CONNECTION_MANAGER, scope);
    this.#tracingBase = writer.defineBlock(TRACING, `${scope}tracing.`);
    this.#listenerBase = writer.defineBlock(LISTENER_HTTP, `listener.${listenerStatName}.${scope}`);
  }

  count(offset: number): void {
    this.writer.increment(this.base + offset);
  }

  raise(offset: number): void {
    this.writer.add(this.base + offset, 1);
  }

  lower(offset: number): void {
    this.writer.subtract(this.base + offset, 1);
  }

  record(offset: number, value: number): void {
    this.writer.record(this.base + offset, value);
  }

  /** The request of a value of `downstream_rq_time`, for clients that ask for exemplars. */
  exemplify(value: number, { trace, startWallMs }: StreamInfo): void {
    if (trace?.isSampled !== true) return;
    const name = `${this.#scope}downstream_rq_time`;
    this.writer.exemplify?.({ name, value, traceId: trace.traceId, atMs: startWallMs + value });
  }

  /** Health checks are counted apart, whatever their answer is. */
  countHealthCheck(): void {
    this.writer.increment(this.#tracingBase + TRACING.index.health_check);
  }

  /** Counts a response by the class of its status, here and for the listener. */
  chargeResponse(status: number): void {
    const { writer } = this;
    writer.increment(this.base + RQ_COMPLETED);
    writer.increment(this.#listenerBase + LISTENER_RQ_COMPLETED);
    const position = ((status / 100) | 0) - 1;
    const own = CLASS_OFFSETS[position];
    const listener = LISTENER_CLASS_OFFSETS[position];
    if (own !== undefined) writer.increment(this.base + own);
    if (listener !== undefined) writer.increment(this.#listenerBase + listener);
  }

  /** Makes the codec's block appear, with its first connection, and gives its base. */
  useProtocol(traits: ProtocolTraits): number {
    const known = this.#codecBases.get(traits);
    if (known !== undefined) return known;
    const base = this.writer.defineBlock(traits.block, traits.scope);
    this.#codecBases.set(traits, base);
    return base;
  }

  /** A header was dropped for an underscore in its name. */
  countDroppedHeader(protocol: Protocol | undefined): void {
    const traits = this.#traitsOf(protocol);
    this.writer.increment(this.useProtocol(traits) + traits.droppedHeaders);
  }

  /** A request was refused for an underscore in a header's name. */
  countRefusedUnderscore(protocol: Protocol | undefined): void {
    const traits = this.#traitsOf(protocol);
    this.writer.increment(this.useProtocol(traits) + traits.refusedUnderscores);
  }

  /** Metadata was dropped, because the client's protocol has none. */
  countUnsupportedMetadata(protocol: Protocol | undefined): void {
    const traits = this.#traitsOf(protocol);
    if (traits.unsupportedMetadata === undefined) return;
    this.writer.increment(this.useProtocol(traits) + traits.unsupportedMetadata);
  }

  /** Statistics below the same prefix that only some managers have; gives their base. */
  addBlock(template: Parameters<StatWriter['defineBlock']>[0]): number {
    const base = this.writer.defineBlock(template, this.#scope);
    this.#addedBases.push(base);
    return base;
  }

  /** Parts of an answer stayed here, because nothing of their kind may leave. */
  countDroppedParts(count: number): void {
    this.#doorBase ??= this.addBlock(ANSWER_DOOR);
    this.writer.add(this.#doorBase + ANSWER_DOOR.index.rs_unfit_parts_dropped, count);
  }

  release(): void {
    this.writer.releaseBlock(this.base);
    this.writer.releaseBlock(this.#tracingBase);
    this.writer.releaseBlock(this.#listenerBase);
    for (const base of this.#codecBases.values()) this.writer.releaseBlock(base);
    for (const base of this.#addedBases) this.writer.releaseBlock(base);
  }
}

/**
 * The filters of one attempt, on the side of the host: the request passes them towards the codec,
 * the response towards the exchange. They see the request's own facts and route; what they answer
 * goes to the client past the exchange, which makes no further attempt of it.
 */
import { type ChainEnd, type ChainStream, FilterChain } from '../../filter-chain/filter-chain.ts';
import { tooLarge } from '../../filter-chain/local-reply.ts';
import type { HeldBytes } from '../../loop/held-bytes.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import { configsOf } from '../../routing/route-context.ts';
import type { Metadata, ResetReason } from '../../stream/codec.ts';
import type { FilterFactory, LocalReply } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { ResolvedRoute } from '../../stream/route.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type { UpstreamConnectionInfo } from '../../upstream/pools/http-pool.ts';
import type { PerTryTimeout, UpstreamRequestOwner } from './attempt-seam.ts';
import type { UpstreamRequest } from './upstream-request.ts';

const NOTHING = Buffer.alloc(0);

interface AttemptFilterParts {
  /** The facts of the request. */
  readonly info: StreamInfo;
  /** What filters may keep of a message. */
  readonly bufferLimitBytes: number;
  readonly loop: WorkerLoop;
}

/** One that filters work for. */
interface Begun {
  readonly upstream: UpstreamRequest;
  readonly chain: FilterChain;
}

export class AttemptFilters implements ChainStream, UpstreamRequestOwner {
  readonly #owner: UpstreamRequestOwner;
  readonly #parts: AttemptFilterParts;
  /** Undefined when the attempt is over. */
  #begun: Begun | undefined = undefined;
  /** The pauses of filters towards the client, to be taken back at the end. */
  #requestPauses = 0;
  #responsePauses = 0;

  constructor(owner: UpstreamRequestOwner, parts: AttemptFilterParts) {
    this.#owner = owner;
    this.#parts = parts;
  }

  /** `codec` takes what has passed the filters of the request. */
  begin(upstream: UpstreamRequest, filters: readonly FilterFactory[], codec: ChainEnd): void {
    this.#begun = { upstream, chain: new FilterChain(this, filters, codec) };
  }

  /** The attempt is over: filters let go of what they hold. */
  end(): void {
    const chain = this.#begun?.chain;
    if (chain === undefined) return;
    this.#begun = undefined;
    chain.destroy(this.#parts.loop);
    for (; this.#requestPauses > 0; this.#requestPauses--) this.#owner.pauseRequest(false);
  }

  decodeHeaders(host: UpstreamHost, headers: HeaderMap, endStream: boolean): void {
    if (this.#begun === undefined) return;
    this.#parts.info.upstreamHost = host;
    this.#begun.chain.decodeHeaders(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (endStream && data.length > 0) {
      // As in Envoy, filters see a body before they see that it was all.
      this.#begun?.chain.decodeData(data, false);
      this.#begun?.chain.decodeData(NOTHING, true);
    } else this.#begun?.chain.decodeData(data, endStream);
    this.checkHeldBytes();
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.#begun?.chain.decodeTrailers(trailers);
  }

  // What the attempt tells its owner.

  onHostTried(upstream: UpstreamRequest): void {
    this.#owner.onHostTried(upstream);
  }

  onUpstreamConnected(upstream: UpstreamRequest, connection: UpstreamConnectionInfo): void {
    this.#owner.onUpstreamConnected(upstream, connection);
  }

  onUpstream1xx(headers: HeaderMap): void {
    if (this.#begun !== undefined) this.#owner.onUpstream1xx(headers);
  }

  onUpstreamHeaders(_: UpstreamRequest, headers: HeaderMap, endStream: boolean): void {
    this.#begun?.chain.encodeHeaders(headers, endStream);
  }

  onUpstreamData(_: UpstreamRequest, data: Buffer, endStream: boolean): void {
    this.#begun?.chain.encodeData(data, endStream);
    this.checkHeldBytes();
  }

  onUpstreamTrailers(_: UpstreamRequest, trailers: HeaderMap): void {
    this.#begun?.chain.encodeTrailers(trailers);
  }

  onUpstreamMetadata(metadata: Metadata): void {
    if (this.#begun !== undefined) this.#owner.onUpstreamMetadata(metadata);
  }

  onUpstreamReset(upstream: UpstreamRequest, reason: ResetReason, detail: string): void {
    this.end();
    this.#owner.onUpstreamReset(upstream, reason, detail);
  }

  onRequestRefused(upstream: UpstreamRequest, fault: string): void {
    this.end();
    this.#owner.onRequestRefused(upstream, fault);
  }

  onPerTryTimeout(upstream: UpstreamRequest, kind: PerTryTimeout): void {
    this.#owner.onPerTryTimeout(upstream, kind);
  }

  onFilterAnswer(reply: LocalReply): void {
    this.#owner.onFilterAnswer(reply);
  }

  onException(): void {
    this.#owner.onException();
  }

  // What filters ask of their stream.

  get info(): StreamInfo {
    return this.#parts.info;
  }

  get route(): ResolvedRoute | undefined {
    return this.#parts.info.route;
  }

  get heldByAll(): HeldBytes {
    return this.#parts.loop.held;
  }

  routeConfig(filterName: string): unknown {
    return this.route?.filterSettings.perFilterConfig.get(filterName);
  }

  routeConfigs(filterName: string): readonly unknown[] {
    const { route } = this;
    return route === undefined ? [] : configsOf(route.filterSettings, filterName);
  }

  clearRoute(): void {
    // The request is on its way.
  }

  takeEvent(): void {
    this.#parts.loop.current = this;
  }

  get isRequestDropped(): boolean {
    return this.#begun === undefined;
  }

  checkHeldBytes(): void {
    const side = this.#begun?.chain.overfullSide(this.#parts.bufferLimitBytes);
    if (side !== undefined) this.sendLocalReply(tooLarge[side]);
  }

  pauseRequest(paused: boolean): void {
    if (this.#begun === undefined) return;
    this.#requestPauses += paused ? 1 : -1;
    this.#owner.pauseRequest(paused);
  }

  pauseResponse(paused: boolean): void {
    this.#begun?.upstream.pauseResponse(paused);
  }

  /** Somebody asks the host to wait, the client or a filter. */
  notePause(paused: boolean): void {
    this.#responsePauses += paused ? 1 : -1;
  }

  isPaused(side: 'request' | 'response'): boolean {
    return (side === 'request' ? this.#requestPauses : this.#responsePauses) > 0;
  }

  sendLocalReply(reply: LocalReply): void {
    if (this.#begun !== undefined) this.#owner.onFilterAnswer(reply);
  }

  restartRequest(): void {
    // The request is on its way.
  }

  resetStream(): void {
    const upstream = this.#begun?.upstream;
    if (upstream === undefined) return;
    upstream.cancel();
    this.#owner.onUpstreamReset(upstream, 'local_reset', '');
  }

  writeHeaders(headers: HeaderMap, endStream: boolean): void {
    const upstream = this.#takeUpstream(endStream);
    if (upstream !== undefined) this.#owner.onUpstreamHeaders(upstream, headers, endStream);
  }

  writeData(data: Buffer, endStream: boolean): void {
    const upstream = this.#takeUpstream(endStream);
    if (upstream !== undefined) this.#owner.onUpstreamData(upstream, data, endStream);
  }

  writeTrailers(trailers: HeaderMap): void {
    const upstream = this.#takeUpstream(true);
    if (upstream !== undefined) this.#owner.onUpstreamTrailers(upstream, trailers);
  }

  /** Whose response it is; with its end the attempt is over, whatever the host has left of it. */
  #takeUpstream(endStream: boolean): UpstreamRequest | undefined {
    const upstream = this.#begun?.upstream;
    if (endStream) upstream?.cancel();
    return upstream;
  }
}

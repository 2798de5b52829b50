/**
 * One request in the connection manager: policy before routing, the filters, timeouts, statistics
 * and the access log; answering-stream.ts has the way of its response. Talks to the codec through an
 * encoder and to the filters through callbacks; knows neither HTTP/1 nor upstreams.
 */
import type { HeldBytes } from '../loop/held-bytes.ts';
import { configsOf } from '../routing/route-context.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { Metadata, RequestDecoder, ResetReason, ResponseEncoder } from '../stream/codec.ts';
import type { RequestBody } from '../stream/filter.ts';
import { type ChainStream, FilterChain } from '../filter-chain/filter-chain.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import { StreamInfo } from '../stream/stream-info.ts';
import { AnsweringStream } from './answering-stream.ts';
import type { HttpConnection } from './connection.ts';
import { type CheckedRefusal, requestRefusal } from './request-checks.ts';
import { filtersOfStream } from '../filter-chain/active-filters.ts';
import { nextInfo, noteCodecBytes, noteReset, noteRoute } from './stream-facts.ts';
import { StreamTimers, type StreamTimeout } from './stream-timers.ts';
import { allowsUpgrade, upgradeType } from './upgrades.ts';

const NOTHING = Buffer.alloc(0);

export class HttpStream extends AnsweringStream implements RequestDecoder, ChainStream {
  info: StreamInfo;
  readonly heldByAll: HeldBytes;
  readonly bufferLimitBytes: number;
  protected readonly timers: StreamTimers;
  #wantsContinue = false;
  #requestPauses = 0;

  constructor(connection: HttpConnection, encoder: ResponseEncoder) {
    super(connection, encoder);
    const { manager } = connection;
    const { clock } = manager.parts.loop;
    this.heldByAll = manager.parts.loop.held;
    this.bufferLimitBytes = manager.parts.bufferLimitBytes;
    this.info = new StreamInfo(connection.info, clock.ms, clock.wallMs);
    this.info.protocol = connection.protocol;
    this.timers = new StreamTimers(this, manager);
  }

  get route(): ResolvedRoute | undefined {
    return this.info.route;
  }

  onExpectContinue(): void {
    if (this.manager.config.proxy100Continue) {
      this.#wantsContinue = true;
      return;
    }
    const headers = new HeaderMap();
    headers.status = 100;
    this.info.responseCode = 100;
    this.manager.ledger.informational(100);
    this.encoder.encode1xx(headers);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    const { info } = this;
    const manager = this.manager;
    info.requestHeaders = headers;
    info.protocol = this.connection.protocol;
    if (endStream) this.#completeRequest();
    this.timers.onRequestHeaders();
    if (this.#wantsContinue) headers.add('expect', '100-continue');
    const refused = requestRefusal(headers, info, manager);
    if (refused !== undefined) return this.#refuse(refused);
    this.#resolveRoute(headers);
    this.#startFilters(headers, endStream);
  }

  #refuse({ refusal, closes }: CheckedRefusal): void {
    if (typeof refusal === 'string') return this.encoder.refuseMessage(refusal, closes);
    if (closes) this.connection.endWithAnswer();
    this.answerHere(refusal, 0);
  }

  #startFilters(headers: HeaderMap, endStream: boolean): void {
    const { info } = this;
    const manager = this.manager;
    info.trace = manager.parts.tracing?.begin(headers, info);
    this.timers.onRoute(info.route, headers);
    if (manager.config.logMoments?.newRequest === true) this.logMoment('DownstreamStart');
    this.#buildChain();
    const upgrade = upgradeType(headers);
    if (upgrade !== '') {
      const isAllowed = allowsUpgrade(upgrade, info.route, manager.config.upgrades);
      // A request that no route takes is answered 404 by the router, whatever it asks for.
      if (!isAllowed && info.route !== undefined) return this.#refuseUpgrade();
      this.isUpgrade = isAllowed;
      if (isAllowed) manager.ledger.upgraded();
    }
    if (this.chain === undefined) this.terminal?.decodeHeaders(headers, endStream);
    else this.chain.decodeHeaders(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (this.isDone) return;
    this.info.bytesReceived += data.length;
    this.timers.onActivity();
    if (this.chain !== undefined && endStream && data.length > 0) {
      // As in Envoy, filters see a body before they see that it was all.
      this.#filterData(data, false);
      if (!this.isDone) this.decodeData(NOTHING, true);
      return;
    }
    if (endStream) this.#completeRequest();
    this.#filterData(data, endStream);
  }

  #filterData(data: Buffer, endStream: boolean): void {
    if (this.isBodyDropped) return;
    if (this.chain === undefined) return this.terminal?.decodeData(data, endStream);
    this.chain.decodeData(data, endStream);
    this.checkHeldBytes();
  }

  takeEvent(): void {
    this.manager.parts.loop.current = this;
  }

  decodeTrailers(trailers: HeaderMap): void {
    if (this.isDone) return;
    const refusal = this.manager.parts.policy.onRequestTrailers(trailers, this.info);
    if (refusal?.fault !== undefined) {
      this.encoder.refuseMessage(refusal.fault, true);
      return;
    }
    this.info.requestTrailers = trailers;
    this.#completeRequest();
    this.timers.onActivity();
    if (this.isBodyDropped) return;
    if (this.chain === undefined) this.terminal?.decodeTrailers(trailers);
    else this.chain.decodeTrailers(trailers);
  }

  decodeMetadata(metadata: Metadata): void {
    if (!this.isRequestDropped) this.terminal?.decodeMetadata?.(metadata);
  }

  onCodecError(status: number, details: string, body: string): void {
    if (this.isDone) return;
    this.connection.onProtocolError();
    this.answerHere({ status, body, details }, ResponseFlag.downstreamProtocolError);
  }

  onReset(reason: ResetReason, details = ''): void {
    if (this.isDone) return;
    this.manager.ledger.reset();
    noteReset(this.info, reason, details);
    this.finish();
  }

  onWriteBlocked(blocked: boolean): void {
    this.pauseResponse(blocked);
  }

  onTimeout(timeout: StreamTimeout): void {
    this.info.responseFlags |= timeout.flag;
    this.manager.ledger.timedOut(timeout.kind);
    if (!this.isResponseStarted) {
      this.sendLocalReply({ ...timeout.reply, status: this.isRequestComplete ? 504 : 408 });
    } else {
      this.info.responseCodeDetails = timeout.reply.details;
      this.resetStream();
    }
  }

  routeConfig(filterName: string): unknown {
    return this.info.route?.filterSettings.perFilterConfig.get(filterName);
  }

  routeConfigs(filterName: string): readonly unknown[] {
    const { route } = this.info;
    return route === undefined ? [] : configsOf(route.filterSettings, filterName);
  }

  clearRoute(): void {
    const headers = this.info.requestHeaders;
    if (headers !== undefined) this.#resolveRoute(headers);
  }

  continueDecoding(): void {
    // Only filters before the terminal one stop requests; they have callbacks of their own.
  }

  continueEncoding(): void {
    // As above: responses begin at the terminal filter.
  }

  recreateStream(body: RequestBody | undefined): void {
    const { info } = this;
    const headers = info.requestHeaders;
    if (this.isDone || headers === undefined) return;
    // Nothing that the old exchange does while it ends is meant for the client.
    this.isDone = true;
    info.upstreamCluster = info.route?.kind === 'cluster' ? info.route.clusterName : '';
    this.#endExchange();
    this.isDone = false;
    this.info = nextInfo(info, this.manager.parts.loop.clock);
    this.chain = undefined;
    this.terminal = undefined;
    this.isUpgrade = false;
    this.isResponseGiven = false;
    this.#requestPauses = 0;
    this.responsePauses = 0;
    this.connection.countStream();
    this.#resolveRoute(headers);
    const isBare = body === undefined || body.isEmpty;
    this.#startFilters(headers, isBare);
    if (!isBare) body.sendTo(this, true);
  }

  sendData(data: Buffer, endStream: boolean): void {
    if (this.isRequestDropped) return;
    this.info.bytesReceived += data.length;
    this.#filterData(data, endStream);
  }

  sendTrailers(trailers: HeaderMap): void {
    if (this.isRequestDropped) return;
    if (this.chain === undefined) this.terminal?.decodeTrailers(trailers);
    else this.chain.decodeTrailers(trailers);
  }

  pauseRequest(paused: boolean): void {
    if (this.isDone) return;
    this.#requestPauses += paused ? 1 : -1;
    this.manager.ledger.requestPaused(paused);
    this.encoder.pauseRequest(paused);
  }

  isPaused(side: 'request' | 'response'): boolean {
    return (side === 'request' ? this.#requestPauses : this.responsePauses) > 0;
  }

  #completeRequest(): void {
    this.isRequestComplete = true;
    this.info.lastDownstreamRxMs = this.manager.parts.loop.clock.ms;
    this.timers.onRequestComplete();
  }

  #resolveRoute(headers: HeaderMap): void {
    const { info } = this;
    noteRoute(info, this.manager.parts.routes.tableFor(headers)?.match(headers, info));
  }

  #buildChain(): void {
    const { parts } = this.manager;
    this.terminal = parts.terminal.create(this);
    const filters = parts.filters();
    if (filters.length === 0) return;
    const active = filtersOfStream(filters, this.info.route);
    if (active.length > 0) this.chain = new FilterChain(this, active, this.terminal);
  }

  #refuseUpgrade(): void {
    this.manager.ledger.answeredHere('upgrade_refused');
    this.connection.announceDrain();
    this.sendLocalReply({ status: 403, body: '', details: 'upgrade_failed' });
  }

  protected finish(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.timers.end();
    this.#endExchange();
    this.connection.onStreamEnd();
  }

  /** Says what there is to say of the exchange and lets go of its filters. */
  #endExchange(): void {
    const { info } = this;
    const manager = this.manager;
    const encoder = this.encoder;
    const { loop } = manager.parts;
    info.endMs = loop.clock.ms;
    info.lastDownstreamTxMs = info.firstDownstreamTxMs < 0 ? -1 : loop.clock.ms;
    try {
      noteCodecBytes(info, encoder);
      for (; this.#requestPauses > 0; this.#requestPauses--) encoder.pauseRequest(false);
    } catch (error) {
      this.manager.parts.loop.note(error);
    }
    try {
      this.terminal?.onDestroy();
    } catch (error) {
      this.manager.parts.loop.note(error);
    }
    this.chain?.destroy(loop);
    if (this.isUpgrade) manager.ledger.upgradeEnded();
    manager.ledger.ended(info, this.isResponseComplete ? info.endMs - info.startMs : -1);
    this.logMoment('DownstreamEnd');
    info.trace?.end(info);
  }
}

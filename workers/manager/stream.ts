/**
 * One request and its response in the connection manager: policy before routing, the filters, local
 * replies, timeouts, statistics and the access log. Talks to the codec through an encoder and to
 * the filters through callbacks; knows neither HTTP/1 nor upstreams.
 */
import type { HeldBytes } from '../loop/held-bytes.ts';
import { configsOf } from '../routing/route-context.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { Metadata, RequestDecoder, ResetReason, ResponseEncoder } from '../stream/codec.ts';
import type {
  LocalReply,
  RequestBody,
  TerminalCallbacks,
  TerminalFilter,
} from '../stream/filter.ts';
import { type ChainStream, FilterChain } from '../filter-chain/filter-chain.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import { type AccessLogType, StreamInfo } from '../stream/stream-info.ts';
import type { HttpConnection } from './connection.ts';
import { buildLocalReply, internalError, tooLarge } from '../filter-chain/local-reply.ts';
import type { ConnectionManager } from './manager.ts';
import { type CheckedRefusal, requestRefusal } from './request-checks.ts';
import { activeFilters } from '../filter-chain/active-filters.ts';
import { nextInfo, noteCodecBytes, noteReset, noteRoute } from './stream-facts.ts';
import { StreamTimers, type StreamTimeout } from './stream-timers.ts';
import { allowsUpgrade, upgradeType } from './upgrades.ts';

const NOTHING = Buffer.alloc(0);

export class HttpStream implements RequestDecoder, ChainStream, TerminalCallbacks {
  info: StreamInfo;
  readonly heldByAll: HeldBytes;
  readonly bufferLimitBytes: number;
  readonly #connection: HttpConnection;
  readonly #manager: ConnectionManager;
  readonly #encoder: ResponseEncoder;
  readonly #timers: StreamTimers;
  #chain: FilterChain | undefined = undefined;
  #terminal: TerminalFilter | undefined = undefined;
  isRequestComplete = false;
  isResponseStarted = false;
  #isDone = false;
  #isResponseComplete = false;
  #wantsContinue = false;
  #isUpgrade = false;
  /** An answer was made here: what still comes of the request is dropped. */
  #isAnsweredHere = false;
  #requestPauses = 0;
  #responsePauses = 0;
  /** The terminal filter has given the whole response, though filters may still hold some of it. */
  #isResponseGiven = false;

  constructor(connection: HttpConnection, encoder: ResponseEncoder) {
    const { manager } = connection;
    const { clock } = manager.parts.loop;
    this.#connection = connection;
    this.#manager = manager;
    this.heldByAll = manager.parts.loop.held;
    this.bufferLimitBytes = manager.parts.bufferLimitBytes;
    this.#encoder = encoder;
    this.info = new StreamInfo(connection.info, clock.ms, clock.wallMs);
    this.info.protocol = connection.protocol;
    this.#timers = new StreamTimers(this, manager);
  }

  get route(): ResolvedRoute | undefined {
    return this.info.route;
  }

  onExpectContinue(): void {
    if (this.#manager.config.proxy100Continue) {
      this.#wantsContinue = true;
      return;
    }
    const headers = new HeaderMap();
    headers.status = 100;
    this.info.responseCode = 100;
    this.#manager.ledger.informational(100);
    this.#encoder.encode1xx(headers);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    const { info } = this;
    const manager = this.#manager;
    info.requestHeaders = headers;
    info.protocol = this.#connection.protocol;
    if (endStream) this.#completeRequest();
    this.#timers.onRequestHeaders();
    if (this.#wantsContinue) headers.add('expect', '100-continue');
    const refused = requestRefusal(headers, info, manager);
    if (refused !== undefined) return this.#refuse(refused);
    this.#resolveRoute(headers);
    this.#startFilters(headers, endStream);
  }

  #refuse({ refusal, closes }: CheckedRefusal): void {
    if (typeof refusal === 'string') return this.#encoder.refuseMessage(refusal, closes);
    if (closes) this.#connection.endWithAnswer();
    this.#answerHere(refusal, 0);
  }

  #startFilters(headers: HeaderMap, endStream: boolean): void {
    const { info } = this;
    const manager = this.#manager;
    info.trace = manager.parts.tracing?.begin(headers, info);
    this.#timers.onRoute(info.route, headers);
    if (manager.config.logMoments?.newRequest === true) this.logMoment('DownstreamStart');
    this.#buildChain();
    const upgrade = upgradeType(headers);
    if (upgrade !== '') {
      const isAllowed = allowsUpgrade(upgrade, info.route, manager.config.upgrades);
      // A request that no route takes is answered 404 by the router, whatever it asks for.
      if (!isAllowed && info.route !== undefined) return this.#refuseUpgrade();
      this.#isUpgrade = isAllowed;
      if (isAllowed) manager.ledger.upgraded();
    }
    if (this.#chain === undefined) this.#terminal?.decodeHeaders(headers, endStream);
    else this.#chain.decodeHeaders(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (this.#isDone) return;
    this.info.bytesReceived += data.length;
    this.#timers.onActivity();
    if (this.#chain !== undefined && endStream && data.length > 0) {
      // As in Envoy, filters see a body before they see that it was all.
      this.#filterData(data, false);
      if (!this.#isDone) this.decodeData(NOTHING, true);
      return;
    }
    if (endStream) this.#completeRequest();
    this.#filterData(data, endStream);
  }

  #filterData(data: Buffer, endStream: boolean): void {
    if (this.#isAnsweredHere) return;
    if (this.#chain === undefined) return this.#terminal?.decodeData(data, endStream);
    this.#chain.decodeData(data, endStream);
    this.checkHeldBytes();
  }

  takeEvent(): void {
    this.#manager.parts.loop.current = this;
  }

  get isRequestDropped(): boolean {
    return this.#isDone || this.#isAnsweredHere;
  }

  checkHeldBytes(): void {
    const side = this.#chain?.overfullSide(this.bufferLimitBytes);
    if (side === undefined || this.isRequestDropped) return;
    this.#manager.ledger.answeredHere(`${side}_too_large`);
    this.sendLocalReply(tooLarge[side]);
  }

  decodeTrailers(trailers: HeaderMap): void {
    if (this.#isDone) return;
    const refusal = this.#manager.parts.policy.onRequestTrailers(trailers, this.info);
    if (refusal?.fault !== undefined) {
      this.#encoder.refuseMessage(refusal.fault, true);
      return;
    }
    this.info.requestTrailers = trailers;
    this.#completeRequest();
    this.#timers.onActivity();
    if (this.#isAnsweredHere) return;
    if (this.#chain === undefined) this.#terminal?.decodeTrailers(trailers);
    else this.#chain.decodeTrailers(trailers);
  }

  decodeMetadata(metadata: Metadata): void {
    if (!this.isRequestDropped) this.#terminal?.decodeMetadata?.(metadata);
  }

  onCodecError(status: number, details: string, body: string): void {
    if (this.#isDone) return;
    this.#connection.onProtocolError();
    this.#answerHere({ status, body, details }, ResponseFlag.downstreamProtocolError);
  }

  onReset(reason: ResetReason, details = ''): void {
    if (this.#isDone) return;
    this.#manager.ledger.reset();
    noteReset(this.info, reason, details);
    this.#finish();
  }

  onWriteBlocked(blocked: boolean): void {
    this.pauseResponse(blocked);
  }

  onTimeout(timeout: StreamTimeout): void {
    this.info.responseFlags |= timeout.flag;
    this.#manager.ledger.timedOut(timeout.kind);
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

  sendLocalReply(reply: LocalReply): void {
    this.#answerHere(reply, 0);
  }

  /** `flag` is not known yet where the answer is worded. */
  #answerHere(reply: LocalReply, flag: number): void {
    if (this.#isDone || (this.#isAnsweredHere && reply.replacesAnswer !== true)) return;
    const { info } = this;
    info.responseCodeDetails = reply.details;
    if (reply.closesConnection === true) this.#connection.endWithAnswer();
    this.#isAnsweredHere = true;
    if (this.isResponseStarted) {
      info.responseFlags |= flag;
      this.resetStream();
      return;
    }
    const { headers, body } = buildLocalReply(reply, info, this.#manager.parts.rewriteLocalReply);
    info.responseFlags |= flag;
    this.encodeHeaders(headers, body === undefined);
    if (body !== undefined) this.encodeData(body, true);
  }

  /**
   * The client gets 500 where it has nothing yet, past all filters, or sees its response break off;
   * the connection ends either way.
   */
  onException(): void {
    if (this.#isDone) return;
    this.info.responseFlags |= ResponseFlag.localReset;
    this.info.responseCodeDetails = 'internal_exception';
    this.#isAnsweredHere = true;
    try {
      this.#connection.endWithAnswer();
      if (this.isResponseStarted) this.resetStream();
      else this.writeHeaders(internalError(), true);
    } catch (error) {
      this.#manager.parts.loop.note(error);
    }
    if (this.#isDone) return;
    try {
      this.#encoder.resetStream();
    } catch (error) {
      this.#manager.parts.loop.note(error);
    }
    this.#finish();
  }

  resetStream(): void {
    if (this.#isDone) return;
    this.#manager.ledger.resetHere();
    this.#encoder.resetStream();
    this.#finish();
  }

  recreateStream(body: RequestBody | undefined): void {
    const { info } = this;
    const headers = info.requestHeaders;
    if (this.#isDone || headers === undefined) return;
    // Nothing that the old exchange does while it ends is meant for the client.
    this.#isDone = true;
    info.upstreamCluster = info.route?.kind === 'cluster' ? info.route.clusterName : '';
    this.#endExchange();
    this.#isDone = false;
    this.info = nextInfo(info, this.#manager.parts.loop.clock);
    this.#chain = undefined;
    this.#terminal = undefined;
    this.#isUpgrade = false;
    this.#isResponseGiven = false;
    this.#requestPauses = 0;
    this.#responsePauses = 0;
    this.#connection.countStream();
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
    if (this.#chain === undefined) this.#terminal?.decodeTrailers(trailers);
    else this.#chain.decodeTrailers(trailers);
  }

  encode1xx(headers: HeaderMap): void {
    if (this.#isDone || this.isResponseStarted) return;
    this.info.responseCode = headers.status;
    this.#manager.ledger.informational(headers.status);
    this.#manager.parts.policy.onInformational(headers, this.info);
    this.#encoder.encode1xx(headers);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.#isDone) return;
    if (endStream) this.#isResponseGiven = true;
    if (this.#chain === undefined) this.writeHeaders(headers, endStream);
    else this.#chain.encodeHeaders(headers, endStream);
  }

  encodeData(data: Buffer, endStream: boolean): void {
    if (this.#isDone) return;
    if (endStream) this.#isResponseGiven = true;
    if (this.#chain === undefined) return this.writeData(data, endStream);
    this.#chain.encodeData(data, endStream);
    this.checkHeldBytes();
  }

  encodeTrailers(trailers: HeaderMap): void {
    if (this.#isDone) return;
    this.#isResponseGiven = true;
    if (this.#chain === undefined) this.writeTrailers(trailers);
    else this.#chain.encodeTrailers(trailers);
  }

  encodeMetadata(metadata: Metadata): void {
    if (this.isRequestDropped) return;
    if (this.#encoder.encodeMetadata === undefined)
      this.#manager.ledger.unsupportedMetadata(this.info);
    else this.#encoder.encodeMetadata(metadata);
  }

  pauseRequest(paused: boolean): void {
    if (this.#isDone) return;
    this.#requestPauses += paused ? 1 : -1;
    this.#manager.ledger.requestPaused(paused);
    this.#encoder.pauseRequest(paused);
  }

  isPaused(side: 'request' | 'response'): boolean {
    return (side === 'request' ? this.#requestPauses : this.#responsePauses) > 0;
  }

  pauseResponse(paused: boolean): void {
    const responsePauses = this.#responsePauses;
    this.#responsePauses += paused ? 1 : -1;
    // An upstream that has given everything may already serve another request.
    if (this.#isDone || this.#isResponseGiven) return;
    if (responsePauses === 0 || this.#responsePauses === 0) {
      this.#terminal?.onDownstreamBlocked(paused);
    }
  }

  writeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.#isDone) return;
    const { info } = this;
    const manager = this.#manager;
    const { policy, loop } = manager.parts;
    this.isResponseStarted = true;
    info.responseHeaders = headers;
    info.responseCode = headers.status;
    info.firstDownstreamTxMs = loop.clock.ms;
    policy.onResponse(headers, info, loop.clock.wallMs);
    info.trace?.onResponse(headers);
    manager.ledger.answered(info, headers.status);
    if (!this.isRequestComplete) manager.ledger.answeredEarly();
    this.#connection.beforeResponse();
    this.#timers.onActivity();
    this.#encoder.encodeHeaders(headers, endStream);
    if (this.#isUpgrade && manager.config.logMoments?.tunnelEstablished === true) {
      if (headers.status < 300) this.logMoment('DownstreamTunnelSuccessfullyEstablished');
    }
    if (endStream) this.#finishResponse();
  }

  writeData(data: Buffer, endStream: boolean): void {
    if (this.#isDone) return;
    this.info.bytesSent += data.length;
    this.#timers.onActivity();
    this.#encoder.encodeData(data, endStream);
    if (endStream) this.#finishResponse();
  }

  writeTrailers(trailers: HeaderMap): void {
    if (this.#isDone) return;
    this.info.responseTrailers = trailers;
    this.#encoder.encodeTrailers(trailers);
    this.#finishResponse();
  }

  /** The client has all of it. */
  #finishResponse(): void {
    this.#isResponseComplete = true;
    this.#finish();
  }

  #completeRequest(): void {
    this.isRequestComplete = true;
    this.info.lastDownstreamRxMs = this.#manager.parts.loop.clock.ms;
    this.#timers.onRequestComplete();
  }

  #resolveRoute(headers: HeaderMap): void {
    const { info } = this;
    noteRoute(info, this.#manager.parts.routes.tableFor(headers)?.match(headers, info));
  }

  #buildChain(): void {
    const { filters, terminal } = this.#manager.parts;
    this.#terminal = terminal.create(this);
    if (filters.length === 0) return;
    const active = activeFilters(filters, this.info.route);
    if (active.length > 0) this.#chain = new FilterChain(this, active, this.#terminal);
  }

  #refuseUpgrade(): void {
    this.#manager.ledger.answeredHere('upgrade_refused');
    this.#connection.announceDrain();
    this.sendLocalReply({ status: 403, body: '', details: 'upgrade_failed' });
  }

  #finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#timers.end();
    this.#endExchange();
    this.#connection.onStreamEnd();
  }

  /** Says what there is to say of the exchange and lets go of its filters. */
  #endExchange(): void {
    const { info } = this;
    const manager = this.#manager;
    const encoder = this.#encoder;
    const { loop } = manager.parts;
    info.endMs = loop.clock.ms;
    info.lastDownstreamTxMs = info.firstDownstreamTxMs < 0 ? -1 : loop.clock.ms;
    try {
      noteCodecBytes(info, encoder);
      for (; this.#requestPauses > 0; this.#requestPauses--) encoder.pauseRequest(false);
    } catch (error) {
      this.#manager.parts.loop.note(error);
    }
    try {
      this.#terminal?.onDestroy();
    } catch (error) {
      this.#manager.parts.loop.note(error);
    }
    this.#chain?.destroy(loop);
    if (this.#isUpgrade) manager.ledger.upgradeEnded();
    manager.ledger.ended(info, this.#isResponseComplete ? info.endMs - info.startMs : -1);
    this.logMoment('DownstreamEnd');
    info.trace?.end(info);
  }

  logMoment(type: AccessLogType): void {
    this.info.accessLogType = type;
    for (const log of this.#manager.parts.accessLogs) log.log(this.info);
  }
}

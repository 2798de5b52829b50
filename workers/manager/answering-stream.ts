/**
 * The side of a stream that answers: responses on their way through the filters and to the codec,
 * and the answers that are made here, for a refusal, a limit or a failure.
 */
import type { Metadata, ResponseEncoder } from '../stream/codec.ts';
import type { LocalReply, TerminalFilter } from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import type { AccessLogType, StreamInfo } from '../stream/stream-info.ts';
import type { HttpConnection } from './connection.ts';
import type { FilterChain } from '../filter-chain/filter-chain.ts';
import { buildLocalReply, internalError, tooLarge } from '../filter-chain/local-reply.ts';
import type { ConnectionManager } from './manager.ts';
import type { StreamTimers } from './stream-timers.ts';

export abstract class AnsweringStream {
  abstract info: StreamInfo;
  abstract readonly bufferLimitBytes: number;
  isRequestComplete = false;
  isResponseStarted = false;
  protected readonly connection: HttpConnection;
  protected readonly manager: ConnectionManager;
  protected readonly encoder: ResponseEncoder;
  protected abstract readonly timers: StreamTimers;
  protected chain: FilterChain | undefined = undefined;
  protected terminal: TerminalFilter | undefined = undefined;
  protected isDone = false;
  protected isResponseComplete = false;
  protected isUpgrade = false;
  /** An answer was made here: what still comes of the request is dropped. */
  protected isAnsweredHere = false;
  /** The request has begun again without its body. */
  #isBodyLeft = false;
  protected responsePauses = 0;
  /** The terminal filter has given the whole response, though filters may still hold some of it. */
  protected isResponseGiven = false;

  protected constructor(connection: HttpConnection, encoder: ResponseEncoder) {
    this.connection = connection;
    this.manager = connection.manager;
    this.encoder = encoder;
  }

  /** The exchange is over, whichever way. */
  protected abstract finish(): void;

  get isRequestDropped(): boolean {
    return this.isDone || this.isAnsweredHere;
  }

  protected get isBodyDropped(): boolean {
    return this.isAnsweredHere || this.#isBodyLeft;
  }

  abstract takeEvent(): void;
  abstract recreateStream(body: undefined): void;

  restartRequest(): void {
    const flush = (): void => {
      if (this.isDone || this.isResponseStarted) return;
      this.takeEvent();
      this.isAnsweredHere = false;
      this.#isBodyLeft = !this.isRequestComplete;
      this.recreateStream(undefined);
    };
    this.manager.parts.loop.flushLater({ flush });
  }

  checkHeldBytes(): void {
    const side = this.chain?.overfullSide(this.bufferLimitBytes);
    if (side === undefined || this.isRequestDropped) return;
    this.manager.ledger.answeredHere(`${side}_too_large`);
    this.sendLocalReply(tooLarge[side]);
  }

  sendLocalReply(reply: LocalReply): void {
    this.answerHere(reply, 0);
  }

  /** `flag` is not known yet where the answer is worded. */
  protected answerHere(reply: LocalReply, flag: number): void {
    if (this.isDone || (this.isAnsweredHere && reply.replacesAnswer !== true)) return;
    const { info } = this;
    info.responseCodeDetails = reply.details;
    if (reply.closesConnection === true) this.connection.endWithAnswer();
    this.isAnsweredHere = true;
    if (this.isResponseStarted) {
      info.responseFlags |= flag;
      this.resetStream();
      return;
    }
    const { headers, body } = buildLocalReply(reply, info, this.manager.parts.rewriteLocalReply);
    info.responseFlags |= flag;
    this.encodeHeaders(headers, body === undefined);
    if (body !== undefined) this.encodeData(body, true);
  }

  /**
   * The client gets 500 where it has nothing yet, past all filters, or sees its response break off;
   * the connection ends either way.
   */
  onException(): void {
    if (this.isDone) return;
    this.info.responseFlags |= ResponseFlag.localReset;
    this.info.responseCodeDetails = 'internal_exception';
    this.isAnsweredHere = true;
    try {
      this.connection.endWithAnswer();
      if (this.isResponseStarted) this.resetStream();
      else this.writeHeaders(internalError(), true);
    } catch (error) {
      this.manager.parts.loop.note(error);
    }
    if (this.isDone) return;
    try {
      this.encoder.resetStream();
    } catch (error) {
      this.manager.parts.loop.note(error);
    }
    this.finish();
  }

  resetStream(): void {
    if (this.isDone) return;
    this.manager.ledger.resetHere();
    this.encoder.resetStream();
    this.finish();
  }

  encode1xx(headers: HeaderMap): void {
    if (this.isDone || this.isResponseStarted) return;
    this.info.responseCode = headers.status;
    this.manager.ledger.informational(headers.status);
    this.manager.parts.policy.onInformational(headers, this.info);
    this.encoder.encode1xx(headers);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.isDone) return;
    if (endStream) this.isResponseGiven = true;
    if (this.chain === undefined) this.writeHeaders(headers, endStream);
    else this.chain.encodeHeaders(headers, endStream);
  }

  encodeData(data: Buffer, endStream: boolean): void {
    if (this.isDone) return;
    if (endStream) this.isResponseGiven = true;
    if (this.chain === undefined) return this.writeData(data, endStream);
    this.chain.encodeData(data, endStream);
    this.checkHeldBytes();
  }

  encodeTrailers(trailers: HeaderMap): void {
    if (this.isDone) return;
    this.isResponseGiven = true;
    if (this.chain === undefined) this.writeTrailers(trailers);
    else this.chain.encodeTrailers(trailers);
  }

  encodeMetadata(metadata: Metadata): void {
    if (this.isRequestDropped) return;
    if (this.encoder.encodeMetadata === undefined)
      this.manager.ledger.unsupportedMetadata(this.info);
    else this.encoder.encodeMetadata(metadata);
  }

  pauseResponse(paused: boolean): void {
    const responsePauses = this.responsePauses;
    this.responsePauses += paused ? 1 : -1;
    // An upstream that has given everything may already serve another request.
    if (this.isDone || this.isResponseGiven) return;
    if (responsePauses === 0 || this.responsePauses === 0) {
      this.terminal?.onDownstreamBlocked(paused);
    }
  }

  writeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.isDone) return;
    const { info } = this;
    const manager = this.manager;
    const { policy, loop } = manager.parts;
    this.isResponseStarted = true;
    info.responseHeaders = headers;
    info.firstDownstreamTxMs = loop.clock.ms;
    policy.onResponse(headers, info, loop.clock.wallMs);
    info.responseCode = headers.status;
    info.trace?.onResponse(headers);
    manager.ledger.answered(info, headers.status);
    if (!this.isRequestComplete) manager.ledger.answeredEarly();
    this.connection.beforeResponse();
    this.timers.onActivity();
    this.encoder.encodeHeaders(headers, endStream);
    if (this.isUpgrade && manager.config.logMoments?.tunnelEstablished === true) {
      if (headers.status < 300) this.logMoment('DownstreamTunnelSuccessfullyEstablished');
    }
    if (endStream) this.#finishResponse();
  }

  writeData(data: Buffer, endStream: boolean): void {
    if (this.isDone) return;
    this.info.bytesSent += data.length;
    this.timers.onActivity();
    this.encoder.encodeData(data, endStream);
    if (endStream) this.#finishResponse();
  }

  writeTrailers(trailers: HeaderMap): void {
    if (this.isDone) return;
    this.info.responseTrailers = trailers;
    this.encoder.encodeTrailers(trailers);
    this.#finishResponse();
  }

  /** The client has all of it. */
  #finishResponse(): void {
    this.isResponseComplete = true;
    this.finish();
  }

  logMoment(type: AccessLogType): void {
    this.info.accessLogType = type;
    for (const log of this.manager.parts.accessLogs) log.log(this.info);
  }
}

/**
 * One request and its response with their processor: the call, the time that each answer may take,
 * what comes of answers, and how an exchange ends that the processor can no longer follow.
 */
import type { ProcessingMode } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { FilterCallbacks } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { refuseLargeRequest, refuseLargeResponse } from '../../common/kept-body.ts';
import { Direction } from './direction.ts';
import { type DirectionOwner, isDuplex, type Side } from './direction-owner.ts';
import { immediateReply } from './immediate-reply.ts';
import { MessageBuffer } from './message-buffer.ts';
import { targetOf } from './message-targets.ts';
import type { CommonAnswer, HeaderPair, Part, ProcessorAnswer } from './messages.ts';
import { areAlike, modeOf } from './modes.ts';
import type { ProcessorCallbacks } from './processor.ts';
import { type ExchangeParts, ProcessorLine, type SentPart } from './processor-line.ts';
import { keepReceived } from './received-metadata.ts';
import type { RequestSettings } from './settings.ts';

const NO_HEADERS: readonly HeaderPair[] = [];
const TIMED_OUT = 'ext_proc_error_per-message_timeout_exceeded';
const TIMEOUT_STATUS = 504;
const REQUEST_TIMER = 0;

export class Exchange implements DirectionOwner, ProcessorCallbacks, TimerOwner {
  readonly #parts: ExchangeParts;
  readonly #settings: RequestSettings;
  readonly #callbacks: FilterCallbacks;
  readonly request: Direction;
  readonly response: Direction;
  readonly #timers: readonly [LoopTimer, LoopTimer];
  #mode: ProcessingMode;
  readonly #line: ProcessorLine;
  #hasLongerTime = false;
  /** The answer at work was none that could be carried out. */
  #isWrong = false;
  readonly sendsBodyEarly: boolean;
  readonly keepsContentLength: boolean;
  isOver = false;
  isAnswered = false;

  constructor(parts: ExchangeParts, settings: RequestSettings, callbacks: FilterCallbacks) {
    this.#parts = parts;
    this.#settings = settings;
    this.#callbacks = callbacks;
    this.#mode = settings.mode;
    this.sendsBodyEarly = parts.options.sendsBodyEarly;
    this.keepsContentLength = parts.options.keepsContentLength;
    this.#line = new ProcessorLine(parts, settings, callbacks.info);
    this.#timers = [new LoopTimer(this, REQUEST_TIMER), new LoopTimer(this, REQUEST_TIMER + 1)];
    this.request = this.#direction('request');
    this.response = this.#direction('response');
  }

  get isObserver(): boolean {
    return this.#parts.options.isObserver;
  }

  get isCongested(): boolean {
    return this.#line.isCongested;
  }

  sendHeaders(side: Side, headers: HeaderMap, endOfStream: boolean): void {
    const sent = this.#parts.sent(headers);
    this.#send(side, { part: `${side}_headers`, headers: sent, endOfStream });
  }

  sendBody(side: Side, body: Buffer, endOfStream: boolean): void {
    this.#send(side, { part: `${side}_body`, headers: NO_HEADERS, body, endOfStream });
  }

  sendTrailers(side: Side, trailers: HeaderMap): void {
    const headers = this.#parts.sent(trailers);
    this.#send(side, { part: `${side}_trailers`, headers, endOfStream: false });
  }

  changeHeaders(
    side: Side,
    headers: HeaderMap,
    answer: CommonAnswer,
    knowsLength: boolean,
  ): boolean {
    const isChanged = this.#change(headers, answer, knowsLength);
    if (isChanged && side === 'request') this.#chooseRoute(answer);
    return isChanged;
  }

  changeTrailers(trailers: HeaderMap, answer: CommonAnswer): boolean {
    return this.#change(trailers, answer, false);
  }

  onSpurious(why: string): void {
    this.#isWrong = true;
    this.#parts.count('spurious_msgs_received');
    if (this.#mayGoOn()) this.#failOpen();
    else this.#refuse(this.#parts.options.statusOnError, why);
  }

  /** A change that may not be made ends the exchange, whatever failures do otherwise. */
  fail(details: string): void {
    this.#refuse(this.#parts.options.statusOnError, details);
  }

  refuseTooLarge(side: Side): void {
    this.stop();
    this.isAnswered = true;
    if (side === 'request') refuseLargeRequest(this.#parts.context, this.#callbacks);
    else refuseLargeResponse(this.#parts.context, this.#callbacks);
  }

  onAnswer(answer: ProcessorAnswer): void {
    if (this.isOver || this.isObserver) return;
    if (answer.timeoutMs !== undefined) return this.#onLongerTime(answer.timeoutMs);
    const { options } = this.#parts;
    const { received } = this.#settings.metadata;
    if (answer.metadata !== undefined && received.length > 0) {
      keepReceived(this.#callbacks.info, answer.metadata, received);
    }
    const what = answer.answer;
    if (what.part === 'other') return this.onSpurious('unhandled_message');
    if (what.part === 'immediate') {
      if (options.refusesImmediateResponses) {
        return this.onSpurious('unhandled_immediate_response_due_to_config_disabled_it');
      }
      return this.#answerAtOnce(what.immediate);
    }
    this.#isWrong = false;
    this.#hasLongerTime = false;
    this.#overrideMode(answer.mode, what.part);
    this.#carryOut(what.part, what.common);
    if (!this.#isWrong) this.#parts.count('stream_msgs_received');
  }

  onProcessorEnd(): void {
    if (this.isOver) return;
    this.#parts.count('server_half_closed');
    this.#goOn();
  }

  onProcessorError(details: string, hasBroken: boolean): void {
    if (this.isOver) return;
    const { count, options } = this.#parts;
    if (hasBroken) {
      count('streams_failed');
      count('server_half_closed');
      this.#line.onBroken();
    } else count('http_not_ok_resp_received');
    if (!this.#mayGoOn()) return this.#refuse(options.statusOnError, details);
    if (hasBroken) {
      count('server_half_closed');
      count('streams_closed');
    }
    this.#failOpen();
  }

  onProcessorWritable(): void {
    this.request.onWritable();
    this.response.onWritable();
  }

  onException(): void {
    this.#callbacks.onException();
  }

  onTimer(kind: number): void {
    if (this.isOver) return;
    const direction = kind === REQUEST_TIMER ? this.request : this.response;
    if (!direction.isWaiting) return;
    this.#parts.count('message_timeouts');
    if (this.#mayGoOn()) this.#failOpen();
    else this.#refuse(TIMEOUT_STATUS, TIMED_OUT);
  }

  stop(): void {
    this.isOver = true;
    for (const timer of this.#timers) timer.disarm();
    this.#line.close();
    this.request.drop();
    this.response.drop();
  }

  onDestroy(): void {
    if (this.isObserver && !this.isOver) this.#line.linger();
    this.stop();
  }

  #direction(side: Side): Direction {
    const { loop, bufferLimitBytes } = this.#parts.context;
    const buffer = new MessageBuffer(targetOf(side, this.#callbacks), loop.held, bufferLimitBytes);
    return new Direction(side, modeOf(this.#mode, side), this, buffer);
  }

  #send(side: Side, sent: SentPart): void {
    if (this.isOver || !this.#line.open(this) || this.isOver) return;
    const { options } = this.#parts;
    const direction = side === 'request' ? this.request : this.response;
    if (!this.isObserver && (sent.part.endsWith('headers') || !isDuplex(direction.mode))) {
      this.#armTimer(side, options.messageTimeoutMs);
    }
    this.#line.send(side, sent, this.#mode);
  }

  #armTimer(side: Side, ms: number): void {
    const { timers } = this.#parts.context.loop;
    timers.list(Math.max(1, ms)).arm(this.#timers[side === 'request' ? 0 : 1]);
  }

  #carryOut(part: Part, common: CommonAnswer): void {
    const isRequest = part.startsWith('request');
    const direction = isRequest ? this.request : this.response;
    this.#timers[isRequest ? 0 : 1].disarm();
    if (part.endsWith('headers')) direction.onHeadersAnswer(common);
    else if (part.endsWith('body')) direction.onBodyAnswer(common);
    else direction.onTrailersAnswer(common);
    const [timer] = isRequest ? this.#timers : this.#timers.slice(1);
    if (this.isOver || timer?.isArmed === true || !direction.isWaiting) return;
    this.#armTimer(direction.side, this.#parts.options.messageTimeoutMs);
  }

  #change(headers: HeaderMap, answer: CommonAnswer, knowsLength: boolean): boolean {
    const { headers: mutation } = answer;
    const fault = mutation && this.#parts.mutations.apply(headers, mutation, knowsLength);
    if (fault !== undefined) this.fail(fault);
    return fault === undefined;
  }

  #chooseRoute({ clearsRoute, headers }: CommonAnswer): void {
    const { options, count } = this.#parts;
    const isChanged = headers !== undefined && headers.set.length + headers.remove.length > 0;
    const { routeCacheAction } = options;
    if (!isChanged) {
      if (clearsRoute) count('clear_route_cache_ignored');
    } else if (routeCacheAction === 'CLEAR') this.#callbacks.clearRoute();
    else if (!clearsRoute) return;
    else if (routeCacheAction === 'RETAIN') count('clear_route_cache_disabled');
    else this.#callbacks.clearRoute();
  }

  #onLongerTime(ms: number): void {
    const { options, count } = this.#parts;
    const waiting = [this.request, this.response].filter(({ isWaiting }) => isWaiting);
    const isAllowed = ms >= 1 && ms <= options.maxMessageTimeoutMs && !this.#hasLongerTime;
    if (!isAllowed || waiting.length === 0) return count('override_message_timeout_ignored');
    this.#hasLongerTime = true;
    count('override_message_timeout_received');
    for (const { side } of waiting) this.#armTimer(side, ms);
  }

  /** With the answer to headers a processor may say how the rest is to be processed. */
  #overrideMode(mode: ProcessingMode | undefined, part: Part): void {
    const { options } = this.#parts;
    if (mode === undefined || !options.allowsModeOverride || options.sendsBodyEarly) return;
    const direction = part.startsWith('request') ? this.request : this.response;
    if (!part.endsWith('headers') || !direction.awaitsHeaders) return;
    const { allowedOverrideModes: allowed } = options;
    if (allowed.length > 0 && !allowed.some((each) => areAlike(each, mode))) return;
    this.#mode = mode;
    this.request.mode = modeOf(mode, 'request');
    this.response.mode = modeOf(mode, 'response');
  }

  #answerAtOnce(immediate: Parameters<typeof immediateReply>[0]): void {
    const { count, mutations } = this.#parts;
    count('stream_msgs_received');
    count('immediate_responses_sent');
    this.#end();
    this.#callbacks.sendLocalReply(immediateReply(immediate, mutations));
  }

  #refuse(status: number, details: string): void {
    this.#parts.count('immediate_responses_sent');
    this.#end();
    this.#callbacks.sendLocalReply({ status, body: '', details });
  }

  #end(): void {
    this.isAnswered = true;
    this.stop();
  }

  #mayGoOn(): boolean {
    return this.#settings.failureModeAllow && !this.request.isLost && !this.response.isLost;
  }

  #failOpen(): void {
    this.#parts.count('failure_mode_allowed');
    this.#goOn();
  }

  /** Everything passes, as it came, from now on. */
  #goOn(): void {
    this.isOver = true;
    for (const timer of this.#timers) timer.disarm();
    this.#line.close();
    this.request.letGo();
    this.response.letGo();
  }
}

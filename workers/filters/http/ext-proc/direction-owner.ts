/** What the two directions of an exchange need of it, and how their modes decide. */
import { BodyMode } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { CommonAnswer } from './messages.ts';

export type Side = 'request' | 'response';

/** What a message's mode says of it. */
export interface DirectionMode {
  readonly sendsHeaders: boolean;
  readonly body: number;
  readonly sendsTrailers: boolean;
}

/** The filter, as a direction of it needs it. */
export interface DirectionOwner {
  /** Nothing is processed any more: the message passes, or was answered here. */
  readonly isOver: boolean;
  readonly isAnswered: boolean;
  readonly isObserver: boolean;
  readonly isCongested: boolean;
  readonly sendsBodyEarly: boolean;
  readonly keepsContentLength: boolean;
  sendHeaders(side: Side, headers: HeaderMap, endOfStream: boolean): void;
  sendBody(side: Side, body: Buffer, endOfStream: boolean): void;
  sendTrailers(side: Side, trailers: HeaderMap): void;
  /** False where a change may not be: the exchange has ended then. */
  changeHeaders(
    side: Side,
    headers: HeaderMap,
    answer: CommonAnswer,
    knowsLength: boolean,
  ): boolean;
  changeTrailers(trailers: HeaderMap, answer: CommonAnswer): boolean;
  /** An answer that nothing waits for, with what is said of it. */
  onSpurious(why: string): void;
  fail(details: string): void;
  refuseTooLarge(side: Side): void;
}

/** The body is sent as one. */
export function isWhole({ body }: DirectionMode): boolean {
  return body === BodyMode.buffered || body === BodyMode.bufferedPartial;
}

export function passesBody({ body }: DirectionMode): boolean {
  return body === BodyMode.none || body === BodyMode.grpc;
}

/** The processor takes pieces and gives others back, in its own time. */
export function isDuplex({ body }: DirectionMode): boolean {
  return body === BodyMode.fullDuplex;
}

/** A processor that only watches is never waited for: what it would have to keep is left out. */
export function isObserved(mode: DirectionMode, owner: DirectionOwner): boolean {
  return !passesBody(mode) && !isWhole(mode) && !owner.isCongested;
}

/** Pieces are sent before the answer to the headers is there. */
export function sendsEarly(mode: DirectionMode, owner: DirectionOwner): boolean {
  return isDuplex(mode) || (owner.sendsBodyEarly && mode.body === BodyMode.streamed);
}

/** How long the body will be is not known when its headers go on. */
export function changesLength(mode: DirectionMode, owner: DirectionOwner): boolean {
  const isKnown = passesBody(mode) || mode.body === BodyMode.buffered;
  return !isKnown && !owner.keepsContentLength && !owner.isObserver;
}

/** Processing modes: what each direction takes of one, and which are alike. */
import {
  SendMode,
  type ProcessingMode,
} from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { DirectionMode, Side } from './direction-owner.ts';

export function modeOf(mode: ProcessingMode, side: Side): DirectionMode {
  const isRequest = side === 'request';
  return {
    sendsHeaders: (isRequest ? mode.requestHeaders : mode.responseHeaders) !== SendMode.skip,
    body: isRequest ? mode.requestBody : mode.responseBody,
    sendsTrailers: (isRequest ? mode.requestTrailers : mode.responseTrailers) === SendMode.send,
  };
}

/** How the headers of requests are sent was decided before. */
export function areAlike(first: ProcessingMode, second: ProcessingMode): boolean {
  return (
    first.responseHeaders === second.responseHeaders &&
    first.requestBody === second.requestBody &&
    first.responseBody === second.responseBody &&
    first.requestTrailers === second.requestTrailers &&
    first.responseTrailers === second.responseTrailers
  );
}

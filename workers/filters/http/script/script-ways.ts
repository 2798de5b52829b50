/** How a message goes on behind a script: what differs between requests and responses. */
import type { Stream } from '../../../../shared/scripts/filter.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { FilterCallbacks, LocalReply } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';

export interface Way {
  readonly isRequest: boolean;
  continueHeaders(callbacks: FilterCallbacks): void;
  inject(callbacks: FilterCallbacks, data: Buffer, isEnd: boolean): void;
  injectTrailers(callbacks: FilterCallbacks, trailers: HeaderMap): void;
  pause(callbacks: FilterCallbacks, isPaused: boolean): void;
  reply(callbacks: FilterCallbacks, reply: LocalReply): void;
  refuseTooLarge(callbacks: FilterCallbacks, context: FilterContext): void;
}

/** The parts of one direction of a stream. */
export interface SideParts {
  readonly callbacks: FilterCallbacks;
  readonly stream: Stream;
  readonly map: HeaderMap;
}

/**
 * `passing`: nothing is awaited. `busy`: a function has not settled. `collecting`: the body is kept
 * until it is whole. `open`: the module is left out from here on. `over`: answered, or at its end.
 */
export type Mode = 'passing' | 'busy' | 'collecting' | 'open' | 'over';

export const REQUEST_WAY: Way = {
  isRequest: true,
  continueHeaders: (callbacks) => callbacks.continueDecoding(),
  inject: (callbacks, data, isEnd) => callbacks.injectRequestData(data, isEnd),
  injectTrailers: (callbacks, trailers) => callbacks.injectRequestTrailers(trailers),
  pause: (callbacks, isPaused) => callbacks.pauseRequest(isPaused),
  reply: (callbacks, reply) => callbacks.sendLocalReply(reply),
  refuseTooLarge: (callbacks, context) => {
    context.countRequestTooLarge();
    callbacks.sendLocalReply(REQUEST_TOO_LARGE);
  },
};

export const RESPONSE_WAY: Way = {
  isRequest: false,
  continueHeaders: (callbacks) => callbacks.continueEncoding(),
  inject: (callbacks, data, isEnd) => callbacks.injectResponseData(data, isEnd),
  injectTrailers: (callbacks, trailers) => callbacks.injectResponseTrailers(trailers),
  pause: (callbacks, isPaused) => callbacks.pauseResponse(isPaused),
  reply: (callbacks, reply) => callbacks.sendLocalReply({ ...reply, replacesAnswer: true }),
  refuseTooLarge: (callbacks, context) => {
    context.countResponseTooLarge();
    callbacks.sendLocalReply(RESPONSE_TOO_LARGE);
  },
};

const REQUEST_TOO_LARGE: LocalReply = {
  status: 413,
  body: 'Payload Too Large',
  details: 'request_payload_too_large',
  closesConnection: true,
};
const RESPONSE_TOO_LARGE: LocalReply = {
  status: 500,
  body: 'Internal Server Error',
  details: 'response_payload_too_large',
  replacesAnswer: true,
};

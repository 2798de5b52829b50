/** The chain as a direction of an exchange uses it. */
import type { FilterCallbacks } from '../../../stream/filter.ts';
import type { Side } from './direction-owner.ts';
import type { MessageTarget } from './message-buffer.ts';

export function targetOf(side: Side, callbacks: FilterCallbacks): MessageTarget {
  return side === 'request' ? requestOf(callbacks) : responseOf(callbacks);
}

function requestOf(callbacks: FilterCallbacks): MessageTarget {
  return {
    resume: () => callbacks.continueDecoding(),
    addBody: (data) => callbacks.addRequestBody(data),
    inject: (data, endStream) => callbacks.injectRequestData(data, endStream),
    injectTrailers: (trailers) => callbacks.injectRequestTrailers(trailers),
    pause: (paused) => callbacks.pauseRequest(paused),
    isBlocked: () => callbacks.isPaused('request'),
  };
}

function responseOf(callbacks: FilterCallbacks): MessageTarget {
  return {
    resume: () => callbacks.continueEncoding(),
    addBody: (data) => callbacks.addResponseBody(data),
    inject: (data, endStream) => callbacks.injectResponseData(data, endStream),
    injectTrailers: (trailers) => callbacks.injectResponseTrailers(trailers),
    pause: (paused) => callbacks.pauseResponse(paused),
    isBlocked: () => callbacks.isPaused('response'),
  };
}

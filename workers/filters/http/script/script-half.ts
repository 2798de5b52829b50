/** A module's functions for one direction of a stream, made once per version of the module. */
import type {
  FilterHandlers,
  Headers,
  RequestHeaders,
  ResponseHeaders,
  Stream,
} from '../../../../shared/scripts/filter.ts';

/** Undefined: the module has no such function. */
export interface Half {
  /** None of the others is there either. */
  readonly isEmpty: boolean;
  readonly onHeaders: ((headers: Headers, stream: Stream) => unknown) | undefined;
  readonly onBody: ((body: Buffer, stream: Stream) => unknown) | undefined;
  readonly onChunk: ((chunk: Buffer, stream: Stream, isLast: boolean) => unknown) | undefined;
  readonly onTrailers: ((trailers: Headers, stream: Stream) => unknown) | undefined;
}

type Named = Readonly<Record<string, unknown>>;

export function requestHalf(handlers: FilterHandlers): Half {
  return halfOf(handlers, {
    onHeaders: (headers, stream) => handlers.onRequestHeaders?.(headers as RequestHeaders, stream),
    onBody: (body, stream) => handlers.onRequestBody?.(body, stream),
    onChunk: (chunk, stream, isLast) => handlers.onRequestChunk?.(chunk, stream, isLast),
    onTrailers: (trailers, stream) => handlers.onRequestTrailers?.(trailers, stream),
    of: 'Request',
  });
}

export function responseHalf(handlers: FilterHandlers): Half {
  return halfOf(handlers, {
    onHeaders: (headers, stream) =>
      handlers.onResponseHeaders?.(headers as ResponseHeaders, stream),
    onBody: (body, stream) => handlers.onResponseBody?.(body, stream),
    onChunk: (chunk, stream, isLast) => handlers.onResponseChunk?.(chunk, stream, isLast),
    onTrailers: (trailers, stream) => handlers.onResponseTrailers?.(trailers, stream),
    of: 'Response',
  });
}

type Calls = { readonly [Name in Exclude<keyof Half, 'isEmpty'>]-?: NonNullable<Half[Name]> } & {
  readonly of: 'Request' | 'Response';
};

function halfOf(handlers: FilterHandlers, { of, ...calls }: Calls): Half {
  const named = handlers as Named;
  const has = (name: string): boolean => {
    const found = named[`on${of}${name}`];
    if (found === undefined || typeof found === 'function') return found !== undefined;
    throw new TypeError(`on${of}${name} is no function`);
  };
  const [headers, body, chunk, trailers] = [
    has('Headers'),
    has('Body'),
    has('Chunk'),
    has('Trailers'),
  ];
  if (body && chunk) throw new TypeError(`on${of}Body and on${of}Chunk exclude each other`);
  return {
    isEmpty: !(headers || body || chunk || trailers),
    onHeaders: headers ? calls.onHeaders : undefined,
    onBody: body ? calls.onBody : undefined,
    onChunk: chunk ? calls.onChunk : undefined,
    onTrailers: trailers ? calls.onTrailers : undefined,
  };
}

/** Messages of tests, and the header maps that the data path has for them. */
import { addFields, ScriptHeaders } from '../../workers/filters/http/script/script-headers.ts';
import type { HeaderFields, Headers } from '../../shared/scripts/filter.ts';
import { HeaderMap } from '../../workers/stream/header-map.ts';
import type {
  ReceivedMessage,
  ReceivedRequest,
  TestBody,
  TestRequest,
  TestResponse,
} from './testing-api.ts';

/** A message as a codec gives it on. */
export interface Message {
  readonly headers: HeaderMap;
  readonly pieces: readonly Buffer[];
  readonly trailers: HeaderMap | undefined;
}

export function requestMessage(request: TestRequest): Message {
  const { method, path = '/', authority = 'test', scheme = 'http', body, trailers } = request;
  const headers = new HeaderMap();
  headers.method = method ?? (body === undefined ? 'GET' : 'POST');
  headers.path = path;
  headers.authority = authority;
  headers.scheme = scheme;
  return message(headers, request.headers, { body, trailers });
}

export function responseMessage({ status = 200, ...rest }: TestResponse): Message {
  const headers = new HeaderMap();
  headers.status = status;
  return message(headers, rest.headers, rest);
}

interface Rest {
  readonly body?: TestBody | undefined;
  readonly trailers?: HeaderFields | undefined;
}

function message(
  headers: HeaderMap,
  fields: HeaderFields | undefined,
  { body, trailers }: Rest,
): Message {
  const pieces = piecesOf(body);
  addFields(headers, fields);
  if (pieces.length > 0 && trailers === undefined) {
    headers.set('content-length', String(Buffer.concat(pieces).length));
  }
  return { headers, pieces, trailers: trailers && trailerMap(trailers) };
}

function trailerMap(fields: HeaderFields): HeaderMap {
  const map = new HeaderMap();
  addFields(map, fields);
  return map;
}

function piecesOf(body: TestBody | undefined): readonly Buffer[] {
  if (body === undefined) return [];
  const pieces = typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
  return pieces.map((piece) => Buffer.from(piece)).filter(({ length }) => length > 0);
}

/** Collects a message as it arrives. */
export class Collected implements ReceivedMessage {
  readonly map: HeaderMap;
  readonly headers: Headers;
  trailers: Headers | undefined = undefined;
  readonly #pieces: Buffer[] = [];

  constructor(map: HeaderMap) {
    this.map = map;
    this.headers = new ScriptHeaders(map);
  }

  add(data: Buffer): void {
    this.#pieces.push(Buffer.from(data));
  }

  end(trailers: HeaderMap): void {
    this.trailers = new ScriptHeaders(trailers.clone());
  }

  get body(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  text(): string {
    return this.body.toString();
  }

  json(): unknown {
    return JSON.parse(this.text()) as unknown;
  }
}

export class CollectedRequest extends Collected implements ReceivedRequest {
  get method(): string {
    return this.map.method;
  }

  get path(): string {
    return this.map.path;
  }

  get authority(): string {
    return this.map.authority;
  }
}

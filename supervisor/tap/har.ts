/** Recorded requests as entries of a HAR file (1.2), which browsers' developer tools open. */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import type { HttpTrace, TraceHeader, TraceMessage } from './trace-json.ts';

export const HAR_OPENING =
  '{"log":{"version":"1.2","creator":{"name":"sluice","version":"1"},"entries":[\n';
export const HAR_END = '\n]}}\n';

/** A trace says nothing of the protocol's version. */
const VERSION = 'unknown';
const PSEUDO = /^:/;

export function harEntry(trace: HttpTrace): JsonObject {
  const { request = {}, response = {}, upstream_connection: upstream } = trace;
  const begunMs = Date.parse(request.headers_received_time ?? '') || 0;
  const answeredMs = Date.parse(response.headers_received_time ?? '') || begunMs;
  const waitMs = Math.max(0, answeredMs - begunMs);
  const server = upstream?.remote_address?.socket_address;
  return {
    startedDateTime: new Date(begunMs).toISOString(),
    time: waitMs,
    request: harRequest(request),
    response: harResponse(response),
    cache: {},
    timings: { send: 0, wait: waitMs, receive: 0 },
    ...(server?.address !== undefined && {
      serverIPAddress: server.address,
      connection: String(server.port_value ?? 0),
    }),
  };
}

function harRequest(message: TraceMessage): JsonObject {
  const url = urlOf(message);
  const { bytes, text, encoding, isTruncated } = bodyOf(message);
  const query = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? '');
  return {
    method: valueOf(message, ':method') || 'GET',
    url,
    httpVersion: VERSION,
    cookies: cookiesIn(valueOf(message, 'cookie')),
    headers: plainHeaders(message),
    queryString: [...query].map(([name, value]) => ({ name, value })),
    headersSize: -1,
    bodySize: bytes,
    ...(bytes > 0 && {
      postData: {
        mimeType: valueOf(message, 'content-type'),
        text,
        ...(encoding !== undefined && { comment: encoding }),
      },
    }),
    ...(isTruncated && { comment: 'the body is cut' }),
  };
}

function harResponse(message: TraceMessage): JsonObject {
  const { bytes, text, encoding, isTruncated } = bodyOf(message);
  return {
    status: Number(valueOf(message, ':status')) || 0,
    statusText: '',
    httpVersion: VERSION,
    cookies: [],
    headers: plainHeaders(message),
    content: {
      size: bytes,
      mimeType: valueOf(message, 'content-type') || 'x-unknown',
      ...(bytes > 0 && { text }),
      ...(encoding !== undefined && { encoding }),
    },
    redirectURL: valueOf(message, 'location'),
    headersSize: -1,
    bodySize: bytes,
    ...(isTruncated && { comment: 'the body is cut' }),
  };
}

function urlOf(message: TraceMessage): string {
  const scheme = valueOf(message, ':scheme') || 'http';
  const path = valueOf(message, ':path');
  return `${scheme}://${valueOf(message, ':authority')}${path.startsWith('/') ? '' : '/'}${path}`;
}

function valueOf({ headers = [] }: TraceMessage, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? '';
}

function plainHeaders({ headers = [] }: TraceMessage): JsonValue[] {
  return headers
    .filter(({ key = '' }: TraceHeader) => !PSEUDO.test(key))
    .map(({ key = '', value = '' }) => ({ name: key, value }));
}

function cookiesIn(header: string): JsonValue[] {
  const cookies: JsonValue[] = [];
  for (const pair of header.split(';')) {
    const [, name, value] = /^\s*([^=\s]+)=(.*)$/.exec(pair) ?? [];
    if (name !== undefined && value !== undefined) cookies.push({ name, value: value.trim() });
  }
  return cookies;
}

/** Text where it is UTF-8, base64 where it is not. */
function bodyOf({ body }: TraceMessage): {
  readonly bytes: number;
  readonly text: string;
  readonly encoding: 'base64' | undefined;
  readonly isTruncated: boolean;
} {
  const base64 = body?.as_bytes ?? '';
  const content = Buffer.from(base64, 'base64');
  const isTruncated = body?.truncated === true;
  const text = content.toString('utf8');
  const isText = !text.includes('\ufffd');
  const encoding = isText ? undefined : 'base64';
  return { bytes: content.length, text: isText ? text : base64, encoding, isTruncated };
}

/** HTTP/2 clients for tests: node's own, asked in one line, and one that sends frames as given. */
import http2 from 'node:http2';
import { frameHeader, FrameType, Flag, settingsFrame } from '../../../workers/http2/frames.ts';
import { HpackEncoder } from '../../../workers/http2/hpack/encoder.ts';
import { within } from '../wait.ts';
import { openRaw, type RawConnection } from './raw-client.ts';

export interface Http2Answer {
  readonly status: number;
  readonly headers: http2.IncomingHttpHeaders;
  readonly body: string;
  readonly trailers: http2.IncomingHttpHeaders;
  /** The code of the RST_STREAM that ended the stream, 0 for a good end. */
  readonly code: number;
}

export interface Http2Client {
  readonly session: http2.ClientHttp2Session;
  ask(headers: http2.OutgoingHttpHeaders, body?: string | Buffer): Promise<Http2Answer>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openHttp2(
  target: number | string,
  options: http2.SecureClientSessionOptions = {},
): Promise<Http2Client> {
  const url = typeof target === 'string' ? target : `http://127.0.0.1:${target}`;
  const session = http2.connect(url, options);
  session.on('error', () => session.destroy());
  await within('connection', new Promise((resolve) => session.once('remoteSettings', resolve)));
  return {
    session,
    ask: (headers, body) => within('answer', exchange(session.request(headers), body)),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => session.once('close', resolve));
      if (session.destroyed) return;
      session.destroy();
      await closed;
    },
  };
}

/** Everything that comes back on a stream, until it is over. */
export function exchange(
  stream: http2.ClientHttp2Stream,
  body?: string | Buffer,
): Promise<Http2Answer> {
  return new Promise((resolve) => {
    let headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    let trailers: http2.IncomingHttpHeaders = {};
    const pieces: Buffer[] = [];
    stream.on('response', (each) => (headers = each));
    stream.on('trailers', (each: http2.IncomingHttpHeaders) => (trailers = each));
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('error', () => undefined);
    stream.on('close', () =>
      resolve({
        status: headers[':status'] ?? 0,
        headers,
        body: Buffer.concat(pieces).toString('latin1'),
        trailers,
        code: stream.rstCode,
      }),
    );
    stream.end(body);
  });
}

export type Fields = readonly (readonly [name: string, value: string])[];

export const GET: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'h.test'],
  [':path', '/'],
];

/** One HEADERS frame. Its fields are never indexed, so that frames do not depend on each other. */
export function headersFrame(
  stream: number,
  fields: Fields,
  flags: number = Flag.endStream,
): string {
  const encoder = new HpackEncoder();
  encoder.limitTable(0);
  encoder.begin();
  for (const [name, value] of fields) encoder.field(name, value);
  const block = encoder.finish();
  return frameHeader(block.length, FrameType.headers, flags | Flag.endHeaders, stream) + block;
}

export function dataFrame(stream: number, data: string, flags = 0): string {
  return frameHeader(data.length, FrameType.data, flags, stream) + data;
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export function framesOf(text: string): readonly Frame[] {
  const bytes = Buffer.from(text, 'latin1');
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    const [type = 0, flags = 0] = bytes.subarray(at + 3, at + 5);
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    frames.push({ type, flags, stream, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
}

export const PREFACE = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settingsFrame([])}`;

/** A connection on which the preface and empty SETTINGS were sent. */
export async function openFrames(port: number): Promise<RawConnection> {
  const client = await openRaw(port);
  client.send(PREFACE);
  return client;
}

/** A gRPC service for tests that may also break gRPC's rules: each call is a stream of HTTP/2. */
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';

export interface SeenCall {
  readonly headers: http2.IncomingHttpHeaders;
  readonly stream: http2.ServerHttp2Stream;
  /** The body so far. */
  body(): Buffer;
}

export interface GrpcPeer {
  readonly port: number;
  readonly calls: readonly SeenCall[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Called when the head of a call has come. */
export async function startGrpcPeer(serve: (call: SeenCall) => void): Promise<GrpcPeer> {
  const calls: SeenCall[] = [];
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    const pieces: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    const call = { headers, stream, body: () => Buffer.concat(pieces) };
    calls.push(call);
    serve(call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A message behind its flags and length. */
export function framed(message: string | Buffer): Buffer {
  const bytes = Buffer.from(message);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** A whole answer: what lies in its body, and its trailers. */
export function answerCall(
  { stream }: SeenCall,
  body: Buffer,
  trailers: http2.OutgoingHttpHeaders = { 'grpc-status': '0' },
): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
}

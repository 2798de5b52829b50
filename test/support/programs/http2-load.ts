/**
 * Clients of HTTP/2 that go on asking while each also has a long answer on its way, and that leave
 * a connection at GOAWAY as clients should: no new request, what was begun is awaited.
 */
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { exchange } from '../peers/http2-client.ts';
import { startHttp2Upstream, type Http2Upstream } from '../peers/http2.ts';

export const LONG = '/long';

interface Http2Outcome {
  /** Short answers that came whole. */
  readonly finished: number;
  /** Long answers that came whole. */
  readonly long: number;
  readonly goaways: number;
  readonly failures: readonly string[];
}

export interface Http2Load {
  finished(): number;
  goaways(): number;
  stop(): Promise<Http2Outcome>;
}

export interface Http2LoadOptions {
  readonly connections: number;
  /** Between two short requests of a connection. */
  readonly restMs: number;
  /** What a long answer has to be. */
  readonly long: string;
}

/** Answers short requests at once, and long ones piece by piece: `pieces` of them. */
export async function startLongUpstream(
  pieces: number,
): Promise<Http2Upstream & { readonly long: string }> {
  const upstream = await startHttp2Upstream((stream, headers) => {
    stream.respond({ ':status': 200 });
    if (headers[':path'] === LONG) sendPieces(stream, pieces);
    else stream.end('short');
  });
  return Object.assign(upstream, { long: 'piece '.repeat(pieces) });
}

const PIECE_MS = 50;

function sendPieces(stream: ServerHttp2Stream, left: number): void {
  if (stream.destroyed) return;
  if (left === 0) stream.end();
  else {
    stream.write('piece ');
    setTimeout(() => sendPieces(stream, left - 1), PIECE_MS);
  }
}

export function startHttp2Load(port: number, options: Http2LoadOptions): Http2Load {
  const found = { finished: 0, long: 0, goaways: 0, failures: [] as string[] };
  let isStopping = false;
  const one = async (): Promise<void> => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', (error) => found.failures.push(String(error)));
    const gone = leavesAtGoaway(session, () => found.goaways++);
    const long = ask(session, LONG, options.long);
    while (!isStopping && !gone()) {
      if (await ask(session, '/', 'short')) found.finished++;
      await delay(options.restMs);
    }
    if (await long) found.long++;
    session.close();
  };
  const ask = async (
    session: ClientHttp2Session,
    path: string,
    wanted: string,
  ): Promise<boolean> => {
    const answer = await exchange(session.request({ ':path': path }));
    if (answer.status === 200 && answer.body === wanted && answer.code === 0) return true;
    const { status, body, code } = answer;
    found.failures.push(`${path}: ${status}, ${body.length} bytes, code ${code}`);
    return false;
  };
  const clients = Array.from({ length: options.connections }, async () => {
    while (!isStopping) await one();
  });
  return {
    finished: () => found.finished,
    goaways: () => found.goaways,
    stop: async () => {
      isStopping = true;
      await Promise.all(clients);
      return found;
    },
  };
}

/** Notes GOAWAYs; the first one with an error is a failure of the session itself. */
function leavesAtGoaway(session: ClientHttp2Session, note: () => void): () => boolean {
  let isGone = false;
  session.on('goaway', (code: number) => {
    if (code !== constants.NGHTTP2_NO_ERROR) session.emit('error', new Error(`GOAWAY ${code}`));
    if (isGone) return;
    isGone = true;
    note();
  });
  session.on('close', () => (isGone = true));
  return () => isGone;
}

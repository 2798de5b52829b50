/** A client of HTTP/2 over a plain socket, which costs little beside a proxy. */
import { connect, type Socket } from 'node:net';
import {
  CLIENT_PREFACE,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW,
  headersFrames,
  LARGEST_WINDOW,
  Setting,
  settingsFrame,
  windowUpdateFrame,
} from '../../../workers/http2/frames.ts';
import { HpackEncoder } from '../../../workers/http2/hpack/encoder.ts';

/** Resolves when the proxy's settings have come. All windows are as large as they may be. */
export function openHttp2Client(port: number): Promise<Socket> {
  const client = connect(port, '127.0.0.1');
  const settings = settingsFrame([[Setting.initialWindowSize, LARGEST_WINDOW]]);
  const window = windowUpdateFrame(0, LARGEST_WINDOW - DEFAULT_WINDOW);
  client.write(CLIENT_PREFACE + settings + window, 'latin1');
  client.on('error', () => client.destroy());
  return new Promise((resolve) => client.once('data', () => resolve(client)));
}

/** Asks for `/`; the request of another method than GET has no end. */
export function ask(client: Socket, id: number, method: string): void {
  const encoder = new HpackEncoder();
  encoder.begin();
  const fields = { ':method': method, ':scheme': 'http', ':authority': 'bench', ':path': '/' };
  for (const [name, value] of Object.entries(fields)) encoder.literal(name, value);
  const block = encoder.finish();
  client.write(headersFrames(id, block, method === 'GET', DEFAULT_MAX_FRAME_BYTES), 'latin1');
}

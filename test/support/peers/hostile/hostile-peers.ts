/**
 * Peers that misbehave: clients and upstreams that stop, stall or flood at any point of a message.
 * The upstream does what the path says; each client resolves when its connection is gone.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startRawUpstream, type RawUpstream } from '../upstream.ts';

export type Ending = 'end' | 'reset';

const REQUEST =
  'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n';
const RESPONSE =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n';
const BIG_BYTES = 8 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

/**
 * `/cut/N/end` and `/cut/N/reset` send N bytes of a response and stop; `/silent` never answers;
 * `/deaf` reads nothing after the head; `/big` answers 8 MiB; anything else is answered when it is whole.
 */
export function startHostileUpstream(): Promise<RawUpstream> {
  return startRawUpstream((socket, received) => {
    let isBusy = false;
    socket.on('data', () => {
      const text = received();
      // Each answer is to the last request of the connection.
      const head = text.slice(Math.max(text.lastIndexOf('POST '), text.lastIndexOf('GET ')));
      const path = head.split(' ')[1] ?? '';
      const [, kind, count, ending] = path.split('/');
      if (isBusy || !head.includes('\r\n\r\n') || kind === 'silent') return;
      if (kind === 'deaf') {
        socket.pause();
      } else if (kind === 'cut') {
        socket.write(RESPONSE.slice(0, Number(count)), () => stop(socket, ending as Ending));
      } else if (kind === 'big') {
        isBusy = true;
        void pourBig(socket).then(() => (isBusy = false));
      } else if (head.startsWith('GET ') || /\r\n0\r\n[^]*\r\n\r\n$|\r\n\r\nhello$/.test(head)) {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      }
    });
  });
}

/** Sends the beginning of a request, of every length, and goes; one each `spacingMs`. */
export async function abortRequestsEverywhere(
  port: number,
  ending: Ending,
  spacingMs = 0,
): Promise<void> {
  await Promise.all(
    Array.from({ length: REQUEST.length }, async (_, length) => {
      await turn(length, spacingMs);
      const socket = await open(port);
      await write(socket, REQUEST.slice(0, length + 1));
      stop(socket, ending);
      await gone(socket);
    }),
  );
}

/** Asks for responses that stop after every number of bytes; one each `spacingMs`. */
export async function meetAbortedResponses(
  port: number,
  ending: Ending,
  spacingMs = 0,
): Promise<void> {
  await Promise.all(
    Array.from({ length: RESPONSE.length }, async (_, length) => {
      await turn(length, spacingMs);
      const socket = await open(port);
      await write(socket, get(`/cut/${length}/${ending}`, 'Connection: close\r\n'));
      await gone(socket);
    }),
  );
}

/** Goes in the middle of a large response, and while there is none yet. */
export async function abandonResponses(port: number, ending: Ending, spacingMs = 0): Promise<void> {
  await Promise.all(
    ['/big', '/silent'].flatMap((path) =>
      Array.from({ length: 4 }, async (_, at) => {
        await turn(at, spacingMs);
        const socket = await open(port);
        await write(socket, get(path));
        await (path === '/big'
          ? new Promise((resolve) => socket.once('data', resolve))
          : delay(20));
        stop(socket, ending);
        await gone(socket);
      }),
    ),
  );
}

/** Holds on after each of these beginnings until the server has had enough. */
export async function stall(port: number): Promise<void> {
  const length = 4 * BIG_BYTES;
  const beginnings = [
    'POST / HT',
    'GET / HTTP/1.1\r\nHost: h\r\nX-A: b',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe',
    get('/silent', 'Connection: close\r\n'),
    `POST /deaf HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(BIG_BYTES / 4)}`,
  ];
  await Promise.all([
    ...beginnings.map(async (bytes) => {
      const socket = await open(port);
      socket.resume();
      socket.write(bytes);
      await gone(socket);
    }),
    readNothing(port),
  ]);
}

/** Asks for a large response and reads none of it. */
async function readNothing(port: number): Promise<void> {
  const socket = await open(port);
  socket.pause();
  await write(socket, get('/big', 'Connection: close\r\n'));
  await delay(1500);
  socket.resume();
  await gone(socket);
}

/** Connections that come and go without a word, and requests faster than anyone answers. */
export async function flood(port: number, connections: number, spacingMs = 0): Promise<void> {
  const asking = await open(port);
  asking.resume();
  asking.write(get('/').repeat(connections));
  await Promise.all(
    Array.from({ length: connections }, async (_, at) => {
      await turn(at, spacingMs);
      const socket = await open(port);
      stop(socket, at % 2 === 0 ? 'reset' : 'end');
      await gone(socket);
    }),
  );
  stop(asking, 'reset');
  await gone(asking);
}

/** Peers that all came at once would be one long event of the proxy. */
async function turn(at: number, spacingMs: number): Promise<void> {
  if (spacingMs > 0) await delay(at * spacingMs);
}

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: h\r\n${headers}\r\n`;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.off('error', reject);
      // Whatever ends it, it is gone with its `close`.
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

function write(socket: Socket, bytes: string): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, 'latin1', () => resolve()));
}

function stop(socket: Socket, ending: Ending): void {
  if (ending === 'reset') socket.resetAndDestroy();
  else socket.end();
}

function gone(socket: Socket): Promise<void> {
  socket.resume();
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

async function pourBig(socket: Socket): Promise<void> {
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${BIG_BYTES}\r\n\r\n`);
  for (let left = BIG_BYTES; left > 0 && !socket.destroyed; left -= PIECE.length) {
    if (socket.write(PIECE)) continue;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        socket.off('drain', goOn);
        socket.off('close', goOn);
        resolve();
      };
      socket.once('drain', goOn);
      socket.once('close', goOn);
    });
  }
}

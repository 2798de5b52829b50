/**
 * 1 GiB through one stream to a client that reads 100 MB a second, for each pair of HTTP/1 and HTTP/2:
 * prints by how much the memory of the proxy's processes grew at most, mapped files apart, and what
 * it holds in the end. Options: `--mib N`, `--only REGEX` of `h1 -> h2` and the like, `--with envoy`.
 * About a minute: node dist/scripts/bench/http2/slow-reader.js
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { HTTP2_PORT_OFFSET } from '../support/bootstrap.ts';
import { allContenders } from '../support/contenders.ts';
import { ask, openHttp2Client } from './frames-client.ts';
import { treeAnonymousKib } from '../support/processes.ts';

const BYTES_PER_TICK = 1e6;
const TICK_MS = 10;
const SAMPLE_MS = 100;
const SETTLE_MS = 2000;
const PIECE = Buffer.alloc(64 * 1024, 'x');

const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '1024' },
    only: { type: 'string', default: '' },
    with: { type: 'string', default: 'sluice' },
  },
});
const total = Number(values.mib) * 1024 * 1024;
const port = 18_450;
const upstreamPort = 18_460;

type Protocol = 'h1' | 'h2';
const PAIRS: readonly (readonly [client: Protocol, host: Protocol])[] = [
  ['h1', 'h1'],
  ['h2', 'h1'],
  ['h1', 'h2'],
  ['h2', 'h2'],
];

const found = allContenders().find(({ name }) => name === values.with);
if (found === undefined) throw new Error(`cannot measure: nobody is called ${values.with}`);
const folder = mkdtempSync(join(tmpdir(), 'sluice-slow-reader-'));
const http1 = createServer(pourHttp1).listen(upstreamPort, '127.0.0.1');
const http2 = createHttp2Server().on('stream', pourHttp2);
http2.listen(upstreamPort + HTTP2_PORT_OFFSET, '127.0.0.1');
await Promise.all([once(http1, 'listening'), once(http2, 'listening')]);
try {
  for (const pair of PAIRS) {
    if (new RegExp(values.only).test(pair.join(' -> '))) await measure(...pair);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function measure(ofClient: Protocol, ofHost: Protocol): Promise<void> {
  const traits =
    ofHost === 'h2' ? (['no_timeout', 'http2_hosts'] as const) : (['no_timeout'] as const);
  const running = await found?.start({ folder, port, upstreamPort, traits });
  if (running === undefined) return;
  await delay(SETTLE_MS);
  const before = treeAnonymousKib(running.pid);
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, treeAnonymousKib(running.pid));
  }, SAMPLE_MS);
  try {
    const client = ofClient === 'h2' ? await askHttp2() : askHttp1();
    const read = await readSlowly(client);
    client.destroy();
    await delay(SETTLE_MS);
    const grown = (kib: number): string => `+${((kib - before) / 1024).toFixed(1)} MiB`;
    console.log(
      `${ofClient} -> ${ofHost} ${values.with}: ${(read / 2 ** 20).toFixed(0)} MiB read, at most ` +
        `${grown(highest)}, in the end ${grown(treeAnonymousKib(running.pid))}, from ${(before / 1024).toFixed(1)}`,
    );
  } finally {
    clearInterval(sampling);
    await running.stop();
  }
}

async function askHttp2(): Promise<Socket> {
  const client = await openHttp2Client(port);
  ask(client, 1, 'GET');
  return client;
}

function askHttp1(): Socket {
  const client = connect(port, '127.0.0.1');
  client.on('error', () => client.destroy());
  client.write('GET / HTTP/1.1\r\nHost: bench\r\n\r\n');
  return client;
}

/** Gives the number of bytes that came. */
async function readSlowly(client: Socket): Promise<number> {
  let bytes = 0;
  let allowed = 0;
  client.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes >= allowed) client.pause();
  });
  client.pause();
  while (bytes < total && !client.destroyed) {
    allowed += BYTES_PER_TICK;
    if (bytes < allowed) client.resume();
    await delay(TICK_MS);
  }
  return bytes;
}

/** Any request is answered with the large body. */
function pourHttp1(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.once('data', () => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
    pour(socket);
  });
}

function pourHttp2(stream: ServerHttp2Stream): void {
  stream.on('error', () => stream.destroy());
  stream.respond({ ':status': 200 });
  pour(stream);
}

function pour(target: Socket | ServerHttp2Stream): void {
  let left = total;
  const more = (): void => {
    while (left > 0) {
      left -= PIECE.length;
      if (!target.write(PIECE)) return;
    }
    target.end();
  };
  target.on('drain', more);
  more();
}

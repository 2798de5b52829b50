/**
 * What HTTP/2 connections and streams hold of a proxy's memory: 1,000 connections that ask nothing,
 * 100 open streams on each of them, whose requests never end, and 1 GiB through one stream to a
 * client that reads 100 MB a second. Prints by how much the memory of all processes grew, mapped
 * files apart. Options: `--connections N`, `--streams N` (of each), `--mib N`, `--with envoy`. About
 * 40 seconds: node dist/scripts/bench/http2/held-memory.js
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  CLIENT_PREFACE,
  headersFrames,
  settingsFrame,
  Setting,
  windowUpdateFrame,
} from '../../../workers/http2/frames.ts';
import { HpackEncoder } from '../../../workers/http2/hpack/encoder.ts';
import { HTTP2_PORT_OFFSET } from '../support/bootstrap.ts';
import { allContenders } from '../support/contenders.ts';
import { treeAnonymousKib } from '../support/processes.ts';

const FRAME_BYTES = 16 * 1024;
const LARGEST_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;
const BYTES_PER_TICK = 1e6;
const TICK_MS = 10;
const SETTLE_MS = 2000;
const PIECE = Buffer.alloc(64 * 1024, 'x');

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '1000' },
    streams: { type: 'string', default: '100' },
    mib: { type: 'string', default: '1024' },
    with: { type: 'string', default: 'sluice' },
  },
});
const connections = Number(values.connections);
const streams = Number(values.streams);
const total = Number(values.mib) * 1024 * 1024;
const port = 18_200;
const upstreamPort = 18_180;

const found = allContenders().find(({ name }) => name === values.with);
if (found === undefined) throw new Error(`cannot measure: nobody is called ${values.with}`);
const folder = mkdtempSync(join(tmpdir(), 'sluice-http2-memory-'));
const upstreams = [
  await listen(upstreamPort, pourAnswer),
  await listen(upstreamPort + HTTP2_PORT_OFFSET, takeStreams),
];
let received = 0;
try {
  await measure(true, async (grown) => {
    const clients: Socket[] = [];
    for (let at = 0; at < connections; at++) clients.push(await openClient());
    console.log(`${connections} idle connections: ${await grown()}`);
    for (const client of clients)
      for (let at = 0; at < streams; at++) ask(client, 2 * at + 1, 'POST');
    await arrived(connections * streams);
    console.log(`${connections * streams} open streams on them: ${await grown()}`);
    for (const client of clients) client.destroy();
  });
  await measure(false, async (grown) => {
    const client = await openClient();
    ask(client, 1, 'GET');
    client.write(windowUpdateFrame(1, LARGEST_WINDOW - DEFAULT_WINDOW), 'latin1');
    await readSlowly(client);
    console.log(`${values.mib} MiB through one stream, at most: ${await grown()}`);
    client.destroy();
  });
} finally {
  for (const upstream of upstreams) upstream.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** `grown`: by how much memory has grown at most until now. */
async function measure(
  isHttp2Host: boolean,
  act: (grown: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const traits = isHttp2Host ? (['no_timeout', 'http2_hosts'] as const) : (['no_timeout'] as const);
  const running = await found?.start({ folder, port, upstreamPort, traits });
  if (running === undefined) return;
  await delay(SETTLE_MS);
  const before = treeAnonymousKib(running.pid);
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, treeAnonymousKib(running.pid));
  }, 200);
  try {
    await act(async () => {
      await delay(SETTLE_MS);
      highest = Math.max(highest, treeAnonymousKib(running.pid));
      return `+${((highest - before) / 1024).toFixed(1)} MiB, from ${(before / 1024).toFixed(1)}`;
    });
  } finally {
    clearInterval(sampling);
    await running.stop();
  }
}

/** A client of HTTP/2 that has heard the proxy's settings. */
function openClient(): Promise<Socket> {
  const client = connect(port, '127.0.0.1');
  const window = windowUpdateFrame(0, LARGEST_WINDOW - DEFAULT_WINDOW);
  client.write(CLIENT_PREFACE + settingsFrame([]) + window, 'latin1');
  client.on('error', () => client.destroy());
  return new Promise((resolve) => client.once('data', () => resolve(client)));
}

function ask(client: Socket, id: number, method: string): void {
  const encoder = new HpackEncoder();
  encoder.begin();
  const fields = { ':method': method, ':scheme': 'http', ':authority': 'bench', ':path': '/' };
  for (const [name, value] of Object.entries(fields)) encoder.literal(name, value);
  const block = encoder.finish();
  client.write(headersFrames(id, block, method === 'GET', FRAME_BYTES), 'latin1');
}

async function readSlowly(client: Socket): Promise<void> {
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
}

function listen(onPort: number, serve: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    serve(socket);
  });
  return new Promise((resolve) => {
    server.listen(onPort, '127.0.0.1', 4096, () => resolve(server));
  });
}

/** HTTP/1: any request is answered with the large body. */
function pourAnswer(socket: Socket): void {
  socket.once('data', () => {
    let left = total;
    const pour = (): void => {
      while (left > 0) {
        left -= PIECE.length;
        if (!socket.write(PIECE)) return;
      }
    };
    socket.on('drain', pour);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
    pour();
  });
}

/** HTTP/2: takes any number of streams and answers none; counts bytes alone. */
function takeStreams(socket: Socket): void {
  socket.write(settingsFrame([[Setting.maxConcurrentStreams, LARGEST_WINDOW]]), 'latin1');
  socket.on('data', (piece: Buffer) => (received += piece.length));
}

/** All streams have come to the host: it has heard nothing more for a while. */
async function arrived(wanted: number): Promise<void> {
  for (let before = -1; before !== received || received < wanted;) {
    before = received;
    await delay(SETTLE_MS);
  }
}

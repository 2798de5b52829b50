/**
 * What HTTP/2 connections and streams hold of a proxy's memory: 1,000 connections that ask nothing,
 * and 100 open streams on each of them, whose requests never end. Prints by how much the memory of
 * all processes grew, mapped files apart. Options: `--connections N`, `--streams N` (of each),
 * `--with envoy`. About 20 seconds: node dist/scripts/bench/http2/held-memory.js
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LARGEST_STREAM_ID, Setting, settingsFrame } from '../../../workers/http2/frames.ts';
import { HTTP2_PORT_OFFSET } from '../support/bootstrap.ts';
import { allContenders } from '../support/contenders.ts';
import { ask, openHttp2Client } from './frames-client.ts';
import { treeAnonymousKib } from '../support/processes.ts';

const SETTLE_MS = 2000;

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '1000' },
    streams: { type: 'string', default: '100' },
    with: { type: 'string', default: 'sluice' },
  },
});
const connections = Number(values.connections);
const streams = Number(values.streams);
const port = 18_200;
const upstreamPort = 18_180;

const found = allContenders().find(({ name }) => name === values.with);
if (found === undefined) throw new Error(`cannot measure: nobody is called ${values.with}`);
const folder = mkdtempSync(join(tmpdir(), 'sluice-http2-memory-'));
const upstream = await listen(upstreamPort + HTTP2_PORT_OFFSET, takeStreams);
let received = 0;
try {
  await measure(async (grown) => {
    const clients: Socket[] = [];
    for (let at = 0; at < connections; at++) clients.push(await openHttp2Client(port));
    console.log(`${connections} idle connections: ${await grown()}`);
    for (const client of clients)
      for (let at = 0; at < streams; at++) ask(client, 2 * at + 1, 'POST');
    await arrived(connections * streams);
    console.log(`${connections * streams} open streams on them: ${await grown()}`);
    for (const client of clients) client.destroy();
  });
} finally {
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** `grown`: by how much memory has grown at most until now. */
async function measure(act: (grown: () => Promise<string>) => Promise<void>): Promise<void> {
  const traits = ['no_timeout', 'http2_hosts'] as const;
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

function listen(onPort: number, serve: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    serve(socket);
  });
  return new Promise((resolve) => {
    server.listen(onPort, '127.0.0.1', 4096, () => resolve(server));
  });
}

/** HTTP/2: takes any number of streams and answers none; counts bytes alone. */
function takeStreams(socket: Socket): void {
  socket.write(settingsFrame([[Setting.maxConcurrentStreams, LARGEST_STREAM_ID]]), 'latin1');
  socket.on('data', (piece: Buffer) => (received += piece.length));
}

/** All streams have come to the host: it has heard nothing more for a while. */
async function arrived(wanted: number): Promise<void> {
  for (let before = -1; before !== received || received < wanted;) {
    before = received;
    await delay(SETTLE_MS);
  }
}

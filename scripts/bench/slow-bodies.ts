/**
 * Does memory stay flat while a large body waits for a slow reader? One upload of 1 GiB to an
 * upstream that first reads nothing for three seconds and then 100 MB a second, then one download
 * of 1 GiB to such a client. Prints by how much the memory of all processes grew at most, mapped
 * files apart (their share depends on who else maps them), and whether that is within 16 MiB.
 * Options: `--mib N` (1024), `--pace-mb N` (100), `--with envoy`. About 40 seconds: node
 * dist/scripts/bench/slow-bodies.js
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { allContenders } from './support/contenders.ts';
import { treeAnonymousKib } from './support/processes.ts';
import { runWrk } from './support/wrk.ts';

const ALLOWED_MIB = 16;
const STALL_MS = 3000;
const PACE_TICK_MS = 10;
const SAMPLE_MS = 100;
const PIECE = Buffer.alloc(64 * 1024, 'x');

const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '1024' },
    'pace-mb': { type: 'string', default: '100' },
    with: { type: 'string', default: 'sluice' },
  },
});
const total = Number(values.mib) * 1024 * 1024;
const bytesPerTick = (Number(values['pace-mb']) * 1e6 * PACE_TICK_MS) / 1000;

const found = allContenders().find(({ name }) => name === values.with);
if (found === undefined) throw new Error(`cannot measure: nobody is called ${values.with}`);
const folder = mkdtempSync(join(tmpdir(), 'sluice-slow-bodies-'));
const upstreamPort = 18_080;
const port = 18_100;
const upstream = await startUpstream();
const running = await found.start({ folder, port, upstreamPort, traits: ['no_timeout'] });
try {
  await runWrk({ port, connections: 16, seconds: 2 });
  await delay(1000);
  await judge('upload to a slow upstream', upload);
  await judge('download to a slow client', download);
} finally {
  upstream.close();
  await running.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function judge(title: string, move: () => Promise<number>): Promise<void> {
  const before = treeAnonymousKib(running.pid);
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, treeAnonymousKib(running.pid));
  }, SAMPLE_MS);
  const startMs = performance.now();
  const moved = await move();
  const seconds = (performance.now() - startMs) / 1000;
  clearInterval(sampling);
  const grownMib = (highest - before) / 1024;
  const isGood = moved === total && grownMib <= ALLOWED_MIB;
  if (!isGood) process.exitCode = 1;
  console.log(
    `${isGood ? 'reached' : 'MISSED '} ${title}: ${(moved / 2 ** 20).toFixed(0)} MiB in ${seconds.toFixed(1)} s, ` +
      `memory grew by ${grownMib.toFixed(1)} MiB (${ALLOWED_MIB} allowed), from ${(before / 1024).toFixed(1)} MiB`,
  );
}

/** Bytes of body that the upstream read. */
async function upload(): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST /upload HTTP/1.1\r\nHost: bench\r\nContent-Length: ${total}\r\n\r\n`);
  await pour(socket);
  const answer = await new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const body = /\r\n\r\n(\d+)$/.exec(text)?.[1];
      if (body !== undefined) resolve(body);
    });
    socket.once('close', () => resolve('0'));
  });
  socket.destroy();
  return Number(answer);
}

/** Bytes of body that the client read. */
async function download(): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /download HTTP/1.1\r\nHost: bench\r\n\r\n');
  const moved = await readSlowly(socket);
  socket.destroy();
  return moved;
}

/**
 * Uploads are read slowly and answered with their length; downloads are poured; the rest is short.
 */
function startUpstream(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', function onHead(chunk: Buffer) {
      const text = chunk.toString('latin1');
      if (text.startsWith('POST /upload ')) {
        socket.off('data', onHead);
        socket.pause();
        socket.unshift(chunk);
        void readSlowly(socket).then((length) => socket.end(answer(String(length))));
      } else if (text.startsWith('GET /download ')) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
        void pour(socket);
      } else socket.write(answer('ok'));
    });
  });
  return new Promise((resolve) => {
    server.listen(upstreamPort, '127.0.0.1', () => resolve(server));
  });
}

function answer(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Writes a body as fast as it is taken. */
async function pour(socket: Socket): Promise<void> {
  for (let left = total; left > 0 && !socket.destroyed; left -= PIECE.length) {
    const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE;
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
  }
}

/**
 * Reads head and body of one message: nothing at first, then at the pace; the body's bytes read.
 */
async function readSlowly(socket: Socket): Promise<number> {
  socket.pause();
  await delay(STALL_MS);
  let allowance = 0;
  let headLength = 0;
  let read = 0;
  return new Promise((resolve) => {
    const pacing = setInterval(() => {
      allowance = Math.min(allowance + bytesPerTick, bytesPerTick);
      if (allowance > 0) socket.resume();
    }, PACE_TICK_MS);
    const finish = (): void => {
      clearInterval(pacing);
      resolve(read - headLength);
    };
    socket.on('data', (chunk) => {
      if (headLength === 0) headLength = chunk.indexOf('\r\n\r\n') + 4;
      read += chunk.length;
      allowance -= chunk.length;
      if (allowance <= 0) socket.pause();
      if (read - headLength >= total) finish();
    });
    socket.once('close', finish);
  });
}

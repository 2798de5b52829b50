/**
 * The admin listener on a real socket: its limits, and clients that do not read what they asked
 * for.
 */
import assert from 'node:assert/strict';
import { get, type IncomingHttpHeaders } from 'node:http';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { AdminContext } from '../../../../supervisor/admin/admin-context.ts';
import { ADMIN_LIMITS, limitsWithin } from '../../../../supervisor/admin/http/admin-limits.ts';
import { waitUntil } from '../../../support/wait.ts';
import { exchange, start } from './admin-socket.ts';
import { fakeContext } from './fake-context.ts';
import { recordingWriter } from './recording-writer.ts';

/** A page without end that counts how many chunks were pulled from it. */
function endlessPage() {
  const state = { pulled: 0, ended: false };
  function* body(): Generator<string> {
    try {
      for (;;) {
        state.pulled++;
        yield 'x'.repeat(64 * 1024);
      }
    } finally {
      state.ended = true;
    }
  }
  const stats: AdminContext['stats'] = {
    read: async () => await Promise.resolve({ status: 200, body: body() }),
    recentLookups: () => ({ status: 200, body: '' }),
    resetCounters: async () => await Promise.resolve(),
  };
  return { state, stats };
}

/** 10,000 clusters of 64 KiB, which are made one by one: a dump of 640 MB. */
function hugeDump(): Pulled & { readonly config: AdminContext['config'] } {
  const state = { pulled: 0 };
  const cluster = {
    name: 'huge',
    versionInfo: '',
    lastUpdatedMs: 0,
    get message() {
      state.pulled++;
      return {
        '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
        name: 'x'.repeat(64 * 1024),
      };
    },
  };
  const { config } = fakeContext().context;
  const clusters = { ...config.clusters(), static: Array<typeof cluster>(10_000).fill(cluster) };
  return { state, config: { ...config, clusters: () => clusters } };
}

interface Pulled {
  readonly state: { readonly pulled: number };
}

function connectAndAsk(port: number, path: string): Socket {
  const socket = createConnection({ port, host: '127.0.0.1' });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
  return socket;
}

function fetchBytes(
  port: number,
  path: string,
): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(chunks) }));
    }).on('error', reject);
  });
}

async function answered(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
}

async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

for (const path of ['/stats', '/config_dump']) {
  test(`a client that stops reading ${path} is closed after the limit, with bounded memory`, async () => {
    const { state, ...page } = path === '/stats' ? endlessPage() : hugeDump();
    const writer = recordingWriter();
    const limits = { stalledReaderMs: 150 };
    const { admin, port } = await start({ ...page, statWriter: writer }, limits);
    const socket = connectAndAsk(port, path);
    socket.on('error', () => undefined);
    socket.pause();
    const counter = () => writer.named.get('sluice.admin.stalled_readers_closed') ?? -1;
    await waitUntil('the end of the connection', () => writer.valueOf(counter()) === 1);
    // What the kernel's socket buffers take, and not much more.
    assert.ok(state.pulled > 0 && state.pulled < 400, `pulled ${state.pulled} pieces`);
    socket.destroy();
    admin.close();
  });
}

test('a page ends when its client leaves', async () => {
  const { state, stats } = endlessPage();
  const { admin, port } = await start({ stats });
  const socket = connectAndAsk(port, '/stats');
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.destroy();
  await waitUntil('the end of the page', () => state.ended);
  admin.close();
});

test('a compressed page holds the same, and ends when its client leaves', async () => {
  const read = (body: Iterable<string>): AdminContext['stats'] => ({
    ...endlessPage().stats,
    read: async () => await Promise.resolve({ status: 200, body, isGzipped: true }),
  });
  const short = await start({ stats: read(['first\n', '', 'second\n']) });
  const { headers, body } = await fetchBytes(short.port, '/stats');
  assert.equal(headers['content-encoding'], 'gzip');
  assert.equal(gunzipSync(body).toString(), 'first\nsecond\n');
  short.admin.close();
  const state = { ended: false };
  function* silence(): Generator<string> {
    try {
      for (;;) yield '';
    } finally {
      state.ended = true;
    }
  }
  const { admin, port } = await start({ stats: read(silence()) });
  const socket = connectAndAsk(port, '/stats');
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.destroy();
  await waitUntil('the end of the page', () => state.ended);
  admin.close();
});

test('/ready answers while large pages are being sent', async () => {
  const { stats } = endlessPage();
  const { admin, port } = await start({ stats });
  const readers = [connectAndAsk(port, '/stats'), connectAndAsk(port, '/stats')];
  for (const reader of readers) reader.on('data', () => undefined);
  const request = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  for (let round = 0; round < 10; round++) {
    assert.match(await exchange(port, request), /LIVE/);
  }
  for (const reader of readers) reader.destroy();
  admin.close();
});

test('large pages beyond the limit wait their turn, then get 503', async () => {
  const { stats } = endlessPage();
  const limits = { largePages: 1, waitingLargePages: 1, largePageWaitMs: 50 };
  const { config } = hugeDump();
  const { admin, port } = await start({ stats, config }, limits);
  const first = connectAndAsk(port, '/stats');
  await new Promise<void>((resolve) => first.once('data', () => resolve()));
  first.pause();
  const request = 'GET /stats HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const dump = request.replace('/stats', '/config_dump');
  const others = await Promise.all([exchange(port, request), exchange(port, dump)]);
  for (const answer of others) assert.match(answer, /^HTTP\/1.1 503 Service Unavailable/);
  assert.match(await exchange(port, request.replace('/stats', '/ready')), /LIVE/);
  first.destroy();
  admin.close();
});

test('beyond the limit the connection that is idle for longest gives way', async () => {
  const writer = recordingWriter();
  const { admin, port } = await start({ statWriter: writer }, { connections: 2 });
  const [first, second] = [connectAndAsk(port, '/ready'), connectAndAsk(port, '/ready')];
  await Promise.all([first, second].map(answered));
  // The first is not idle for longest any more.
  first.write('GET /ready HTTP/1.1\r\nhost: a\r\n\r\n');
  await answered(first);
  const request = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  assert.match(await exchange(port, request), /LIVE/);
  await closed(second);
  assert.equal(first.closed, false);
  const index = writer.named.get('sluice.admin.idle_closed_for_others') ?? -1;
  assert.equal(writer.valueOf(index), 1);
  first.destroy();
  admin.close();
});

for (const [what, bytes] of [
  ['no bytes', ''],
  ['half a head', 'POST /logging HTTP/1.1\r\nhost: a\r\n'],
  ['half a body', 'POST /logging HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nlevel'],
] as const) {
  test(`a connection that has sent ${what} gives way`, async () => {
    const { admin, port } = await start({}, { connections: 1 });
    const slow = createConnection({ port, host: '127.0.0.1' }, () => slow.write(bytes));
    slow.on('error', () => undefined);
    slow.resume();
    await new Promise<void>((resolve) => slow.once('connect', () => resolve()));
    const request = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    assert.match(await exchange(port, request), /LIVE/);
    await closed(slow);
    admin.close();
  });
}

test('where all connections are busy, further ones get small answers, and then 503', async () => {
  const { stats } = endlessPage();
  const limits = { connections: 1, reservedConnections: 1 };
  const { admin, port } = await start({ stats }, limits);
  const busy = connectAndAsk(port, '/stats');
  await answered(busy);
  busy.pause();
  const request = 'GET /ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  assert.match(await exchange(port, request), /LIVE/);
  const large = await exchange(port, request.replace('/ready', '/stats'));
  assert.match(large, /^HTTP\/1.1 503 .*too many connections/s);
  busy.destroy();
  admin.close();
});

test('a page whose client is slow gives its place to the next one', async () => {
  const { stats } = endlessPage();
  const limits = { largePages: 1, parkAfterMs: 20, parkedPages: 1 };
  const { admin, port } = await start({ stats }, limits);
  const slow = connectAndAsk(port, '/stats');
  await answered(slow);
  slow.pause();
  const second = connectAndAsk(port, '/stats');
  await answered(second);
  second.pause();
  const third = connectAndAsk(port, '/stats');
  await answered(third);
  slow.resume();
  await closed(slow);
  second.destroy();
  third.destroy();
  admin.close();
});

test('pipelined requests are answered one after the other, however many there are', async () => {
  const { admin, port } = await start({}, { pipelinedRequests: 3 });
  const request = 'GET /ready HTTP/1.1\r\nhost: a\r\n\r\n';
  const last = 'GET /help HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const answers = await exchange(port, request.repeat(500) + last);
  assert.equal(answers.match(/LIVE\n/g)?.length, 500);
  assert.match(answers, /admin commands are:/);
  admin.close();
});

test('bodies that come slowly or too many at once are refused', async () => {
  const { admin, port } = await start({}, { requestMs: 50, allBodyBytes: 20 });
  const head = 'POST /logging HTTP/1.1\r\nhost: a\r\ncontent-length: 30\r\n\r\n';
  assert.match(await exchange(port, `${head}0123456789`), /^HTTP\/1.1 408 /);
  assert.match(await exchange(port, head + '0'.repeat(30)), /^HTTP\/1.1 503 /);
  // Both have given back what they held.
  const small = `${head.replace('30', '20\r\nconnection: close')}${'0'.repeat(20)}`;
  assert.match(await exchange(port, small), /^HTTP\/1.1 200 /);
  admin.close();
});

test('a process with few descriptors keeps most of them for itself', () => {
  const few = limitsWithin(200);
  assert.deepEqual([few.connections, few.reservedConnections], [50, 50]);
  const many = limitsWithin(1_048_576);
  assert.equal(many.connections, ADMIN_LIMITS.connections);
});

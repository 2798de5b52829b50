/** The admin listener on a real socket: its limits, and clients that do not read what they asked for. */
import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { AdminContext } from '../../../supervisor/admin/admin-context.ts';
import { waitUntil } from '../../support/wait.ts';
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

test('connections beyond the limit get 503 and are closed', async () => {
  const { admin, port } = await start({}, { connections: 1 });
  const first = connectAndAsk(port, '/ready');
  await new Promise<void>((resolve) => first.once('data', () => resolve()));
  const answer = await exchange(port, '');
  assert.match(answer, /^HTTP\/1.1 503 Service Unavailable/);
  first.destroy();
  await closed(first);
  admin.close();
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { fileLog, filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil, within } from '../../support/wait.ts';

const GAUGES = [
  'cluster.up.upstream_cx_active',
  'cluster.up.upstream_rq_active',
  'cluster.up.upstream_rq_pending_active',
  'cluster.up.upstream_cx_rx_bytes_buffered',
  'tcp.tcp.downstream_cx_rx_bytes_buffered',
  'tcp.tcp.upstream_flush_active',
];

interface Setup {
  readonly proxy?: object;
  readonly cluster?: object;
  readonly listener?: object;
  readonly concurrency?: number;
}

async function start(port: number, setup: Setup = {}): Promise<Sluice & { tcp: number }> {
  const listener = filterListener([tcpProxyFilter(setup.proxy)], setup.listener);
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [listener],
      clusters: [staticCluster('up', [port], setup.cluster)],
    }),
    concurrency: setup.concurrency ?? 1,
    args: ['--file-flush-interval-msec', '10'],
  });
  return Object.assign(sluice, { tcp: await sluice.listenerPort('tcp') });
}

async function gaugesReturnToZero(sluice: Sluice): Promise<void> {
  for (const name of GAUGES) await sluice.waitForStat(name, (value) => value === 0);
}

/** An upstream that is a plain server with half-open sockets, as most TCP servers are. */
async function halfOpenServer(
  onConnection: (socket: Socket) => void,
): Promise<Server & AsyncDisposable & { port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  });
}

describe('a TCP proxy', () => {
  it('passes bytes and the end of each direction, and counts both sides', async () => {
    await using upstream = await halfOpenServer((socket) => socket.pipe(socket));
    await using sluice = await start(upstream.port);
    const client = await openRaw(sluice.tcp);
    client.send('part one ');
    await client.until('part one ');
    client.send('part two');
    client.end();
    assert.equal(await client.closed(), 'part one part two');
    await gaugesReturnToZero(sluice);
    assert.equal(await sluice.stat('tcp.tcp.downstream_cx_rx_bytes_total'), 17);
    assert.equal(await sluice.stat('tcp.tcp.downstream_cx_tx_bytes_total'), 17);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_rx_bytes_total'), 17);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_tx_bytes_total'), 17);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_destroy_remote_with_active_rq'), 1);
    assert.equal(await sluice.stat('tcp.tcp.upstream_flush_total'), 0);
  });

  it("lets a client go on sending after the upstream's end", async () => {
    let heard = '';
    await using upstream = await halfOpenServer((socket) => {
      socket.end('bye');
      socket.on('data', (piece) => (heard += piece.toString()));
    });
    await using sluice = await start(upstream.port);
    const socket = connect({ port: sluice.tcp, host: '127.0.0.1', allowHalfOpen: true });
    socket.resume();
    await once(socket, 'end');
    socket.end('after');
    await once(socket, 'close');
    await waitUntil('the late bytes', () => heard === 'after');
    await gaugesReturnToZero(sluice);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_destroy_local_with_active_rq'), 1);
  });

  it('carries 48 MiB each way at once to a reader that stops, within its buffers', async () => {
    const block = Buffer.alloc(1 << 20, 'sluice');
    const blocks = 48;
    const upHash = createHash('sha256');
    const gate = new EventEmitter();
    await using upstream = await halfOpenServer((socket) => {
      void send(socket, block, blocks);
      gate.once('open', () => socket.on('data', (piece) => upHash.update(piece)));
    });
    await using sluice = await start(upstream.port, {
      listener: { per_connection_buffer_limit_bytes: 65_536 },
      cluster: { per_connection_buffer_limit_bytes: 65_536 },
    });
    const downHash = createHash('sha256');
    const socket = connect({ port: sluice.tcp, host: '127.0.0.1', allowHalfOpen: true });
    const sent = send(socket, block, blocks);
    await sluice.waitForStat(
      'tcp.tcp.downstream_flow_control_paused_reading_total',
      (value) => value > 0,
    );
    await sluice.waitForStat(
      'cluster.up.upstream_flow_control_paused_reading_total',
      (value) => value > 0,
    );
    const held = await sluice.stat('tcp.tcp.downstream_cx_rx_bytes_total');
    assert.ok(held < 24 * (1 << 20), `${held} bytes were taken from a client nobody reads`);
    gate.emit('open');
    socket.on('data', (piece) => downHash.update(piece));
    await within('both transfers', Promise.all([sent, once(socket, 'end')]), 30_000);
    await gaugesReturnToZero(sluice);
    const whole = createHash('sha256');
    for (let at = 0; at < blocks; at++) whole.update(block);
    const wanted = whole.digest('hex');
    assert.equal(downHash.digest('hex'), wanted);
    assert.equal(upHash.digest('hex'), wanted);
  });

  it('resets the client when the upstream resets, and the other way round', async () => {
    const errors: string[] = [];
    await using upstream = await halfOpenServer((socket) => {
      socket.on('data', (piece) => {
        if (piece.toString() === 'reset') socket.resetAndDestroy();
        else socket.write(piece);
      });
      socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code ?? ''));
    });
    await using sluice = await start(upstream.port);
    const first = connect(sluice.tcp, '127.0.0.1');
    first.write('reset');
    const [error] = (await once(first, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    const second = connect(sluice.tcp, '127.0.0.1');
    second.write('hello');
    await once(second, 'data');
    second.resetAndDestroy();
    await waitUntil('the upstream to hear of it', () => errors.includes('ECONNRESET'));
    await gaugesReturnToZero(sluice);
  });

  it('tries as often as it may, closes the client and logs why', async () => {
    using scratch = makeScratch();
    const gone = await halfOpenServer(() => undefined);
    gone.close();
    const path = scratch.file('tcp.log');
    const format =
      '%RESPONSE_FLAGS% %UPSTREAM_TRANSPORT_FAILURE_REASON% %UPSTREAM_REQUEST_ATTEMPT_COUNT%';
    await using sluice = await start(gone.port, {
      proxy: { max_connect_attempts: 3, access_log: [fileLog(path, format)] },
    });
    const client = await openRaw(sluice.tcp);
    assert.equal(await client.closed(), '');
    const line = await waitUntil('the line', () => readFileSync(path, 'utf8') || undefined);
    assert.equal(line, 'UF,URX delayed_connect_error:_Connection_refused 3\n');
    assert.equal(await sluice.stat('cluster.up.upstream_cx_connect_fail'), 3);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_connect_attempts_exceeded'), 1);
    await gaugesReturnToZero(sluice);
  });

  it('refuses beyond the connection limit of the cluster', async () => {
    await using upstream = await halfOpenServer((socket) => socket.pipe(socket));
    await using sluice = await start(upstream.port, {
      cluster: { circuit_breakers: { thresholds: [{ max_connections: 1 }] } },
    });
    const first = await openRaw(sluice.tcp);
    first.send('x');
    await first.until('x');
    const second = await openRaw(sluice.tcp);
    assert.equal(await second.closed(), '');
    assert.equal(await sluice.stat('cluster.up.upstream_cx_overflow'), 1);
    first.destroy();
    await gaugesReturnToZero(sluice);
    const third = await openRaw(sluice.tcp);
    third.send('y');
    await third.until('y');
    third.destroy();
  });

  it('ends idle connections and those that are too old', async () => {
    await using upstream = await halfOpenServer((socket) => socket.pipe(socket));
    for (const [field, name] of [
      ['idle_timeout', 'idle_timeout'],
      ['max_downstream_connection_duration', 'max_downstream_connection_duration'],
    ] as const) {
      await using sluice = await start(upstream.port, { proxy: { [field]: '0.4s' } });
      const client = await openRaw(sluice.tcp);
      client.send('x');
      assert.equal(await client.closed(), 'x');
      assert.equal(await sluice.stat(`tcp.tcp.${name}`), 1);
      assert.equal(await sluice.stat('cluster.up.upstream_cx_destroy_local'), 1);
      await gaugesReturnToZero(sluice);
    }
  });

  it('lets outlier detection eject a host that cannot be reached', async () => {
    const gone = await halfOpenServer(() => undefined);
    gone.close();
    await using sluice = await start(gone.port, {
      cluster: {
        outlier_detection: {
          consecutive_5xx: 2,
          enforcing_consecutive_5xx: 100,
          max_ejection_percent: 100,
        },
      },
    });
    for (let at = 0; at < 2; at++) await (await openRaw(sluice.tcp)).closed();
    await sluice.waitForStat(
      'cluster.up.outlier_detection.ejections_enforced_consecutive_5xx',
      (value) => value === 1,
    );
  });

  it('shares connections out by weight', async () => {
    await using one = await startRawUpstream((socket) => void socket.end('1'));
    await using two = await startRawUpstream((socket) => void socket.end('2'));
    const proxy = { weighted_clusters: { clusters: [named('up', 1), named('two', 3)] } };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [filterListener([tcpProxyFilter(proxy)])],
        clusters: [staticCluster('up', [one.port]), staticCluster('two', [two.port])],
      }),
    });
    const port = await sluice.listenerPort('tcp');
    const answers = await Promise.all(
      Array.from({ length: 80 }, async () => (await openRaw(port)).closed()),
    );
    const second = answers.filter((answer) => answer === '2').length;
    assert.ok(second > 40 && second < 77, `${second} of 80 for a weight of 3 in 4`);
  });

  it('takes its own connections with it when a worker is killed, and leaves no count behind', async () => {
    await using upstream = await halfOpenServer((socket) => socket.pipe(socket));
    await using sluice = await start(upstream.port);
    const client = await openRaw(sluice.tcp);
    client.send('x');
    await client.until('x');
    await sluice.waitForStat('cluster.up.upstream_cx_active', (value) => value === 1);
    for (const pid of childrenOf(sluice.pid)) process.kill(pid, 'SIGKILL');
    await client.closed();
    await gaugesReturnToZero(sluice);
    const next = await openRaw(sluice.tcp);
    next.send('y');
    await next.until('y');
    next.destroy();
    await gaugesReturnToZero(sluice);
  });
});

function named(name: string, weight: number): object {
  return { name, weight };
}

/** Writes as fast as the other side takes it, then ends. */
async function send(socket: Socket, block: Buffer, times: number): Promise<void> {
  for (let sent = 0; sent < times; sent++) {
    if (!socket.write(block)) await once(socket, 'drain');
  }
  socket.end();
}

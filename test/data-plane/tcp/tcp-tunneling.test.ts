import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { fileLog, filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { waitUntil } from '../../support/wait.ts';

interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** The heads of the requests so far. */
  readonly heads: readonly string[];
}

/** A proxy that answers each request with `status` and then sends back what comes. */
async function startProxy(status: number): Promise<Proxy> {
  const heads: string[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let head = '';
    let isOpen = false;
    socket.on('error', () => socket.destroy());
    socket.on('data', (piece) => {
      if (isOpen) {
        socket.write(piece);
        return;
      }
      head += piece.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      heads.push(head);
      isOpen = status === 200;
      socket.write(`HTTP/1.1 ${status} Said\r\n${isOpen ? '' : 'content-length: 0\r\n'}\r\n`);
    });
    socket.on('end', () => socket.end(isOpen ? ' bye' : ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heads,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

async function start(port: number, proxy: object): Promise<Sluice & { tcp: number }> {
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [filterListener([tcpProxyFilter(proxy)])],
      clusters: [staticCluster('up', [port])],
    }),
    concurrency: 1,
    args: ['--file-flush-interval-msec', '10'],
  });
  return Object.assign(sluice, { tcp: await sluice.listenerPort('tcp') });
}

describe('a TCP proxy that tunnels', () => {
  it('asks the other proxy by CONNECT, then passes bytes and the end of each direction', async () => {
    await using other = await startProxy(200);
    await using sluice = await start(other.port, {
      tunneling_config: {
        hostname: 'target.test:%DOWNSTREAM_LOCAL_PORT%',
        headers_to_add: [
          { header: { key: 'X-Client', value: '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%' } },
        ],
      },
    });
    const client = await openRaw(sluice.tcp);
    client.send('hello');
    await client.until('hello');
    client.end();
    assert.equal(await client.closed(), 'hello bye');
    const authority = `target.test:${sluice.tcp}`;
    assert.deepEqual(other.heads, [
      `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\nx-client: 127.0.0.1\r\n\r\n`,
    ]);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_http1_total'), 1);
    await sluice.waitForStat('cluster.up.upstream_rq_active', (value) => value === 0);
    await sluice.waitForStat('cluster.up.upstream_cx_active', (value) => value === 0);
  });

  it('asks by POST where it is told to', async () => {
    await using other = await startProxy(200);
    await using sluice = await start(other.port, {
      tunneling_config: { hostname: 'target.test', use_post: true, post_path: '/in' },
    });
    const client = await openRaw(sluice.tcp);
    client.send('hello');
    // As the other proxy sends it back: a chunk of the request's body.
    await client.until('5\r\nhello\r\n');
    client.end();
    await client.until('0\r\n\r\n');
    client.destroy();
    assert.match(other.heads[0] ?? '', /^POST \/in HTTP\/1\.1\r\nhost: target\.test\r\n/);
  });

  it('tries again after a refusal, then closes and says which answer it had', async () => {
    using scratch = makeScratch();
    const log = scratch.file('tcp.log');
    await using other = await startProxy(503);
    await using sluice = await start(other.port, {
      tunneling_config: { hostname: 'target.test' },
      max_connect_attempts: 2,
      backoff_options: { base_interval: '0.001s' },
      access_log: [
        fileLog(
          log,
          '%RESPONSE_FLAGS% %UPSTREAM_TRANSPORT_FAILURE_REASON% %UPSTREAM_REQUEST_ATTEMPT_COUNT%',
        ),
      ],
    });
    const client = await openRaw(sluice.tcp);
    assert.equal(await client.closed(), '');
    assert.equal(other.heads.length, 2);
    const line = await waitUntil('the line', () => readFileSync(log, 'utf8') || undefined);
    assert.equal(line, 'UF,URX tunnel_response:503 2\n');
    assert.equal(await sluice.stat('cluster.up.upstream_cx_connect_attempts_exceeded'), 1);
  });
});

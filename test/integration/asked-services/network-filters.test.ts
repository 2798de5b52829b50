/** The network filters ext_authz and ratelimit: a service decides which connections go on. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import {
  fileLog,
  filterListener,
  networkFilter,
  tcpProxyFilter,
} from '../../support/parts/tcp-listener.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import {
  checkResponse,
  grpcCluster,
  limitResponse,
  textsAt,
} from '../../support/peers/services/asked-services.ts';
import {
  answerCall,
  framed,
  type GrpcPeer,
  type SeenCall,
  startGrpcPeer,
} from '../../support/peers/services/grpc-peer.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const PERMISSION_DENIED = 7;
const OVER_LIMIT = 2;
const FORMAT = '%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %BYTES_RECEIVED%';
const NODE = { id: 'n', cluster: 'c', metadata: { labels: { role: 'edge', size: 3 } } };

interface Running {
  readonly sluice: Sluice;
  /** What each connection of the upstream brought. */
  readonly received: readonly string[];
  connect(): Promise<RawConnection>;
  logged(lines: number): Promise<readonly string[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startWith(peer: GrpcPeer, filters: readonly object[]): Promise<Running> {
  const upstream = await startRawUpstream((socket) =>
    socket.on('data', (data) => socket.write(data)),
  );
  const scratch = makeScratch();
  const path = scratch.file('access.log');
  const proxy = tcpProxyFilter({ access_log: [fileLog(path, FORMAT)] });
  const sluice = await startSluice({
    args: ['--file-flush-interval-msec', '20'],
    bootstrap: bootstrap(
      {
        listeners: [filterListener([...filters, proxy])],
        clusters: [staticCluster('up', [upstream.port]), grpcCluster('asked', peer.port)],
      },
      { node: NODE },
    ),
  });
  const port = await sluice.listenerPort('tcp');
  return {
    sluice,
    received: upstream.received,
    connect: async () => openRaw(port),
    logged: async (lines) =>
      waitUntil('the access log', async () => {
        const text = await readFile(path, 'utf8').catch(() => '');
        const all = text.split('\n').slice(0, -1);
        return all.length >= lines ? all : undefined;
      }),
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

const SERVICE = { grpc_service: { envoy_grpc: { cluster_name: 'asked' }, timeout: '0.3s' } };

function authz(config: object = {}): object {
  return networkFilter('ext_authz', 'ext_authz.v3.ExtAuthz', {
    stat_prefix: 'door',
    ...SERVICE,
    ...config,
  });
}

function rateLimit(config: object = {}): object {
  return networkFilter('ratelimit', 'ratelimit.v3.RateLimit', {
    stat_prefix: 'door',
    domain: 'shop',
    descriptors: [{ entries: [{ key: 'ip', value: '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%' }] }],
    timeout: '0.3s',
    rate_limit_service: { ...SERVICE, transport_api_version: 'V3' },
    ...config,
  });
}

const answerWith =
  (message: Buffer) =>
  (call: SeenCall): void =>
    void call.stream.on('end', () => answerCall(call, framed(message)));
const silent = (): void => undefined;

describe('the network filter ext_authz', () => {
  it('passes on what came while it asked, and tells the service of this node', async () => {
    await using peer = await startGrpcPeer(silent);
    const forever = { ...SERVICE.grpc_service, timeout: '30s' };
    await using running = await startWith(peer, [
      authz({ grpc_service: forever, bootstrap_metadata_labels_key: 'labels' }),
    ]);
    const client = await running.connect();
    client.send('first ');
    await waitUntil('the check', () => peer.calls.length === 1);
    client.send('second');
    client.end();
    const { sluice } = running;
    await sluice.waitForStat('tcp.tcp.downstream_cx_rx_bytes_total', (bytes) => bytes === 12);
    assert.equal(await sluice.stat('ext_authz.door.active'), 1);
    assert.deepEqual(running.received.join(''), '');
    const [call] = peer.calls;
    assert.ok(call !== undefined);
    answerCall(call, framed(checkResponse({})));
    assert.equal(await client.until('first second'), 'first second');
    assert.equal(await sluice.stat('ext_authz.door.ok'), 1);
    assert.equal(await sluice.stat('ext_authz.door.active'), 0);
    // AttributeContext, destination, labels, and the key of each.
    assert.deepEqual(textsAt(call.body(), [1, 2, 3, 1]), ['role', 'size']);
  });

  it('closes connections that are denied, and their bytes go nowhere', async () => {
    await using peer = await startGrpcPeer(answerWith(checkResponse({ code: PERMISSION_DENIED })));
    await using running = await startWith(peer, [authz()]);
    const client = await running.connect();
    client.send('secret');
    assert.equal(await client.closed(), '');
    assert.deepEqual(await running.logged(1), ['UAEX ext_authz_denied 6']);
    assert.equal(running.received.join(''), '');
    const { sluice } = running;
    assert.equal(await sluice.stat('ext_authz.door.denied'), 1);
    assert.equal(await sluice.stat('ext_authz.door.cx_closed'), 1);
  });

  it('asks also about a client that ends without a byte', async () => {
    await using peer = await startGrpcPeer(answerWith(checkResponse({ code: PERMISSION_DENIED })));
    await using running = await startWith(peer, [authz()]);
    const client = await running.connect();
    client.end();
    await client.closed();
    assert.deepEqual(await running.logged(1), ['UAEX ext_authz_denied 0']);
  });

  for (const [how, serve] of [
    ['is silent', silent],
    ['answers garbage', answerWith(Buffer.from([0xff]))],
    ['is gone', (call: SeenCall): void => void call.stream.destroy()],
  ] as const) {
    it(`closes, or passes where it may, when the service ${how}`, async () => {
      await using peer = await startGrpcPeer(serve);
      const open = authz({ stat_prefix: 'open', failure_mode_allow: true });
      await using running = await startWith(peer, [open, authz()]);
      const client = await running.connect();
      client.send('x');
      await client.closed();
      const { sluice } = running;
      assert.equal(await sluice.stat('ext_authz.open.failure_mode_allowed'), 1);
      assert.equal(await sluice.stat('ext_authz.door.error'), 1);
      assert.deepEqual(await running.logged(1), ['UAEX ext_authz_error 1']);
      assert.equal(running.received.join(''), '');
    });
  }

  it('reads no more of a client than a connection may keep while it asks', async () => {
    await using peer = await startGrpcPeer(silent);
    const forever = { ...SERVICE.grpc_service, timeout: '30s' };
    await using running = await startWith(peer, [authz({ grpc_service: forever })]);
    const client = await running.connect();
    client.send(Buffer.alloc(64 * 1024 * 1024));
    await waitUntil('the check', () => peer.calls.length === 1);
    await running.sluice.settled();
    const read = await running.sluice.stat('tcp.tcp.downstream_cx_rx_bytes_total');
    assert.ok(read < 4 * 1024 * 1024, `${read} bytes were read`);
    client.socket.destroy();
  });

  it('lets every connection pass on trial', async () => {
    await using peer = await startGrpcPeer(answerWith(checkResponse({ code: PERMISSION_DENIED })));
    await using running = await startWith(peer, [authz({ shadow_mode: true })]);
    const client = await running.connect();
    client.send('hi');
    assert.equal(await client.until('hi'), 'hi');
    assert.equal(await running.sluice.stat('ext_authz.door.denied'), 1);
  });
});

describe('the network filter ratelimit', () => {
  it('closes connections beyond the limit before the upstream hears of them', async () => {
    await using peer = await startGrpcPeer(answerWith(limitResponse(OVER_LIMIT)));
    await using running = await startWith(peer, [rateLimit()]);
    const client = await running.connect();
    await client.closed();
    assert.deepEqual(running.received, []);
    assert.equal(await running.sluice.stat('ratelimit.door.over_limit'), 1);
    assert.equal(await running.sluice.stat('ratelimit.door.cx_closed'), 1);
    // Descriptors, entries, value.
    assert.deepEqual(textsAt(peer.calls[0]?.body() ?? Buffer.alloc(0), [2, 1, 2]), ['127.0.0.1']);
  });

  it('lets connections pass, or none, while the service does not answer', async () => {
    await using peer = await startGrpcPeer(silent);
    for (const denies of [false, true]) {
      await using running = await startWith(peer, [rateLimit({ failure_mode_deny: denies })]);
      const client = await running.connect();
      client.send('hi');
      if (denies) await client.closed();
      else await client.until('hi');
      assert.equal(await running.sluice.stat('ratelimit.door.error'), 1);
      assert.equal(await running.sluice.stat('ratelimit.door.active'), 0);
    }
  });
});

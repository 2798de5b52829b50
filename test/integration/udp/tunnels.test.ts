/** Datagrams that reach hosts in streams of HTTP, as Envoy sent them in the same conversations. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { udpListener } from '../../support/parts/udp-listener.ts';
import { startHttp2Upstream, type Http2Upstream } from '../../support/peers/http2.ts';
import { openDatagramClient, startDatagramHost } from '../../support/peers/services/datagrams.ts';
import { grpcCluster } from '../../support/peers/services/asked-services.ts';
import { CLOSED_PORT, startRawUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { writeFileSync } from 'node:fs';

const TYPE = 'type.googleapis.com/envoy.extensions';
const CAPSULES = {
  name: 'envoy.filters.udp.session.http_capsule',
  typed_config: {
    '@type': `${TYPE}.filters.udp.udp_proxy.session.http_capsule.v3.FilterConfig`,
  },
};
const TUNNEL = { proxy_host: 'proxy.test', target_host: 'fd00::1', default_target_port: 443 };
const BUFFER = { buffer_options: { max_buffered_datagrams: 2 } };
const LOG = {
  name: 'lines',
  typed_config: {
    '@type': `${TYPE}.access_loggers.stream.v3.StdoutAccessLog`,
    log_format: { text_format_source: { inline_string: '%ACCESS_LOG_TYPE% %RESPONSE_FLAGS%\n' } },
  },
};

/** A listener with a proxy of these fields in front of the cluster `proxy`. */
function start(cluster: object, proxy: object): Promise<Sluice> {
  const fields = { stat_prefix: 's', cluster: 'proxy', access_log: [LOG], ...proxy };
  return startSluice({
    bootstrap: bootstrap({ listeners: [udpListener(0, fields)], clusters: [cluster] }),
  });
}

/** Answers each piece with these bytes, and writes down what came. */
async function startProxy(
  answer: string,
  status = 200,
): Promise<{ readonly host: Http2Upstream; readonly heard: string[]; head: IncomingHttpHeaders }> {
  const heard: string[] = [];
  const serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
    seen.head = headers;
    stream.respond({ ':status': status, 'capsule-protocol': '?1' }, { endStream: status !== 200 });
    stream.on('data', (piece: Buffer) => {
      heard.push(piece.toString('latin1'));
      stream.write(Buffer.from(answer, 'latin1'));
    });
  };
  const host = await startHttp2Upstream(serve, { settings: { enableConnectProtocol: true } });
  const seen = { host, heard, head: {} as IncomingHttpHeaders };
  return seen;
}

describe('datagrams through streams', () => {
  it('go in capsules behind a CONNECT-UDP, and wait for it within limits', async () => {
    // Two capsules with datagrams, and one that nobody knows between them.
    const proxy = await startProxy('\x00\x03\x00hi\x29\x01x\x00\x02\x00y');
    await using host = proxy.host;
    const tunneling = { ...TUNNEL, ...BUFFER, proxy_port: 8443 };
    await using sluice = await start(grpcCluster('proxy', host.port), {
      session_filters: [CAPSULES],
      tunneling_config: tunneling,
      access_log_options: { flush_access_log_on_tunnel_connected: true },
      idle_timeout: '0.5s',
    });
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    assert.equal(await client.ask('one'), 'hi');
    assert.equal(await client.next(), 'y');
    const { ':method': method, ':path': path, ':authority': authority } = proxy.head;
    assert.deepEqual([method, proxy.head[':protocol']], ['CONNECT', 'connect-udp']);
    assert.equal(path, '/.well-known/masque/udp/fd00%3A%3A1/443/');
    assert.equal(authority, 'proxy.test:8443');
    assert.equal(proxy.head['capsule-protocol'], '?1');
    assert.equal(await client.ask('two'), 'hi');
    assert.deepEqual(proxy.heard, ['\x00\x04\x00one', '\x00\x04\x00two']);
    assert.equal(await sluice.stat('cluster.proxy.udp.sess_tunnel_success'), 1);
    await sluice.waitForStat('udp.s.idle_timeout', (count) => count === 1);
    await sluice.stop();
    assert.equal(sluice.stdout(), 'UdpTunnelUpstreamConnected -\nUdpSessionEnd SI\n');
  });

  it('go as they are behind a POST, over HTTP/1 too', async () => {
    await using host = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.on('data', (piece: Buffer) => {
        if (piece.includes('ping')) socket.write('4\r\npong\r\n');
      });
    });
    await using sluice = await start(staticCluster('proxy', [host.port]), {
      tunneling_config: { ...TUNNEL, ...BUFFER, use_post: true, post_path: '/udp' },
    });
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    assert.equal(await client.ask('ping'), 'pong');
    assert.match(host.received[0] ?? '', /^POST \/udp HTTP\/1\.1\r\nhost: proxy\.test\r\n/);
  });

  it('end with their session where no attempt opens a tunnel, or what comes is no capsule', async () => {
    const refusing = await startProxy('', 403);
    await using host = refusing.host;
    const tunneling_config = { ...TUNNEL, ...BUFFER, retry_options: { max_connect_attempts: 2 } };
    const fields = { session_filters: [CAPSULES], tunneling_config };
    await using sluice = await start(grpcCluster('proxy', host.port), fields);
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    for (let count = 0; count < 3; count++) client.send('lost');
    await sluice.waitForStat('cluster.proxy.udp.sess_tunnel_failure', (count) => count === 1);
    assert.equal(host.requests.length, 2);
    assert.equal(await sluice.stat('cluster.proxy.udp.sess_tunnel_buffer_overflow'), 1);
    assert.equal(await sluice.stat('udp.s.downstream_sess_active'), 0);

    const broken = await startProxy('\xff'.repeat(20));
    await using second = broken.host;
    await using other = await start(grpcCluster('proxy', second.port), fields);
    await using asking = await openDatagramClient(await other.listenerPort('udp'));
    asking.send('x');
    await other.waitForStat('udp.s.downstream_sess_total', (count) => count === 1);
    await other.waitForStat('udp.s.downstream_sess_active', (count) => count === 0);
  });

  it('are told of as failed where nobody listens', async () => {
    await using sluice = await start(staticCluster('proxy', [CLOSED_PORT]), {
      tunneling_config: TUNNEL,
    });
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    client.send('x');
    await sluice.waitForStat('cluster.proxy.udp.sess_tunnel_failure', (count) => count === 1);
  });

  it('may be capsules in datagrams', async () => {
    await using host = await startDatagramHost(() => Buffer.from('\x00\x03\x00hi', 'latin1'));
    await using sluice = await start(staticCluster('proxy', [host.port]), {
      session_filters: [CAPSULES],
    });
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    assert.equal(await client.ask('one'), 'hi');
    assert.deepEqual(host.heard, ['\x00\x04\x00one']);
  });

  it('are one choice with hosts for each datagram', async () => {
    using scratch = makeScratch();
    const proxy = {
      cluster: 'proxy',
      use_per_packet_load_balancing: true,
      tunneling_config: TUNNEL,
    };
    const clusters = [staticCluster('proxy', [CLOSED_PORT])];
    const path = scratch.file('both.json');
    writeFileSync(
      path,
      JSON.stringify(bootstrap({ listeners: [udpListener(0, proxy)], clusters })),
    );
    const { code, stderr } = await runSluice(['--mode', 'validate', '-c', path]);
    assert.equal(code, 1);
    assert.match(stderr, /Only one of use_per_packet_load_balancing or tunneling_config/);
  });
});

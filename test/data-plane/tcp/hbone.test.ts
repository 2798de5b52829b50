/** HBONE as Istio's control plane configures it: TCP in CONNECT requests over HTTP/2 with mutual TLS. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority, type TestCertificate } from '../../support/parts/certificates.ts';
import { fileLog, filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { certificateFiles, tlsSocket } from '../../support/parts/tls.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const ORIGINAL_DST = 'envoy.filters.listener.original_dst';
const ARGS = ['--file-flush-interval-msec', '10'];

const named = (name: string, type: string, fields: object = {}): object => ({
  name,
  typed_config: { '@type': `${TYPE}.${type}`, ...fields },
});
const READS_ORIGINAL = {
  listener_filters: [named(ORIGINAL_DST, 'filters.listener.original_dst.v3.OriginalDst')],
};
const RAW = named('raw', 'transport_sockets.raw_buffer.v3.RawBuffer');

function config(listeners: readonly object[], clusters: readonly object[]): object {
  const inside = named('inside', 'bootstrap.internal_listener.v3.InternalListener');
  return { ...bootstrap({ listeners, clusters }), bootstrap_extensions: [inside] };
}

function inside(name: string, filters: readonly object[], fields: object = {}): object {
  const listener = { name, internal_listener: {}, filter_chains: [{ filters }] };
  return { ...listener, ...READS_ORIGINAL, ...fields };
}

/** A cluster whose host is a listener of the same program. */
function insideCluster(name: string, to: string, passed: object, metadata = {}): object {
  const address = { envoy_internal_address: { server_listener_name: to, endpoint_id: name } };
  const socket = { transport_socket: RAW, ...passed };
  return {
    name,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address }, metadata }] }],
    },
    transport_socket: named(
      'internal',
      'transport_sockets.internal_upstream.v3.InternalUpstreamTransport',
      socket,
    ),
  };
}

function context(own: TestCertificate, authority: TestCertificate): object {
  return {
    alpn_protocols: ['h2'],
    tls_certificates: [certificateFiles(own)],
    validation_context: { trusted_ca: { filename: authority.certPath } },
  };
}

/** The end of tunnels: each goes to the address that it asks for. */
async function startGateway(
  own: TestCertificate,
  ca: TestCertificate,
  log: string,
): Promise<Sluice> {
  const keep = (key: string, format: string): object => ({
    object_key: key,
    ...(key.startsWith('io.istio') ? { factory_key: 'envoy.string' } : {}),
    format_string: { text_format_source: { inline_string: format } },
    shared_with_upstream: 'ONCE',
  });
  const state = named('connect_authority', 'filters.http.set_filter_state.v3.Config', {
    on_request_headers: [
      keep(`${ORIGINAL_DST}.local_ip`, '%REQ(:AUTHORITY)%'),
      keep('io.istio.peer_principal', '%DOWNSTREAM_PEER_URI_SAN%'),
    ],
  });
  const connect = [{ upgrade_type: 'CONNECT' }];
  const route = {
    match: { connect_matcher: {} },
    route: {
      cluster: 'main_internal',
      upgrade_configs: [{ upgrade_type: 'CONNECT', connect_config: {} }],
    },
  };
  const terminate = httpListener([route], {
    name: 'connect_terminate',
    hcm: {
      http2_protocol_options: { allow_connect: true },
      upgrade_configs: connect,
      http_filters: [state, named('router', 'filters.http.router.v3.Router')],
    },
  }) as { filter_chains: object[] };
  const socket = tlsSocket('Downstream', {
    require_client_certificate: true,
    common_tls_context: context(own, ca),
  });
  const [chain] = terminate.filter_chains;
  const format = '%FILTER_STATE(io.istio.peer_principal:PLAIN)% %DOWNSTREAM_LOCAL_ADDRESS%';
  const proxy = tcpProxyFilter({ cluster: 'passthrough', access_log: [fileLog(log, format)] });
  const passthrough = {
    name: 'passthrough',
    type: 'ORIGINAL_DST',
    lb_policy: 'CLUSTER_PROVIDED',
    connect_timeout: '1s',
  };
  return await startSluice({
    args: ARGS,
    bootstrap: config(
      [
        { ...terminate, filter_chains: [{ ...chain, transport_socket: socket }] },
        inside('main_internal', [proxy]),
      ],
      [insideCluster('main_internal', 'main_internal', {}), passthrough],
    ),
  });
}

/** The beginning of tunnels to a host, whose metadata says which address is meant. */
async function startSidecar(
  own: TestCertificate,
  ca: TestCertificate,
  gatewayPort: number,
  appPorts: readonly number[],
): Promise<Sluice> {
  const originate = tcpProxyFilter({
    cluster: 'connect_originate',
    tunneling_config: { hostname: '%DOWNSTREAM_LOCAL_ADDRESS%' },
  });
  const tunnels = {
    name: 'connect_originate',
    type: 'ORIGINAL_DST',
    lb_policy: 'CLUSTER_PROVIDED',
    connect_timeout: '1s',
    original_dst_lb_config: { upstream_port_override: gatewayPort },
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { http2_protocol_options: { allow_connect: true } },
      },
    },
    transport_socket: tlsSocket('Upstream', { common_tls_context: context(own, ca) }),
  };
  const passed = { passthrough_metadata: [{ kind: { host: {} }, name: ORIGINAL_DST }] };
  const clusters = appPorts.map((port) => {
    const metadata = { filter_metadata: { [ORIGINAL_DST]: { local: `127.0.0.1:${port}` } } };
    return insideCluster(`app-${port}`, 'connect_originate', passed, metadata);
  });
  const listeners = appPorts.map((port) =>
    filterListener([tcpProxyFilter({ cluster: `app-${port}` })], { name: `out-${port}` }),
  );
  return await startSluice({
    bootstrap: config(
      [...listeners, inside('connect_originate', [originate])],
      [...clusters, tunnels, staticCluster('unused', [1])],
    ),
  });
}

describe('HBONE', () => {
  it('carries connections to the addresses that they are meant for, and tells whose they are', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const own = authority.issue('client', 'URI:spiffe://cluster.local/ns/shop/sa/web');
    const server = authority.issue('server', 'URI:spiffe://cluster.local/ns/shop/sa/gate');
    await using one = await startRawUpstream((socket) =>
      socket.on('data', () => socket.end('one')),
    );
    await using two = await startRawUpstream((socket) =>
      socket.on('data', () => socket.end('two')),
    );
    const log = scratch.file('log');
    await using gateway = await startGateway(server, authority, log);
    const gatewayPort = await gateway.listenerPort('connect_terminate');
    await using sidecar = await startSidecar(own, authority, gatewayPort, [one.port, two.port]);
    for (const [port, answer] of [
      [one.port, 'one'],
      [two.port, 'two'],
      [one.port, 'one'],
    ] as const) {
      const client = await openRaw(await sidecar.listenerPort(`out-${port}`));
      client.send('hello');
      assert.equal(await client.closed(), answer);
    }
    // Tunnels share a connection.
    assert.equal(await sidecar.stat('cluster.connect_originate.upstream_cx_total'), 1);
    const lines = await waitUntil('the log', () => {
      const all = readFileSync(log, 'utf8').trim().split('\n');
      return all.length === 3 ? all : undefined;
    });
    const principal = 'spiffe://cluster.local/ns/shop/sa/web';
    assert.deepEqual(lines, [
      `${principal} 127.0.0.1:${one.port}`,
      `${principal} 127.0.0.1:${two.port}`,
      `${principal} 127.0.0.1:${one.port}`,
    ]);
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import {
  fileLog,
  filterListener,
  networkFilter,
  tcpProxyFilter,
} from '../../support/parts/tcp-listener.ts';
import { certificateFiles, tlsSocket } from '../../support/parts/tls.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';

function insideCluster(name: string, listener: string, fields: object = {}): object {
  const address = {
    envoy_internal_address: { server_listener_name: listener, endpoint_id: 'one' },
  };
  return {
    name,
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: [
            {
              endpoint: { address },
              metadata: { filter_metadata: { told: { key: 'of the host' } } },
            },
          ],
        },
      ],
    },
    ...fields,
  };
}

/** A listener without a socket. */
function inside(listener: object, name: string): object {
  const { address: _, ...rest } = listener as { readonly address: object };
  return { ...rest, name, internal_listener: {} };
}

function socketNamed(name: string, type: string, fields: object): object {
  return { name, typed_config: { '@type': `${TYPE}.transport_sockets.${type}`, ...fields } };
}

function config(listeners: readonly object[], clusters: readonly object[]): object {
  return {
    ...bootstrap({ listeners, clusters }),
    bootstrap_extensions: [
      {
        name: 'envoy.bootstrap.internal_listener',
        typed_config: { '@type': `${TYPE}.bootstrap.internal_listener.v3.InternalListener` },
      },
    ],
  };
}

const ECHO = networkFilter('echo', 'echo.v3.Echo');

describe('a listener without a socket', () => {
  it('takes TCP and TLS connections of clusters of its worker, ends and large data included', async () => {
    using scratch = makeScratch();
    const certificate = makeAuthority(scratch.path).issue('inner', 'DNS:inner.test');
    const log = scratch.file('inner.log');
    const secured = filterListener([ECHO]) as { filter_chains: readonly object[] };
    const tls = tlsSocket('Downstream', {
      common_tls_context: { tls_certificates: [certificateFiles(certificate)] },
    });
    const handOn = socketNamed(
      'envoy.transport_sockets.internal_upstream',
      'internal_upstream.v3.InternalUpstreamTransport',
      {
        passthrough_metadata: [{ kind: { host: {} }, name: 'told' }],
        transport_socket: socketNamed(
          'envoy.transport_sockets.raw_buffer',
          'raw_buffer.v3.RawBuffer',
          {},
        ),
      },
    );
    const middle = tcpProxyFilter({
      cluster: 'secured',
      stat_prefix: 'middle',
      access_log: [
        fileLog(
          log,
          '%DOWNSTREAM_REMOTE_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DYNAMIC_METADATA(told:key)%',
        ),
      ],
    });
    await using sluice = await startSluice({
      bootstrap: config(
        [
          filterListener([tcpProxyFilter({ cluster: 'middle' })]),
          inside(filterListener([middle]), 'middle'),
          inside(
            {
              ...secured,
              filter_chains: secured.filter_chains.map((chain) => ({
                ...chain,
                transport_socket: tls,
              })),
            },
            'secured',
          ),
        ],
        [
          insideCluster('middle', 'middle', { transport_socket: handOn }),
          insideCluster('secured', 'secured', {
            transport_socket: tlsSocket('Upstream', { sni: 'inner.test' }),
          }),
        ],
      ),
      args: ['--file-flush-interval-msec', '10'],
    });
    const client = await openRaw(await sluice.listenerPort('tcp'));
    const sent = Buffer.alloc(3_000_000, 'abcdefghij');
    client.send(sent);
    await client.until((text) => text.length === sent.length);
    client.end();
    assert.equal(await client.closed(), sent.toString('latin1'));
    const line = await waitUntil('the line', () => readFileSync(log, 'utf8') || undefined);
    const from = 'envoy://internal_client_address/';
    assert.equal(line, `${from} envoy://middle/one of the host\n`);
    assert.equal(await sluice.stat('listener.envoy_internal_secured.ssl.handshake'), 1);
    for (const gauge of ['middle.upstream_cx_active', 'secured.upstream_cx_active']) {
      await sluice.waitForStat(`cluster.${gauge}`, (value) => value === 0);
    }
  });

  it('answers HTTP, is listed by its name, and closes who asks for one that is not there', async () => {
    const route = (path: string, cluster: string): object => ({
      match: { path },
      route: { cluster },
    });
    await using sluice = await startSluice({
      bootstrap: config(
        [
          httpListener([route('/in', 'in'), route('/none', 'none')]),
          inside(httpListener(GREETING, { statPrefix: 'inner' }), 'inner'),
        ],
        [insideCluster('in', 'inner'), insideCluster('none', 'none')],
      ),
    });
    const port = await sluice.listenerPort('web');
    const answer = await fetchOnce({ port, path: '/in' });
    assert.equal(answer.body, 'hi');
    assert.equal((await fetchOnce({ port, path: '/none' })).status, 503);
    assert.match((await sluice.admin('/listeners')).body, /^inner::envoy:\/\/inner\/$/m);
    assert.match(
      (await sluice.admin('/clusters')).body,
      /^in::envoy:\/\/inner\/one::cx_total::1$/m,
    );
    assert.equal(await sluice.stat('cluster.none.upstream_cx_connect_fail'), 1);
  });
});

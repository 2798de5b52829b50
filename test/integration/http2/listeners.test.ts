/** HTTP/2 on listeners without a TCP socket: a unix one, and one inside of the worker. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { openHttp2 } from '../../support/peers/http2-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
/** Above the windows of a stream at both sides. */
const BODY = 'x'.repeat(300_000);
const STREAMS = 20;
const TO_HOST = [{ match: { prefix: '/' }, route: { cluster: 'host' } }];

describe('a listener of HTTP/2', () => {
  it('may stand on a unix socket or inside of a worker', async () => {
    using scratch = makeScratch();
    const path = scratch.file('web.sock');
    const host = createServer((request, response) => request.pipe(response));
    host.listen(0, '127.0.0.1');
    await once(host, 'listening');
    const { port } = host.address() as AddressInfo;
    await using sluice = await startSluice({ bootstrap: config(path, port) });
    const outside = await sluice.listenerPort('tcp');
    for (const createConnection of [() => connect(path), () => connect(outside, '127.0.0.1')]) {
      await using client = await openHttp2('http://h.test', { createConnection });
      const asked = Array.from({ length: STREAMS }, () =>
        client.ask({ ':path': '/', ':method': 'POST' }, BODY),
      );
      for (const answer of await Promise.all(asked)) {
        assert.deepEqual([answer.status, answer.body === BODY, answer.code], [200, true, 0]);
      }
    }
    host.close();
    const stats = await sluice.stats('filter=downstream_(cx_http2_total|rq_2xx)');
    for (const name of ['unix', 'inner']) {
      assert.match(stats, new RegExp(`http\\.${name}\\.downstream_cx_http2_total: 1$`, 'm'));
      assert.match(stats, new RegExp(`http\\.${name}\\.downstream_rq_2xx: ${STREAMS}$`, 'm'));
    }
  });
});

function config(path: string, hostPort: number): object {
  const onUnix = httpListener(TO_HOST, {
    name: 'unix',
    statPrefix: 'unix',
    listener: { address: { pipe: { path } } },
  });
  const { address: _, ...inner } = httpListener(TO_HOST, { statPrefix: 'inner' }) as {
    readonly address: object;
  };
  const address = { envoy_internal_address: { server_listener_name: 'inner' } };
  const toInner = {
    name: 'up',
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: 'up',
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  };
  return {
    ...bootstrap({
      listeners: [
        onUnix,
        { ...inner, name: 'inner', internal_listener: {} },
        filterListener([tcpProxyFilter()]),
      ],
      clusters: [staticCluster('host', [hostPort]), toInner],
    }),
    bootstrap_extensions: [
      {
        name: 'envoy.bootstrap.internal_listener',
        typed_config: { '@type': `${TYPE}.bootstrap.internal_listener.v3.InternalListener` },
      },
    ],
  };
}

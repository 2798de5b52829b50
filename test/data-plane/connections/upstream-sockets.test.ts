import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { host, startDataPlane } from '../../support/parts/data-plane.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const SO_KEEPALIVE = { level: 1, name: 9, value: 1, state: 'prebind' } as const;
const TCP_KEEPCNT = { level: 6, name: 6, value: 3, state: 'bound' } as const;
const UNKNOWN_OPTION = { level: 6, name: 4095, value: 1, state: 'prebind' } as const;

function bothFamilies<Socket>(socket: Socket): { v4: Socket; v6: Socket } {
  return { v4: socket, v6: socket };
}

describe('connections to hosts', () => {
  it('come from the configured address with the configured options', async () => {
    await using upstream = await startHttpUpstream((request, response) =>
      response.end(request.socket.remoteAddress),
    );
    const source = { address: '127.0.0.2', port: 0 };
    const options = [SO_KEEPALIVE, TCP_KEEPCNT];
    await using plane = await startDataPlane({
      cluster: { localSockets: bothFamilies({ source, options }) },
      upstreamPorts: [upstream.port],
    });
    for (let count = 0; count < 2; count++) {
      assert.equal((await fetchOnce({ port: plane.port })).body, '127.0.0.2');
    }
    assert.equal(plane.stats().get('cluster.up.upstream_cx_total'), 1);
  });

  for (const [what, local, bindErrors] of [
    [
      'an address that is none of this machine',
      { source: { address: '192.0.2.1', port: 0 }, options: [] },
      1,
    ],
    ['an option that the system does not know', { options: [UNKNOWN_OPTION] }, 0],
  ] as const) {
    it(`fail on this side with ${what}`, async () => {
      await using upstream = await startHttpUpstream((_, response) => response.end());
      await using plane = await startDataPlane({
        cluster: { localSockets: bothFamilies(local) },
        updates: [
          {
            op: 'put_hosts',
            hosts: { cluster: 'up', hosts: [host(upstream.port)], overprovisioningFactor: 140 },
          },
        ],
      });
      const { status, body } = await fetchOnce({ port: plane.port });
      assert.equal(status, 503);
      assert.match(body, /reset reason: local connection failure$/);
      assert.equal(plane.stats().get('cluster.up.bind_errors') ?? 0, bindErrors);
      assert.equal(plane.stats().get('cluster.up.upstream_cx_destroy_local'), 1);
    });
  }

  it('go to another address of the host where the first takes none', async () => {
    await using upstream = await startHttpUpstream((_, response) => response.end('here'));
    const several = host(upstream.port, {
      address: { kind: 'ip', address: '127.0.0.66', port: upstream.port },
      moreAddresses: ['127.0.0.1'],
    });
    await using plane = await startDataPlane({
      updates: [
        {
          op: 'put_hosts',
          hosts: { cluster: 'up', hosts: [several], overprovisioningFactor: 140 },
        },
      ],
    });
    assert.equal((await fetchOnce({ port: plane.port })).body, 'here');
    // Each address counts, as in Envoy.
    assert.equal(plane.stats().get('cluster.up.upstream_cx_total'), 2);
    assert.equal(plane.stats().get('cluster.up.upstream_cx_connect_fail') ?? 0, 0);
  });
});
